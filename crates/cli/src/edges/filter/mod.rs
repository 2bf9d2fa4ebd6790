//! `--where`: filters over the columns of edges.
//!
//! | file | purpose |
//! |---|---|
//! | `lexer`, `parser` | from text to an expression by names |
//! | `resolve` | checks names and types, and compiles the expression for a label |
//! | `compiled` | evaluates it on a row; the order of values |

mod compiled;
mod lexer;
mod parser;
mod resolve;
#[cfg(test)]
mod tests;

pub use compiled::{Test, borrowed, order, read_failed};
pub use resolve::Schema;

use crate::error::CliError;
use std::cmp::Ordering;

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

impl Op {
    /// The comparison that is written with these characters.
    fn of(first: char, second: Option<char>) -> Option<Self> {
        Some(match (first, second) {
            ('=', _) => Op::Equal,
            ('!', Some(_)) | ('<', Some('>')) => Op::NotEqual,
            ('<', None) => Op::Less,
            ('<', Some(_)) => Op::AtMost,
            ('>', None) => Op::Greater,
            ('>', Some(_)) => Op::AtLeast,
            _ => return None,
        })
    }

    /// The comparison with its sides exchanged.
    fn flipped(self) -> Self {
        match self {
            Op::Equal | Op::NotEqual => self,
            Op::Less => Op::Greater,
            Op::AtMost => Op::AtLeast,
            Op::Greater => Op::Less,
            Op::AtLeast => Op::AtMost,
        }
    }

    /// Returns true if values in this order satisfy the comparison.
    #[inline]
    fn accepts(self, ordering: Ordering) -> bool {
        match self {
            Op::Equal => ordering.is_eq(),
            Op::NotEqual => ordering.is_ne(),
            Op::Less => ordering.is_lt(),
            Op::AtMost => ordering.is_le(),
            Op::Greater => ordering.is_gt(),
            Op::AtLeast => ordering.is_ge(),
        }
    }
}

/// A mistake in the text of a filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The position, in bytes.
    at: usize,
    problem: String,
}

impl Mistake {
    fn new(at: usize, problem: impl Into<String>) -> Self {
        Mistake { at, problem: problem.into() }
    }

    /// The error for a text, with a mark under the mistake.
    fn in_text(self, text: &str) -> CliError {
        let line = text.replace(char::is_control, " ");
        let before = text[..self.at].chars().count();
        let problem = self.problem;
        CliError::Usage(format!("--where, column {}: {problem}\n  {line}\n  {:before$}^", before + 1, ""))
    }
}
