//! Result files: the value of every vertex that has one, in the format that the name of the file
//! says.

use super::value::Value;
use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::keys::{self, JsonKey};
use crate::listing::{Form, Listing, NoFields};
use crate::state::GraphState;
use hedgerow::kernels::Parents;
use hedgerow::{Key, RecordSchema, ValueType, VertexId};
use hedgerow_formats::{LineSchema, NewFile, PropertyFormat, PropertyWriter};
use hedgerow_model::Record;
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::path::Path;

/// The results of vertices.
pub struct Results<'a> {
    pub state: &'a GraphState,
    /// The name of the values.
    pub column: &'static str,
    /// Returns the value of a vertex; `None` if it has none.
    pub value: &'a dyn Fn(VertexId) -> Option<Value>,
    /// The parents of vertices, written after their values.
    pub parents: Option<&'a Parents>,
}

/// The name of the parents.
const PARENT: &str = "parent";

impl Results<'_> {
    /// Writes the value of every vertex that has one, ascending by vertex id: as CSV, as JSON lines
    /// or as a JSON array if the name ends in `.csv`, `.jsonl`, `.ndjson` or `.json`, else as lines
    /// `key value`; compressed if the name says so. On failure the previous file stays.
    pub fn write(&self, path: &Path, interrupt: &Interrupt) -> Result<(), CliError> {
        match PropertyFormat::of_name(path) {
            Some(format) => self.write_properties(path, format, interrupt),
            None => self.write_list(path, interrupt),
        }
    }

    fn write_list(&self, path: &Path, interrupt: &Interrupt) -> Result<(), CliError> {
        let mut listing = Listing::begin(path, Form::of_file(path), &NoFields {})?;
        self.for_each(|key, value, parent| {
            let line = || {
                let line = format!("{} {value}", keys::word(&key));
                parent.as_ref().map_or_else(|| line.clone(), |parent| format!("{line} {parent}"))
            };
            listing
                .item(&JsonResult { key: &key, value: (self.column, &value), parent: parent.as_ref() }, line)
        })?;
        interrupt.check()?;
        listing.finish(&NoFields {})
    }

    fn write_properties(
        &self,
        path: &Path,
        format: PropertyFormat,
        interrupt: &Interrupt,
    ) -> Result<(), CliError> {
        // The type of a property is in no file.
        let mut schema = RecordSchema::new().nullable(self.column, ValueType::F64);
        if self.parents.is_some() {
            schema = schema.nullable(PARENT, ValueType::F64);
        }
        let created = PropertyWriter::create(path, format, &LineSchema::Vertices(schema));
        let mut file = created.map_err(CliError::Output)?;
        self.for_each(|key, value, parent| {
            let values = [Some(value), parent].into_iter().flatten().map(Into::into);
            file.write_vertex(&key, &Record::new(values.collect())).map_err(CliError::Output)
        })?;
        interrupt.check()?;
        file.complete().and_then(NewFile::finish).map_err(CliError::Output)
    }

    fn for_each(
        &self,
        mut write: impl FnMut(Key, Value, Option<Value>) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        self.state.try_for_each_vertex(|vertex, key| match (self.value)(vertex) {
            Some(value) => {
                write(key, value, self.parents.map(|parents| self.parent(parents, vertex)).transpose()?)
            }
            None => Ok(()),
        })
    }

    fn parent(&self, parents: &Parents, vertex: VertexId) -> Result<Value, CliError> {
        let parent = parents.of(vertex).map(|parent| self.state.key(parent)).transpose()?;
        Ok(parent.flatten().map_or(Value::None, Value::Key))
    }
}

/// A result in JSON.
struct JsonResult<'a> {
    key: &'a Key,
    /// The value, after its name.
    value: (&'static str, &'a Value),
    parent: Option<&'a Value>,
}

impl Serialize for JsonResult<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut result = serializer.serialize_map(None)?;
        result.serialize_entry("key", &JsonKey::from(self.key.clone()))?;
        result.serialize_entry(self.value.0, self.value.1)?;
        if let Some(parent) = self.parent {
            result.serialize_entry(PARENT, parent)?;
        }
        result.end()
    }
}
