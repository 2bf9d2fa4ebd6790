//! Schemas of labels and of vertices.

use crate::{ColumnType, LabelId, Record, Value, ValueType};
use std::fmt;

/// A named, typed field of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Field {
    /// The name, unique in its record.
    pub name: String,
    /// The type of every value that is not null.
    pub value_type: ValueType,
    /// True if the value may be [`Value::Null`].
    pub nullable: bool,
}

/// The fields of a record, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RecordSchema {
    /// The fields.
    pub fields: Vec<Field>,
}

/// The data on the edges of a label.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum EdgeSchema {
    /// No data: topology only.
    #[default]
    Topology,
    /// One value of fixed width: a weight, a time.
    Value(ColumnType),
    /// A record of typed fields.
    Record(RecordSchema),
    /// Any number of edges between two vertices, each with a key and a record.
    Parallel(ParallelSchema),
}

/// Any number of edges from one vertex to another, distinguished by a `u64` key: payments by their
/// number, flows by their time.
///
/// Adjacencies, degrees, edge counts and kernels see each pair of connected vertices once; the
/// parallel edges are read by their keys.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ParallelSchema {
    /// The name of the key, in files and on the command line. No field of the record has this name.
    pub key: String,
    /// The record of each edge; may have no fields.
    pub record: RecordSchema,
}

impl EdgeSchema {
    /// The type of the edge values.
    #[must_use]
    pub fn column(&self) -> ColumnType {
        match self {
            EdgeSchema::Topology => ColumnType::Unit,
            EdgeSchema::Value(column) => *column,
            EdgeSchema::Record(_) | EdgeSchema::Parallel(_) => ColumnType::Record,
        }
    }

    /// The schema of the records, if edges or parallel edges have records.
    #[must_use]
    pub fn record(&self) -> Option<&RecordSchema> {
        match self {
            EdgeSchema::Record(schema) | EdgeSchema::Parallel(ParallelSchema { record: schema, .. }) => {
                Some(schema)
            }
            EdgeSchema::Topology | EdgeSchema::Value(_) => None,
        }
    }

    /// The name of the key of parallel edges, if edges may be parallel.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        match self {
            EdgeSchema::Parallel(schema) => Some(&schema.key),
            EdgeSchema::Topology | EdgeSchema::Value(_) | EdgeSchema::Record(_) => None,
        }
    }
}

/// Prints the data on edges, as worded in messages.
impl fmt::Display for EdgeSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EdgeSchema::Topology | EdgeSchema::Value(ColumnType::Unit) => f.write_str("no data"),
            EdgeSchema::Value(column) => column.fmt(f),
            EdgeSchema::Record(record) => write!(f, "a record ({record})"),
            EdgeSchema::Parallel(ParallelSchema { key, record }) => {
                write!(f, "a key {key:?}, as parallel edges, and a record ({record})")
            }
        }
    }
}

/// Prints the properties, as worded in messages.
impl fmt::Display for RecordSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.fields.is_empty() {
            return f.write_str("no properties");
        }
        for (number, Field { name, value_type, nullable }) in self.fields.iter().enumerate() {
            let (separator, nullable) =
                (if number == 0 { "" } else { ", " }, if *nullable { "?" } else { "" });
            write!(f, "{separator}{name:?}: {value_type}{nullable}")?;
        }
        Ok(())
    }
}

/// A label and the data on its edges.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LabelSchema {
    /// The name, unique in its graph.
    pub name: String,
    /// The data on each edge.
    pub edges: EdgeSchema,
}

/// All labels of a graph, and the schema of its vertices.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "serialized::Catalog"))]
pub struct Catalog {
    labels: Vec<LabelSchema>,
    vertices: RecordSchema,
}

/// A deserialized catalog, before it is checked.
#[cfg(feature = "serde")]
mod serialized {
    #[derive(serde::Deserialize)]
    pub(super) struct Catalog {
        labels: Vec<super::LabelSchema>,
        vertices: super::RecordSchema,
    }

    impl TryFrom<Catalog> for super::Catalog {
        type Error = super::SchemaError;

        fn try_from(catalog: Catalog) -> Result<Self, super::SchemaError> {
            super::Catalog::new(catalog.labels, catalog.vertices)
        }
    }
}

/// An error in declaring or using a schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// Two labels, or two fields of a record, have the same name.
    #[error("the name {0:?} is declared twice")]
    DuplicateName(String),
    /// A property of vertices cannot be null, though an edge creates its endpoints without
    /// properties.
    #[error("the vertex property {0:?} has to be nullable: vertices are created without properties")]
    NotNullable(String),
    /// A property of vertices is a version; only edges have versions.
    #[error("the vertex property {0:?} cannot be of type version: only edges have versions")]
    VersionOfVertex(String),
    /// A version is set, though the store counts it.
    #[error(
        "property {0:?} is a version, which the store counts: it can be asked for in a condition, not set"
    )]
    Counted(String),
    /// More labels than a [`LabelId`] can number.
    #[error("a graph has at most {limit} labels", limit = u16::MAX)]
    TooManyLabels,
    /// No label has this name.
    #[error("there is no label {0:?} in this graph")]
    UnknownLabel(String),
    /// No field has this name.
    #[error("there is no property {0:?} in this schema")]
    UnknownField(String),
    /// A record has too few or too many values.
    #[error("the schema has {expected} fields, the record {found} values")]
    FieldCount {
        /// Fields in the schema.
        expected: usize,
        /// Values in the record.
        found: usize,
    },
    /// A value has another type than its field, or is null although the field is not nullable.
    #[error("{}", wrong_type(field, *expected, *found))]
    FieldType {
        /// The field.
        field: String,
        /// Its declared type.
        expected: ValueType,
        /// The type of the value; `None` is null.
        found: Option<ValueType>,
    },
}

