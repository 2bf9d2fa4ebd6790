//! A cell of a table of groups.

use super::filter::{borrowed, order};
use crate::keys::{self, JsonKey};
use crate::stored::properties::Property;
use hedgerow::{Key, Value, ValueRef};
use hedgerow_formats::csv_field;
use serde::{Serialize, Serializer};
use std::cmp::Ordering;
use std::fmt;

/// The key of a group, or one of its figures.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// The key of a vertex, or the name of a label.
    Key(Key),
    /// A sum of whole numbers, or a count.
    Whole(i128),
    Value(Value),
}

impl Cell {
    /// The cell in a CSV file.
    pub fn csv(&self) -> String {
        let text = match self {
            Cell::Value(Value::Null) => return String::new(),
            Cell::Value(Value::String(text)) => text.to_string(),
            Cell::Key(Key::Text(text)) => text.to_string(),
            _ => self.to_string().trim_matches('"').to_owned(),
        };
        csv_field(&text).into_owned()
    }

    /// The order of two cells of a column. Null and NaN come before all others.
    pub fn order(&self, other: &Cell) -> Ordering {
        match (self, other) {
            (Cell::Key(one), Cell::Key(other)) => one.cmp(other),
            (Cell::Whole(one), Cell::Whole(other)) => one.cmp(other),
            (Cell::Value(one), Cell::Value(other)) => {
                let has_order = |value| order(borrowed(value), borrowed(value)).is_some();
                let by_order = order(borrowed(one), borrowed(other));
                by_order.unwrap_or_else(|| has_order(one).cmp(&has_order(other)))
            }
            _ => Ordering::Equal,
        }
    }
}

/// Null is written as such, other values as properties.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cell::Key(key) => f.write_str(&keys::word(key)),
            Cell::Whole(number) => number.fmt(f),
            Cell::Value(value) => Property::Value(value.clone()).fmt(f),
        }
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Cell::Key(key) => JsonKey::from(key.clone()).serialize(serializer),
            Cell::Whole(number) => serializer.serialize_i128(*number),
            Cell::Value(value) => Property::Value(value.clone()).serialize(serializer),
        }
    }
}

/// A value as it is printed: 32-bit floats with the fewest digits that parse to the same, times as
/// numbers if they are to be `raw`.
pub fn printed(value: ValueRef<'_>, is_single: bool, raw: bool) -> Value {
    match value {
        ValueRef::F64(float) if is_single => Value::F64((float as f32).to_string().parse().unwrap_or(float)),
        ValueRef::Timestamp(time) if raw => Value::I64(time),
        value => value.into(),
    }
}
