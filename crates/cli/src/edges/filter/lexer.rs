//! Splits the text of a filter into tokens.

use super::{Mistake, Op};
use hedgerow::Value;
use std::iter::Peekable;
use std::str::CharIndices;

/// A token of a filter.
#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    Name(String),
    /// A number, a text, a truth value, or null.
    Literal(Value),
    Compare(Op),
    And,
    Or,
    Not,
    Open,
    Close,
    End,
}

/// Splits a text; each token comes with its position, in bytes. The last token is
/// [`Token::End`].
pub fn tokens(text: &str) -> Result<Vec<(usize, Token)>, Mistake> {
    let mut tokens = Vec::new();
    let mut rest = text.char_indices().peekable();
    while let Some((at, first)) = rest.next() {
        let token = match first {
            _ if first.is_whitespace() => continue,
            '(' => Token::Open,
            ')' => Token::Close,
            '`' => Token::Name(quoted(first, at, &mut rest)?),
            '\'' | '"' => Token::Literal(Value::from(quoted(first, at, &mut rest)?)),
            '=' | '!' | '<' | '>' => {
                let second = rest.next_if(|(_, next)| matches!((first, next), (_, '=') | ('<', '>')));
                let op = Op::of(first, second.map(|(_, second)| second));
                Token::Compare(op.ok_or_else(|| Mistake::new(at, "expected != or not"))?)
            }
            '-' | '.' | '0'..='9' => number(take(text, at, &mut rest, is_of_number), at)?,
            _ if first.is_alphabetic() || first == '_' => word(take(text, at, &mut rest, is_of_name)),
            _ => return Err(Mistake::new(at, format!("unexpected character {first:?}"))),
        };
        tokens.push((at, token));
    }
    tokens.push((text.len(), Token::End));
    Ok(tokens)
}

/// The text up to the quotation mark that ends it; a doubled mark stands for one.
fn quoted(mark: char, at: usize, rest: &mut Peekable<CharIndices<'_>>) -> Result<String, Mistake> {
    let mut content = String::new();
    while let Some((_, next)) = rest.next() {
        if next == mark && rest.next_if(|(_, following)| *following == mark).is_none() {
            return Ok(content);
        }
        content.push(next);
    }
    Err(Mistake::new(at, format!("expected another {mark}, which ends what begins here")))
}

/// The characters from `at` on, while `belongs`.
fn take<'t>(
    text: &'t str,
    at: usize,
    rest: &mut Peekable<CharIndices<'_>>,
    belongs: fn(char) -> bool,
) -> &'t str {
    while rest.next_if(|(_, next)| belongs(*next)).is_some() {}
    &text[at..rest.peek().map_or(text.len(), |(end, _)| *end)]
}

fn is_of_name(character: char) -> bool {
    character.is_alphanumeric() || "_-.".contains(character)
}

fn is_of_number(character: char) -> bool {
    character.is_ascii_alphanumeric() || "-+.".contains(character)
}

fn word(word: &str) -> Token {
    match word.to_ascii_lowercase().as_str() {
        "and" => Token::And,
        "or" => Token::Or,
        "not" => Token::Not,
        "true" => Token::Literal(Value::Bool(true)),
        "false" => Token::Literal(Value::Bool(false)),
        "null" => Token::Literal(Value::Null),
        _ => Token::Name(word.to_owned()),
    }
}

fn number(text: &str, at: usize) -> Result<Token, Mistake> {
    let whole = text.parse().map(Value::I64).or_else(|_| text.parse().map(Value::U64)).ok();
    let float = || text.parse().ok().filter(|float: &f64| float.is_finite()).map(Value::F64);
    let number = whole.or_else(float).map(Token::Literal);
    number.ok_or_else(|| {
        Mistake::new(at, format!("{text} is not a number: expected digits, such as -5, 2.5 or 1e6"))
    })
}