/// The message for a value of the wrong type.
fn wrong_type(field: &str, expected: ValueType, found: Option<ValueType>) -> String {
    match found {
        None => format!("property {field:?} must not be null: give it a value of type {expected}"),
        Some(found) => format!("property {field:?} has values of type {expected}, not {found}"),
    }
}

impl RecordSchema {
    /// Checks that `record` has one value per field, each of the field's type.
    ///
    /// # Errors
    /// If the number of values is wrong, or for the first value that does not fit.
    pub fn check(&self, record: &Record) -> Result<(), SchemaError> {
        let values = record.values();
        if values.len() != self.fields.len() {
            let (expected, found) = (self.fields.len(), values.len());
            return Err(SchemaError::FieldCount { expected, found });
        }
        self.fields.iter().zip(values).try_for_each(|(field, value)| field.check(value))
    }

    /// The position of the field called `name`.
    ///
    /// # Errors
    /// [`SchemaError::UnknownField`] if no field has the name.
    pub fn position(&self, name: &str) -> Result<usize, SchemaError> {
        let named = |field: &Field| field.name == name;
        let position = self.fields.iter().position(named);
        position.ok_or_else(|| SchemaError::UnknownField(name.to_owned()))
    }

    /// The position of the first field of type timestamp, which is the time of an edge unless
    /// another field is named.
    #[must_use]
    pub fn time(&self) -> Option<usize> {
        self.fields.iter().position(|field| field.value_type == ValueType::Timestamp)
    }

    /// The record of a vertex without any field set: all nulls.
    #[must_use]
    pub fn nulls(&self) -> Record {
        Record::new(vec![Value::Null; self.fields.len()])
    }
}

impl Field {
    /// Checks that `value` fits this field.
    ///
    /// # Errors
    /// [`SchemaError::FieldType`] if the value has another type, or is null where the field is not
    /// nullable.
    pub fn check(&self, value: &Value) -> Result<(), SchemaError> {
        self.check_type(value.value_type())
    }

    /// Checks that a value of this type, or null without one, fits this field.
    ///
    /// # Errors
    /// See [`check`](Self::check).
    pub fn check_type(&self, found: Option<ValueType>) -> Result<(), SchemaError> {
        let fits = match self.value_type {
            ValueType::Version => found == Some(ValueType::I64),
            expected => found.map_or(self.nullable, |found| found == expected),
        };
        fits.then_some(()).ok_or_else(|| SchemaError::FieldType {
            field: self.name.clone(),
            expected: self.value_type,
            found,
        })
    }

    /// Checks that `value` fits this field, and may be set by the writer.
    ///
    /// # Errors
    /// The errors of [`Field::check`], or [`SchemaError::Counted`] if the store counts the field
    /// itself.
    pub fn check_set(&self, value: &Value) -> Result<(), SchemaError> {
        match self.value_type {
            ValueType::Version => Err(SchemaError::Counted(self.name.clone())),
            _ => self.check(value),
        }
    }
}

impl Catalog {
    /// A catalog of these labels; the first is [`LabelId::DEFAULT`].
    ///
    /// If `labels` is empty, the catalog has one label, called `edge`, without values.
    ///
    /// # Errors
    /// If two labels or fields have the same name, a vertex property is not nullable, or there are
    /// more labels than ids.
    pub fn new(mut labels: Vec<LabelSchema>, vertices: RecordSchema) -> Result<Self, SchemaError> {
        if labels.is_empty() {
            labels.push(LabelSchema { name: "edge".to_owned(), edges: EdgeSchema::Topology });
        }
        if labels.len() > usize::from(u16::MAX) {
            return Err(SchemaError::TooManyLabels);
        }
        unique(labels.iter().map(|label| label.name.as_str()))?;
        unique(vertices.fields.iter().map(|field| field.name.as_str()))?;
        let is_version = |field: &&Field| field.value_type == ValueType::Version;
        if let Some(field) = vertices.fields.iter().find(is_version) {
            return Err(SchemaError::VersionOfVertex(field.name.clone()));
        }
        if let Some(field) = vertices.fields.iter().find(|field| !field.nullable) {
            return Err(SchemaError::NotNullable(field.name.clone()));
        }
        for label in &labels {
            let fields = label.edges.record().into_iter().flat_map(|record| &record.fields);
            unique(label.edges.key().into_iter().chain(fields.map(|field| field.name.as_str())))?;
        }
        Ok(Catalog { labels, vertices })
    }

