//! What a graph is made of, as it is printed.

use super::declared::record_text;
use crate::error::StoredError;
use hedgerow::{
    EdgeSchema, Field, KeyKind, LabelSchema, ParallelSchema, Record, RecordSchema, Topology, Value,
};
use hedgerow_formats::property_of_text;
use serde_json::Map;

/// How edges are seen.
pub fn topology(topology: Topology) -> &'static str {
    match topology {
        Topology::Directed => "directed",
        Topology::DirectedWithReverse => "directed with in-neighbours",
        Topology::Undirected => "undirected",
    }
}

/// What keys are, as `--keys` has it.
pub fn keys(kind: KeyKind) -> &'static str {
    match kind {
        KeyKind::Number => "number",
        KeyKind::Text => "text",
        KeyKind::Dense => "dense",
    }
}

/// The type of the values of a label, or the properties of its records; `None` if there is nothing on its edges.
pub fn values(label: &LabelSchema) -> Option<String> {
    match &label.edges {
        EdgeSchema::Value(column) if column.width() > 0 => Some(column.to_string()),
        EdgeSchema::Topology | EdgeSchema::Value(_) => None,
        EdgeSchema::Record(schema) => Some(format!("record {}", record_text(None, schema))),
        EdgeSchema::Parallel(schema) => {
            Some(format!("parallel edges {}", record_text(Some(&schema.key), &schema.record)))
        }
    }
}

/// A property from the command line, as `NAME=VALUE`, of a record that has these `fields`. `owners` have such records.
pub fn named_property<'a>(
    given: &'a str,
    fields: &[Field],
    owners: &str,
) -> Result<(&'a str, Value), StoredError> {
    let wrong = |problem: String| StoredError::Property { given: given.into(), problem };
    let (name, text) = given.split_once('=').ok_or_else(|| wrong("expected NAME=VALUE".into()))?;
    let Some(field) = fields.iter().find(|field| field.name == name) else {
        let known = fields.iter().map(|field| format!("{:?}", field.name)).collect::<Vec<_>>().join(", ");
        let known = if known.is_empty() { "none".into() } else { known };
        return Err(wrong(format!("{owners} have the properties {known}")));
    };
    let value = property_of_text(text, field.value_type);
    Ok((name, value.map_err(|expected| wrong(format!("expected {expected}")))?))
}

/// A record by the names of its properties.
pub fn json_record(schema: &RecordSchema, record: &Record) -> Map<String, serde_json::Value> {
    let named = schema.fields.iter().zip(record.values());
    named.map(|(field, value)| (field.name.clone(), json(value))).collect()
}

/// One of parallel edges by the names of its key and its properties.
pub fn json_parallel(schema: &ParallelSchema, key: u64, record: &Record) -> Map<String, serde_json::Value> {
    std::iter::once((schema.key.clone(), key.into())).chain(json_record(&schema.record, record)).collect()
}

/// A record in one line.
pub fn line(properties: &Map<String, serde_json::Value>) -> String {
    let property = |(name, value): (&String, &serde_json::Value)| format!("{name}={value}");
    properties.iter().map(property).collect::<Vec<_>>().join(" ")
}

/// A property as JSON has it: bytes in hexadecimal digits, timestamps in microseconds since 1970-01-01 UTC.
pub fn json(value: &Value) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(value) => (*value).into(),
        Value::I64(value) | Value::Timestamp(value) => (*value).into(),
        Value::F64(value) => (*value).into(),
        Value::String(text) => (&**text).into(),
        Value::Bytes(bytes) => hexadecimal(bytes).into(),
    }
}

/// Bytes in hexadecimal digits.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow::ValueType;

    #[test]
    fn properties_are_read_as_they_are_written() {
        for (text, value_type, expected) in [
            ("true", ValueType::Bool, "true"),
            ("-3", ValueType::I64, "-3"),
            ("0.5", ValueType::F64, "0.5"),
            ("1700000000000000", ValueType::Timestamp, "1700000000000000"),
            ("1970-01-01T00:00:01.5Z", ValueType::Timestamp, "1500000"),
            ("a b", ValueType::String, "\"a b\""),
            ("00ff", ValueType::Bytes, "\"00ff\""),
        ] {
            let read = property_of_text(text, value_type).unwrap();
            assert_eq!(json(&read).to_string(), expected);
        }
    }
}
