//! Describes the schema of a graph for output.

use super::declared::record_text;
use crate::error::StoredError;
use hedgerow::{EdgeSchema, Field, KeyKind, LabelSchema, Topology, Value};
use hedgerow_formats::property_of_text;

/// The name of a topology.
pub fn topology(topology: Topology) -> &'static str {
    match topology {
        Topology::Directed => "directed",
        Topology::DirectedWithReverse => "directed with in-neighbors",
        Topology::Undirected => "undirected",
    }
}

/// The kind of keys, in the form of `--keys`.
pub fn keys(kind: KeyKind) -> &'static str {
    match kind {
        KeyKind::Number => "number",
        KeyKind::String => "text",
        KeyKind::Dense => "dense",
    }
}

/// The type of the values of a label, or the properties of its records; `None` if its edges carry
/// nothing.
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

/// Parses the property `NAME=VALUE` that `option` gives, of a record with these `fields`. `owners`
/// have such records.
pub fn named_property<'a>(
    option: &'static str,
    given: &'a str,
    fields: &[Field],
    owners: &str,
) -> Result<(&'a str, Value), StoredError> {
    let wrong = |problem: String| StoredError::Property { option, given: given.into(), problem };
    let (name, text) = given.split_once('=').ok_or_else(|| wrong("expected NAME=VALUE".into()))?;
    let Some(field) = fields.iter().find(|field| field.name == name) else {
        let known = fields.iter().map(|field| format!("{:?}", field.name)).collect::<Vec<_>>().join(", ");
        return Err(wrong(match fields {
            [] => format!("{owners} have no properties"),
            _ => format!("{owners} have the properties {known}"),
        }));
    };
    let value = property_of_text(text, field.value_type);
    Ok((name, value.map_err(|expected| wrong(format!("expected {expected}")))?))
}

/// Bytes in hexadecimal digits.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
