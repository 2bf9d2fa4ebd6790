//! Parses a filter: `or` over `and` over `not` over comparisons.

use super::lexer::{Token, tokens};
use super::{Mistake, Op};
use hedgerow::Value;

/// A filter by the names in it.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    And(Vec<Expression>),
    Or(Vec<Expression>),
    Not(Box<Expression>),
    Compare { left: Operand, op: Op, right: Operand },
}

/// A side of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Operand {
    /// The position in the text, in bytes.
    pub at: usize,
    pub content: Content,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    Name(String),
    Literal(Value),
}

/// The maximum depth of parentheses and of `not`, which the stack has room for.
const DEEPEST: usize = 100;

const COMPARISON: &str = "a comparison such as amount > 5";

/// Parses a filter.
pub fn parse(text: &str) -> Result<Expression, Mistake> {
    let mut parser = Parser { tokens: tokens(text)?, next: 0, depth: 0 };
    let expression = parser.any()?;
    match parser.peek() {
        Token::End => Ok(expression),
        _ => Err(parser.expected("and, or, or the end")),
    }
}

/// A pass over tokens, of which the last is the end.
struct Parser {
    tokens: Vec<(usize, Token)>,
    next: usize,
    depth: usize,
}

impl Parser {
    fn any(&mut self) -> Result<Expression, Mistake> {
        self.several(&Token::Or, Expression::Or, |parser| {
            parser.several(&Token::And, Expression::And, Parser::one)
        })
    }

    /// Parses expressions between which there is this token.
    fn several(
        &mut self,
        between: &Token,
        join: fn(Vec<Expression>) -> Expression,
        one: fn(&mut Parser) -> Result<Expression, Mistake>,
    ) -> Result<Expression, Mistake> {
        let first = one(self)?;
        if self.peek() != between {
            return Ok(first);
        }
        let mut all = vec![first];
        while self.peek() == between {
            self.next += 1;
            all.push(one(self)?);
        }
        Ok(join(all))
    }

    fn one(&mut self) -> Result<Expression, Mistake> {
        let is_not = match self.peek() {
            Token::Not => true,
            Token::Open => false,
            _ => return self.comparison(),
        };
        if self.depth == DEEPEST {
            return Err(Mistake::new(
                self.at(),
                format!("more than {DEEPEST} levels of parentheses and not"),
            ));
        }
        let opened = self.at();
        self.next += 1;
        self.depth += 1;
        let inner = if is_not { Expression::Not(Box::new(self.one()?)) } else { self.any()? };
        self.depth -= 1;
        if is_not {
            return Ok(inner);
        }
        match self.peek() {
            Token::Close => self.next += 1,
            Token::End => return Err(Mistake::new(opened, "expected a ) that closes this parenthesis")),
            _ => return Err(self.expected("and, or, or )")),
        }
        Ok(inner)
    }

    fn comparison(&mut self) -> Result<Expression, Mistake> {
        let left = self.operand(COMPARISON)?;
        let Token::Compare(op) = *self.peek() else {
            return Err(self.expected("one of = != < <= > >="));
        };
        self.next += 1;
        let right = self.operand("a property, a number, 'text', true, false or null")?;
        Ok(Expression::Compare { left, op, right })
    }

    fn operand(&mut self, expected: &str) -> Result<Operand, Mistake> {
        let at = self.at();
        let content = match self.peek() {
            Token::Name(name) => Content::Name(name.clone()),
            Token::Literal(value) => Content::Literal(value.clone()),
            _ => return Err(self.expected(expected)),
        };
        self.next += 1;
        Ok(Operand { at, content })
    }

    fn peek(&self) -> &Token {
        &self.tokens[self.next].1
    }

    fn at(&self) -> usize {
        self.tokens[self.next].0
    }

    fn expected(&self, what: &str) -> Mistake {
        Mistake::new(self.at(), format!("expected {what}"))
    }
}
