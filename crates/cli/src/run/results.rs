//! Result files: the value of every vertex that has one, in the format that the name of the file
//! says.

use super::value::Value;
use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::keys::{self, JsonKey};
use crate::listing::is_json_array;
use hedgerow::kernels::Parents;
use hedgerow::{Key, RecordSchema, Snapshot, ValueType, VertexId};
use hedgerow_formats::{FormatError, LineSchema, NewFile, Output, PropertyFormat, PropertyWriter};
use hedgerow_model::Record;
use serde_json::json;
use std::io::{self, Write};
use std::path::Path;

/// The results of vertices.
pub struct Results<'a> {
    pub snapshot: &'a Snapshot,
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
            None if is_json_array(path) => self.write_array(path, interrupt),
            None => self.write_text(path, interrupt),
        }
    }

    fn write_text(&self, path: &Path, interrupt: &Interrupt) -> Result<(), CliError> {
        let mut file = Output::create(path).map_err(CliError::Output)?;
        self.for_each(|key, value, parent| {
            let line = format!("{} {value}", keys::word(&key));
            match parent {
                Some(parent) => writeln!(file, "{line} {parent}"),
                None => writeln!(file, "{line}"),
            }
            .map_err(|source| failed(path, source))
        })?;
        interrupt.check()?;
        file.finish().map_err(CliError::Output)
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

    fn write_array(&self, path: &Path, interrupt: &Interrupt) -> Result<(), CliError> {
        let mut file = Output::create(path).map_err(CliError::Output)?;
        let mut separator = "[\n";
        self.for_each(|key, value, parent| {
            let (key, value) = (json!(JsonKey::from(key)), json!(value));
            let parent = parent.map_or(String::new(), |parent| format!(",\"{PARENT}\":{}", json!(parent)));
            write!(file, "{separator}{{\"key\":{key},\"{}\":{value}{parent}}}", self.column)
                .map_err(|source| failed(path, source))?;
            separator = ",\n";
            Ok(())
        })?;
        let end = if separator == ",\n" { "\n]" } else { "[]" };
        writeln!(file, "{end}").map_err(|source| failed(path, source))?;
        interrupt.check()?;
        file.finish().map_err(CliError::Output)
    }

    fn for_each(
        &self,
        mut write: impl FnMut(Key, Value, Option<Value>) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        self.snapshot.try_for_each_vertex(|vertex, key| match (self.value)(vertex) {
            Some(value) => {
                write(key, value, self.parents.map(|parents| self.parent(parents, vertex)).transpose()?)
            }
            None => Ok(()),
        })
    }

    fn parent(&self, parents: &Parents, vertex: VertexId) -> Result<Value, CliError> {
        let parent = parents.of(vertex).map(|parent| self.snapshot.key(parent)).transpose()?;
        Ok(parent.flatten().map_or(Value::None, Value::Key))
    }
}

fn failed(path: &Path, source: io::Error) -> CliError {
    CliError::Output(FormatError::Io { path: path.into(), action: "write", source })
}
