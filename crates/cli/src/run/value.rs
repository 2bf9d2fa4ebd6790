//! The result of a vertex, as it stands in a file.

use crate::{float, keys};
use hedgerow::Key;
use std::fmt;

/// A whole number, a float, or the key of a vertex.
pub enum Value {
    Whole(u64),
    /// In the fewest digits that give the same number again; infinite as LDBC Graphalytics has it.
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
