//! Floats in the form of graph files: infinities and NaN are words, which are strings in JSON.

use serde::{Serialize, Serializer};
use std::fmt;

/// A float that prints as its number, or as `NaN`, `Infinity` or `-Infinity`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Float(pub f64);

/// The word for a float that JSON cannot represent.
pub fn word(value: f64) -> Option<&'static str> {
    match value {
        f64::INFINITY => Some("Infinity"),
        f64::NEG_INFINITY => Some("-Infinity"),
        value if value.is_nan() => Some("NaN"),
        _ => None,
    }
}

/// Serializes a float of any width: as a number, or the word as a string.
pub fn serialize<F, S>(value: &F, serializer: S) -> Result<S::Ok, S::Error>
where
    F: Copy + Into<f64> + Serialize,
    S: Serializer,
{
    match word((*value).into()) {
        Some(word) => serializer.serialize_str(word),
        None => value.serialize(serializer),
    }
}

/// Formats a float of any width as text; the precision of `f` applies to numbers.
pub fn display<F>(value: F, f: &mut fmt::Formatter<'_>) -> fmt::Result
where
    F: Copy + Into<f64> + fmt::Display,
{
    match word(value.into()) {
        Some(word) => f.pad(word),
        None => value.fmt(f),
    }
}

impl Serialize for Float {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize(&self.0, serializer)
    }
}

impl fmt::Display for Float {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_float_is_null() {
        for (value, json, text) in [
            (0.5, "0.5", "0.5"),
            (-2.5, "-2.5", "-2.5"),
            (f64::INFINITY, "\"Infinity\"", "Infinity"),
            (f64::NEG_INFINITY, "\"-Infinity\"", "-Infinity"),
            (f64::NAN, "\"NaN\"", "NaN"),
        ] {
            assert_eq!(serde_json::to_string(&Float(value)).unwrap(), json);
            assert_eq!(serde_json::json!(Float(value)).to_string(), json);
            assert_eq!(Float(value).to_string(), text);
        }
    }
}
