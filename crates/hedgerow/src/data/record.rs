//! Records of properties whose names are only known at run time.

use hedgerow_model as model;
use hedgerow_model::{GrowingCatalog, LabelId, RecordSchema, Value};
use hedgerow_sync::Arc;
use std::fmt;

/// The properties of a vertex or an edge: values with names, in the order of their schema.
///
/// Records that reads return know their schema, so [`Record::get`] finds a property by name.
/// [`Record::new`] makes one without names, to be written.
///
/// ```
/// use hedgerow::prelude::*;
///
/// let payment = RecordSchema::new().field("amount", ValueType::F64).nullable("note", ValueType::String);
/// let graph = Graph::in_memory(GraphOptions::new().label_schema(LabelSchema::with_record("pays", payment)))?;
/// let pays = graph.label::<Record>("pays")?;
/// graph.update_edge(pays, 1, 2, &EdgeUpdate::put().set("amount", 9.5))?;
///
/// let record = graph.get_edge(pays, 1, 2)?.expect("it was put");
/// assert_eq!(record.get("amount"), Some(&Value::F64(9.5)));
/// assert_eq!(record.get("note"), Some(&Value::Null));
/// assert_eq!(record.get("purpose"), None);
/// # Ok::<(), hedgerow::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Record {
    values: model::Record,
    names: Option<(Arc<GrowingCatalog>, Owner)>,
}

/// The owner of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    Vertex,
    Edge(LabelId),
}

/// The schema of the records that are read, which names their values.
pub struct Names<'s> {
    pub(crate) catalog: &'s Arc<GrowingCatalog>,
    pub(crate) owner: Owner,
}

impl Names<'_> {
    pub(crate) fn schema(&self) -> Option<&RecordSchema> {
        schema(self.catalog, self.owner)
    }
}

fn schema(catalog: &GrowingCatalog, owner: Owner) -> Option<&RecordSchema> {
    match owner {
        Owner::Vertex => Some(catalog.vertices()),
        Owner::Edge(label) => catalog.record_schema(label),
    }
}

impl Record {
    /// Creates a record of values in the order of the schema, for writing.
    #[must_use]
    pub fn new(values: Vec<Value>) -> Self {
        model::Record::new(values).into()
    }

    pub(crate) fn read(values: model::Record, names: &Names<'_>) -> Self {
        Record { values, names: Some((Arc::clone(names.catalog), names.owner)) }
    }

    /// Returns the values, in the order of the schema.
    #[must_use]
    pub fn values(&self) -> &[Value] {
        self.values.values()
    }

    /// Returns the value of a property, [`Value::Null`] if it has none; `None` if there is no such
    /// property. O(properties).
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.iter().find_map(|(property, value)| (property == name).then_some(value))
    }

    /// Returns the names and values, in the order of the schema; nothing for a record without
    /// names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        let fields = self.schema().map_or(&[][..], |schema| &schema.fields);
        fields.iter().map(|field| field.name.as_str()).zip(self.values())
    }

    /// Returns the record without names, for readers and writers of graph files.
    #[doc(hidden)]
    #[must_use]
    pub fn stored(&self) -> &model::Record {
        &self.values
    }

    fn schema(&self) -> Option<&RecordSchema> {
        self.names.as_ref().and_then(|(catalog, owner)| schema(catalog, *owner))
    }
}

#[doc(hidden)]
impl From<model::Record> for Record {
    fn from(values: model::Record) -> Self {
        Record { values, names: None }
    }
}

impl From<Record> for model::Record {
    fn from(record: Record) -> Self {
        record.values
    }
}

/// Serialized as a map from names to values; without names as a list of the values.
#[cfg(feature = "serde")]
impl serde::Serialize for Record {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.names {
            Some(_) => serializer.collect_map(self.iter()),
            None => serializer.collect_seq(self.values()),
        }
    }
}

/// Records are equal if their values are.
impl PartialEq for Record {
    fn eq(&self, other: &Self) -> bool {
        self.values == other.values
    }
}

impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.names {
            Some(_) => f.debug_map().entries(self.iter()).finish(),
            None => f.debug_tuple("Record").field(&self.values()).finish(),
        }
    }
}
