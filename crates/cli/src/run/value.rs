//! The result of a vertex in a result file.

use crate::{float, keys};
use hedgerow::Key;
use std::fmt;

/// A whole number, a float, or the key of a vertex.
pub enum Value {
    Whole(u64),
    /// Written in the fewest digits that parse to the same number; infinities as in LDBC
    /// Graphalytics.
    Float(f64),
    Key(Key),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Whole(number) => number.fmt(f),
            Value::Float(number) => match float::word(*number) {
                Some(word) => f.write_str(word),
                None => fmt::Debug::fmt(number, f),
            },
            Value::Key(key) => keys::text(key).fmt(f),
        }
    }
}
