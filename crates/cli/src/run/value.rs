//! The result of a vertex in a result file.

use crate::{float, keys};
use hedgerow::Key;
use std::fmt;

/// The result of a vertex.
pub enum Value {
    /// A whole number.
    Whole(u64),
    /// Written in the fewest digits that parse to the same number; infinities as in LDBC
    /// Graphalytics.
    Float(f64),
    /// The key of a vertex.
    Key(Key),
    /// The distance to a vertex that cannot be reached: in text the largest signed number, as in
    /// LDBC Graphalytics.
    Unreached,
    /// Nothing: in text `-`.
    None,
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Whole(number) => number.fmt(f),
            Value::Float(number) => match float::word(*number) {
                Some(word) => f.write_str(word),
                None => fmt::Debug::fmt(number, f),
            },
            Value::Key(key) => keys::word(key).fmt(f),
            Value::Unreached => i64::MAX.fmt(f),
            Value::None => f.write_str("-"),
        }
    }
}

/// Null if a vertex cannot be reached.
impl serde::Serialize for Value {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Whole(number) => serializer.serialize_u64(*number),
            Value::Float(f64::INFINITY) | Value::Unreached | Value::None => serializer.serialize_none(),
            Value::Float(number) => float::serialize(number, serializer),
            Value::Key(key) => keys::JsonKey::from(key.clone()).serialize(serializer),
        }
    }
}

/// As a property: null if a vertex cannot be reached.
impl From<Value> for hedgerow::Value {
    fn from(value: Value) -> Self {
        match value {
            Value::Whole(number) | Value::Key(Key::Number(number)) => hedgerow::Value::U64(number),
            Value::Float(f64::INFINITY) | Value::Unreached | Value::None => hedgerow::Value::Null,
            Value::Float(number) => hedgerow::Value::F64(number),
            Value::Key(Key::Text(text)) => hedgerow::Value::String(text.into()),
        }
    }
}
