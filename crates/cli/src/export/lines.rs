//! Writes the edges of a snapshot with their properties to files whose lines carry properties.

use super::edges::Edges;
use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::interrupt::Interrupt;
use crate::progress;
use crate::stored::args::TimesArgs;
use hedgerow::{Column, ColumnType, Direction, Key, ParallelEdge, ReadGraph, Record};
use hedgerow_formats::{LineSchema, NewFile, PropertyFormat, PropertyWriter};
use hedgerow_model::with_column;
use std::path::Path;

/// Vertices visited between two checks for Ctrl-C.
pub(super) const VERTICES_BETWEEN_CHECKS: u64 = 1 << 12;

/// Counts of a finished export of edges.
pub struct WrittenEdges {
    pub file: NewFile,
    pub edges: u64,
    /// Vertices that are not in the files because they have no edges.
    pub lost_vertices: u64,
}

impl Edges<'_> {
    /// Writes the edges with their properties, ascending by the id of their source. The file gets
    /// its name when it is finished.
    pub fn write_lines(
        &self,
        path: &Path,
        format: PropertyFormat,
        times: TimesArgs,
        console: &Console,
        interrupt: &Interrupt,
    ) -> Result<WrittenEdges, CliError> {
        let catalog = self.snapshot.catalog();
        let schema = catalog.label(self.label).map(|schema| schema.edges.clone()).unwrap_or_default();
        let (column, are_parallel) = (schema.column(), schema.key().is_some());
        let lines = LineSchema::Edges(schema);
        let writer = PropertyWriter::create(path, format, &lines).map_err(CliError::Output)?;
        let mut writer = writer.with_raw_times(times.raw_times);
        let mut without_edges = self.without_edges()?;
        let bar = progress::of_steps(console, "writing", self.snapshot.vertex_count());
        let (mut vertices, mut edges) = (0, 0);
        self.for_each_vertex(|key| {
            let mut wrote = |neighbor: &Key, written: Result<(), _>| {
                without_edges.remove(neighbor);
                edges += 1;
                written.map_err(CliError::Output)
            };
            match column {
                ColumnType::Record if are_parallel => {
                    let edges =
                        self.snapshot.parallel_neighbors::<Record>((self.label, Direction::Out), key, ..);
                    for ParallelEdge { neighbor, number, data: record } in edges.map_err(StoredError::from)? {
                        if self.belongs_to(key, &neighbor) {
                            wrote(
                                &neighbor,
                                writer.write_parallel_edge(key, &neighbor, number, record.stored()),
                            )?;
                        }
                    }
                }
                ColumnType::Record => {
                    let neighbors = self.snapshot.edges::<Record>((self.label, Direction::Out), key);
                    for (neighbor, record) in neighbors.map_err(StoredError::from)? {
                        if self.belongs_to(key, &neighbor) {
                            wrote(&neighbor, writer.write_edge_record(key, &neighbor, record.stored()))?;
                        }
                    }
                }
                column => with_column!(column, W => {
                    for (neighbor, value) in self.edges_of::<W>(key)? {
                        wrote(&neighbor, writer.write_edge(key, &neighbor, Column::to_bits(value)))?;
                    }
                }),
            }
            bar.inc(1);
            vertices += 1;
            if vertices % VERTICES_BETWEEN_CHECKS == 0 { interrupt.check() } else { Ok(()) }
        })?;
        bar.finish_and_clear();
        let file = writer.complete().map_err(CliError::Output)?;
        Ok(WrittenEdges { file, edges, lost_vertices: without_edges.len() as u64 })
    }
}