    /// A catalog of labels and properties that are already checked.
    pub(crate) fn of_valid(labels: Vec<LabelSchema>, vertices: RecordSchema) -> Self {
        Catalog { labels, vertices }
    }

    /// The schema of the records of a label's edges; `None` if the edges have no records, or the
    /// label does not exist.
    #[must_use]
    pub fn record_schema(&self, label: LabelId) -> Option<&RecordSchema> {
        self.label(label)?.edges.record()
    }

    /// Returns true if the edges of a label may be parallel.
    #[must_use]
    pub fn are_parallel(&self, label: LabelId) -> bool {
        self.label(label).is_some_and(|schema| schema.edges.key().is_some())
    }

    /// The catalog with further labels appended.
    ///
    /// # Errors
    /// The errors of [`Catalog::new`].
    pub fn with_labels(&self, labels: &[LabelSchema]) -> Result<Self, SchemaError> {
        Catalog::new([&self.labels, labels].concat(), self.vertices.clone())
    }

    /// Returns true if this is `earlier`, or `earlier` with [further labels](Catalog::with_labels).
    #[must_use]
    pub fn extends(&self, earlier: &Catalog) -> bool {
        self.labels.starts_with(&earlier.labels) && self.vertices == earlier.vertices
    }

    /// The labels, in the order of their ids.
    #[must_use]
    pub fn labels(&self) -> &[LabelSchema] {
        &self.labels
    }

    /// The schema of the records of vertices.
    #[must_use]
    pub fn vertices(&self) -> &RecordSchema {
        &self.vertices
    }

    /// The schema of a label, if the label exists.
    #[must_use]
    pub fn label(&self, label: LabelId) -> Option<&LabelSchema> {
        self.labels.get(label.index())
    }

    /// The label called `name`.
    ///
    /// # Errors
    /// [`SchemaError::UnknownLabel`] if no label has the name.
    pub fn label_id(&self, name: &str) -> Result<LabelId, SchemaError> {
        let position = self.labels.iter().position(|label| label.name == name);
        let position = position.and_then(|position| u16::try_from(position).ok());
        position.map(LabelId).ok_or_else(|| SchemaError::UnknownLabel(name.to_owned()))
    }
}

impl Default for Catalog {
    fn default() -> Self {
        let labels = vec![LabelSchema { name: "edge".to_owned(), edges: EdgeSchema::Topology }];
        Catalog { labels, vertices: RecordSchema::default() }
    }
}

fn unique<'a>(names: impl Iterator<Item = &'a str>) -> Result<(), SchemaError> {
    let mut seen = std::collections::HashSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(SchemaError::DuplicateName(name.to_owned()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(name: &str, value_type: ValueType, nullable: bool) -> Field {
        Field { name: name.to_owned(), value_type, nullable }
    }

    #[test]
    fn a_record_fits_by_count_type_and_nullability() {
        let fields = vec![field("age", ValueType::I64, false), field("name", ValueType::String, true)];
        let schema = RecordSchema { fields };
        let fits = Record::new(vec![Value::I64(3), Value::Null]);
        assert_eq!(schema.check(&fits), Ok(()));
        let short = Record::new(vec![Value::I64(3)]);
        assert_eq!(schema.check(&short), Err(SchemaError::FieldCount { expected: 2, found: 1 }));
        for wrong in [Value::Null, Value::F64(3.0)] {
            let record = Record::new(vec![wrong, Value::Null]);
            assert!(matches!(schema.check(&record), Err(SchemaError::FieldType { .. })));
        }
    }

    #[test]
    fn errors_name_the_type_that_would_fit() {
        let required = field("amount", ValueType::F64, false);
        let checked = |value| required.check(&value).map_err(|error| error.to_string());
        let missing = "property \"amount\" must not be null: give it a value of type f64";
        assert_eq!(checked(Value::Null), Err(missing.to_owned()));
        let other = "property \"amount\" has values of type f64, not string";
        assert_eq!(checked(Value::from("much")), Err(other.to_owned()));
        assert_eq!(checked(Value::F64(1.0)), Ok(()));
    }

    #[test]
    fn labels_are_appended() {
        let label = |name: &str| LabelSchema { name: name.to_owned(), edges: EdgeSchema::Topology };
        let before = Catalog::new(vec![label("a")], RecordSchema::default()).unwrap();
        let after = before.with_labels(&[label("b"), label("c")]).unwrap();
        assert!(after.extends(&before) && !before.extends(&after) && after.extends(&after));
        assert_eq!(after.label_id("c"), Ok(LabelId(2)));
        assert_eq!(after.with_labels(&[label("b")]), Err(SchemaError::DuplicateName("b".to_owned())));
    }

    #[test]
    fn names_are_unique() {
        let label = |name: &str| LabelSchema { name: name.to_owned(), edges: EdgeSchema::Topology };
        let twice = Catalog::new(vec![label("a"), label("a")], RecordSchema::default());
        assert_eq!(twice, Err(SchemaError::DuplicateName("a".to_owned())));
    }
}
