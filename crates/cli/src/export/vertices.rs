//! Writes the vertices of a snapshot with their properties to a file.

use super::args::ExportArgs;
use super::graph_file::graph_output;
use super::lines::VERTICES_BETWEEN_CHECKS;
use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::interrupt::Interrupt;
use crate::progress;
use crate::stored::args::TimesArgs;
use hedgerow::{Key, ReadGraph, Snapshot, store};
use hedgerow_formats::{LineSchema, NewFile, PropertyFormat, PropertyWriter, VertexListWriter};
use std::path::Path;

/// The vertex file of an export, in the format that an import with the same options reads.
pub struct VerticesFile<'a> {
    path: &'a Path,
    /// `None` for a list of keys, one per line.
    format: Option<PropertyFormat>,
    times: TimesArgs,
}

/// A file being written.
enum Writer {
    Keys(VertexListWriter),
    Lines(PropertyWriter),
}

impl<'a> VerticesFile<'a> {
    /// The file that `--vertices-output` names, if given. If vertices of the store have properties,
    /// the format of the file must hold them.
    pub fn of(args: &'a ExportArgs, store: &Path) -> Result<Option<Self>, StoredError> {
        let Some(path) = &args.vertices_output else { return Ok(None) };
        let catalog = store::manifest(store)?.options.catalog;
        let has_properties = !catalog.vertices().fields.is_empty();
        let format = args.to.of_vertices(path, has_properties);
        if has_properties && format.is_none() {
            let path = path.display();
            return Err(StoredError::Export(format!(
                "--vertices-output {path}: vertices of this store have properties; let the name end in .csv or .jsonl, or give --to properties-csv or --to jsonl"
            )));
        }
        Ok(Some(VerticesFile { path, format, times: args.times }))
    }

    /// Writes the vertices, ascending by id. The file gets its name when it is finished.
    pub fn write(
        &self,
        snapshot: &Snapshot,
        console: &Console,
        interrupt: &Interrupt,
    ) -> Result<NewFile, CliError> {
        let mut writer = self.create(snapshot)?;
        let bar = progress::of_steps(console, "writing vertices", snapshot.vertex_count());
        let mut count = 0;
        snapshot.try_for_each_vertex(|_, key| {
            count += 1;
            bar.inc(1);
            writer.write(snapshot, &key)?;
            if count % VERTICES_BETWEEN_CHECKS == 0 { interrupt.check() } else { Ok(()) }
        })?;
        bar.finish_and_clear();
        writer.complete()
    }

    fn create(&self, snapshot: &Snapshot) -> Result<Writer, CliError> {
        let created = match self.format {
            None => VertexListWriter::create(self.path).map(Writer::Keys),
            Some(format) => {
                let lines = LineSchema::Vertices(snapshot.catalog().vertices().clone());
                let writer = PropertyWriter::create(self.path, format, &lines);
                writer.map(|writer| Writer::Lines(writer.with_raw_times(self.times.raw_times)))
            }
        };
        created.map_err(CliError::Output)
    }
}

impl Writer {
    fn write(&mut self, snapshot: &Snapshot, key: &Key) -> Result<(), CliError> {
        match self {
            Writer::Keys(writer) => writer.write(key).map_err(graph_output),
            Writer::Lines(writer) => {
                let record = snapshot.properties(key).map_err(StoredError::from)?.unwrap_or_default();
                writer.write_vertex(key, record.stored()).map_err(CliError::Output)
            }
        }
    }

    fn complete(self) -> Result<NewFile, CliError> {
        let file = match self {
            Writer::Keys(writer) => writer.complete(),
            Writer::Lines(writer) => writer.complete(),
        };
        file.map_err(CliError::Output)
    }
}
