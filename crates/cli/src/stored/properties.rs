//! Properties of vertices and edges, for output.

use super::schema::hexadecimal;
use crate::float::{self, Float};
use hedgerow::{ParallelSchema, Record, RecordSchema, Value};
use hedgerow_formats::text_of_timestamp;
use serde::{Serialize, Serializer};
use std::fmt;

/// The properties of a record by their names, in the order of the schema.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Properties(Vec<(String, Property)>);

/// A property. In JSON, bytes are hexadecimal digits, timestamps RFC 3339 times in UTC (beyond the
/// year 9999 microseconds since 1970), infinities and NaN strings.
#[derive(Clone, Debug, PartialEq)]
pub enum Property {
    /// The key of a parallel edge.
    Key(u64),
    /// The value of a field.
    Value(Value),
}

impl Properties {
    /// The properties of a record.
    pub fn of(schema: &RecordSchema, record: &Record) -> Self {
        let values = record.values().iter().cloned().map(Property::Value);
        Properties(schema.fields.iter().map(|field| field.name.clone()).zip(values).collect())
    }

    /// The properties of a parallel edge, its key first.
    pub fn of_parallel(schema: &ParallelSchema, key: u64, record: &Record) -> Self {
        let Properties(properties) = Properties::of(&schema.record, record);
        Properties(std::iter::once((schema.key.clone(), Property::Key(key))).chain(properties).collect())
    }

    /// Turns timestamps into numbers if they are to be `raw`.
    pub fn with_raw_times(mut self, raw: bool) -> Self {
        for (_, property) in self.0.iter_mut().filter(|_| raw) {
            if let Property::Value(Value::Timestamp(time)) = *property {
                *property = Property::Value(Value::I64(time));
            }
        }
        self
    }

    /// Names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Property)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }
}

impl Serialize for Properties {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl fmt::Display for Properties {
    /// Writes `NAME=VALUE` for each property, in one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, (name, value)) in self.iter().enumerate() {
            let blank = if position == 0 { "" } else { " " };
            write!(f, "{blank}{name}={value}")?;
        }
        Ok(())
    }
}

impl Serialize for Property {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Property::Key(key) => serializer.serialize_u64(*key),
            Property::Value(value) => match value {
                Value::Null => serializer.serialize_unit(),
                Value::Bool(value) => serializer.serialize_bool(*value),
                Value::I64(value) => serializer.serialize_i64(*value),
                Value::Timestamp(time) => match text_of_timestamp(*time) {
                    Some(text) => serializer.serialize_str(&text),
                    None => serializer.serialize_i64(*time),
                },
                Value::U64(value) => serializer.serialize_u64(*value),
                Value::F64(value) => float::serialize(value, serializer),
                Value::String(text) => serializer.serialize_str(text),
                Value::Bytes(bytes) => serializer.serialize_str(&hexadecimal(bytes)),
            },
        }
    }
}

impl fmt::Display for Property {
    /// Writes the property as in JSON, but times, infinities and NaN without quotation marks.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Property::Value(Value::F64(value)) if !value.is_finite() => Float(*value).fmt(f),
            Property::Value(Value::Timestamp(time)) => match text_of_timestamp(*time) {
                Some(text) => f.write_str(&text),
                None => time.fmt(f),
            },
            _ => f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow::ValueType;
    use hedgerow_formats::property_of_text;

    #[test]
    fn properties_are_printed_as_files_have_them() {
        for (text, value_type, json, shown) in [
            ("true", ValueType::Bool, "true", "true"),
            ("-3", ValueType::I64, "-3", "-3"),
            ("18446744073709551615", ValueType::U64, "18446744073709551615", "18446744073709551615"),
            ("0.5", ValueType::F64, "0.5", "0.5"),
            ("-Infinity", ValueType::F64, "\"-Infinity\"", "-Infinity"),
            ("NaN", ValueType::F64, "\"NaN\"", "NaN"),
            ("NaN", ValueType::String, "\"NaN\"", "\"NaN\""),
            ("1700000000000000", ValueType::Timestamp, "\"2023-11-14T22:13:20Z\"", "2023-11-14T22:13:20Z"),
            (
                "1970-01-01T00:00:01.5Z",
                ValueType::Timestamp,
                "\"1970-01-01T00:00:01.500000Z\"",
                "1970-01-01T00:00:01.500000Z",
            ),
            ("253402300800000000", ValueType::Timestamp, "253402300800000000", "253402300800000000"),
            ("a b", ValueType::String, "\"a b\"", "\"a b\""),
            ("00ff", ValueType::Bytes, "\"00ff\"", "\"00ff\""),
        ] {
            let property = Property::Value(property_of_text(text, value_type).unwrap());
            assert_eq!(serde_json::to_string(&property).unwrap(), json);
            assert_eq!(property.to_string(), shown);
        }
        assert_eq!(Property::Value(Value::Null).to_string(), "null");
    }
}
