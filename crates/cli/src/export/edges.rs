//! Writes the vertices and edges of a snapshot to a file.

use super::graph_file::{FileKey, graph_output};
use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::interrupt::Interrupt;
use crate::keys;
use crate::progress;
use crate::stored::number::EdgeNumber;
use hedgerow::{Column, Direction, EdgeData, Key, LabelId, ReadGraph, Snapshot};
use hedgerow_formats::{Batch, Edge, GraphWriter};
use hedgerow_model::with_column;
use std::collections::HashSet;

/// Vertices and edges that are written at a time.
const BATCH: usize = 1 << 16;

/// The edges of a label, each once, and the vertices. Edges with records need files with
/// properties.
pub struct Edges<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) label: LabelId,
    /// True if the files name all vertices, with or without edges.
    names_vertices: bool,
}

impl<'a> Edges<'a> {
    pub fn new(snapshot: &'a Snapshot, label: LabelId, names_vertices: bool) -> Self {
        Edges { snapshot, label, names_vertices }
    }

    /// Writes everything, ascending by vertex id. Returns the number of vertices that are not in
    /// the file because they have no edges.
    pub fn write<K: FileKey>(
        &self,
        writer: &mut GraphWriter<'_, K>,
        console: &Console,
        interrupt: &Interrupt,
    ) -> Result<u64, CliError> {
        let column = self.snapshot.catalog().label(self.label).map(|schema| schema.edges.column());
        with_column!(column.unwrap_or_default(), W => self.write_with::<K, W>(writer, console, interrupt))
    }

    fn write_with<K: FileKey, W: Column + EdgeData>(
        &self,
        writer: &mut GraphWriter<'_, K>,
        console: &Console,
        interrupt: &Interrupt,
    ) -> Result<u64, CliError> {
        let mut without_edges = self.without_edges()?;
        let bar = progress::of_steps(console, "writing", self.snapshot.vertex_count());
        let mut batch = Batch::<K>::new();
        self.for_each_vertex(|key| {
            if self.names_vertices {
                batch.vertices.extend(K::of(key));
            }
            for (neighbor, value) in self.edges_of::<W>(key)? {
                without_edges.remove(&neighbor);
                batch.edges.extend(edge(key, &neighbor, EdgeNumber::of(value))?);
            }
            bar.inc(1);
            if batch.len() >= BATCH {
                interrupt.check()?;
                writer.write(&batch).map_err(graph_output)?;
                batch.clear();
            }
            Ok(())
        })?;
        writer.write(&batch).map_err(graph_output)?;
        bar.finish_and_clear();
        Ok(without_edges.len() as u64)
    }

    /// The edges that are written at this vertex.
    pub(super) fn edges_of<W: EdgeData>(&self, key: &Key) -> Result<Vec<(Key, W)>, StoredError> {
        let mut edges = self.snapshot.edges::<W>((self.label, Direction::Out), key)?;
        edges.retain(|(neighbor, _)| self.belongs_to(key, neighbor));
        Ok(edges)
    }

    /// Returns true if an edge is written at `key`: an undirected edge belongs to the smaller key.
    pub(super) fn belongs_to(&self, key: &Key, neighbor: &Key) -> bool {
        !self.snapshot.topology().is_undirected() || neighbor >= key
    }

    /// The vertices without edges, for a file that does not name vertices itself. Where
    /// in-neighbors are not kept, the vertices without out-edges.
    pub(super) fn without_edges(&self) -> Result<HashSet<Key>, CliError> {
        let mut without = HashSet::new();
        if self.names_vertices {
            return Ok(without);
        }
        let directions = self.snapshot.topology().directions();
        self.for_each_vertex(|key| {
            let mut degree = 0;
            for direction in directions {
                degree += self.snapshot.degree((self.label, *direction), key).map_err(StoredError::from)?;
            }
            if degree == 0 {
                without.insert(key.clone());
            }
            Ok(())
        })?;
        Ok(without)
    }

    /// Visits every vertex until a visit fails.
    pub(super) fn for_each_vertex(
        &self,
        mut visit: impl FnMut(&Key) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        self.snapshot.try_for_each_vertex(|_, key| visit(&key))
    }
}

/// Converts an edge to the form of files.
fn edge<K: FileKey>(from: &Key, to: &Key, value: EdgeNumber) -> Result<Option<Edge<K>>, StoredError> {
    let inexact = |value: EdgeNumber| StoredError::InexactWeight {
        from: keys::text(from),
        to: keys::text(to),
        value: value.to_string(),
    };
    let weight = value.weight().map_err(inexact)?;
    let ends = K::of(from).zip(K::of(to));
    Ok(ends.map(|(source, destination)| Edge { source, destination, weight, timestamp: None }))
}
