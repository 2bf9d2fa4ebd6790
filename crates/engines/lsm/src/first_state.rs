//! The first state of a store, written into the files without MemGraphs.

use crate::adjacency::{ITSELF, VERTICES, number_of};
use crate::graph::LsmEngine;
use crate::levels::{FileEntry, FlushPart, FlushPoint, Version, VersionBatch, VersionSource};
use hedgerow_encoding::encode_vertex;
use hedgerow_log::checkpoint::{CheckpointError, CheckpointSource, Description, WriteOptions, WriteProgress};
use hedgerow_model::{
    Column, ColumnType, CommitTimestamp, Direction, EngineError, KeyKind, KeyRef, LabelId, ReadError,
    with_width,
};
use hedgerow_sync::atomic::{AtomicU64, Ordering};
use rayon::ThreadPool;
use std::ops::{ControlFlow, Range};

/// Vertices, or about as many edges, that are read at a time.
const ENTRIES_AT_A_TIME: u64 = 1 << 16;

impl LsmEngine {
    /// Gives the files, which are empty, the state of a graph that `description` describes,
    /// durably, at the flush point that `reached` returns when all was read. The engine still reads
    /// an empty graph, until it is opened again. O(vertices + edges).
    ///
    /// All edges are of this label. `outgoing` has the vertices, and the edges from where they
    /// start, undirected ones from both ends; `incoming` has the edges from where they end, if the
    /// topology has a reverse adjacency.
    ///
    /// # Errors
    /// A file could not be written, a source could not be read, or writing was cancelled. Files may
    /// be left, which belong to no state.
    pub fn begin_with<S: CheckpointSource>(
        &self,
        (label, outgoing, incoming): (LabelId, &S, Option<&S>),
        description: &Description,
        options: &WriteOptions<'_>,
        reached: impl FnOnce() -> FlushPoint,
    ) -> Result<(), EngineError> {
        let (counts, column) = (&description.counts, description.column(label));
        let edges = counts.edges_of(label).at_most();
        let has_two_ends = description.topology.is_undirected() || incoming.is_some();
        let of = counts.vertices + if has_two_ends { 2 * edges } else { edges };
        let writer = FirstWriter { engine: self, options, read: AtomicU64::new(0), of };

        let bound = counts.vertex_bound;
        let step = ENTRIES_AT_A_TIME as u32;
        let range = |begin: u32| begin..bound.min(begin.saturating_add(step));
        let ranges: Vec<_> = (0..bound).step_by(step as usize).map(range).collect();
        let mut files = writer.write(VERTICES, outgoing, Content::Vertices(description), &ranges)?;
        let directions = [(Direction::Out, Some(outgoing)), (Direction::In, incoming)];
        for (direction, source) in directions.into_iter().filter_map(|(to, source)| Some((to, source?))) {
            let ranges = source.cuts(label, edges.div_ceil(ENTRIES_AT_A_TIME) as usize)?;
            let content = Content::Edges(label, column);
            files.extend(writer.write(number_of(label, direction), source, content, &ranges)?);
        }
        self.tree.begin_with(&files, reached())?;
        let found =
            self.tree.current().count(number_of(label, Direction::Out), description.topology.is_undirected());
        match found == counts.edges_of(label) {
            true => Ok(()),
            false => {
                let (what, expected, found) = ("edges", edges, found.at_most());
                Err(failed(CheckpointError::WrongCount { what, expected, found }).into())
            }
        }
    }
}

/// Writes the adjacencies of a first state.
struct FirstWriter<'w> {
    engine: &'w LsmEngine,
    options: &'w WriteOptions<'w>,
    /// The number of entries that were read, out of all.
    read: AtomicU64,
    of: u64,
}

/// The content of an adjacency.
#[derive(Clone, Copy)]
enum Content<'d> {
    Vertices(&'d Description),
    Edges(LabelId, ColumnType),
}

/// A part of an adjacency, as a source of versions that every snapshot sees.
struct FirstRows<'r, S> {
    writer: &'r FirstWriter<'r>,
    source: &'r S,
    content: Content<'r>,
    ranges: std::slice::Iter<'r, Range<u32>>,
}

impl FirstWriter<'_> {
    /// Writes an adjacency, whose owners are in these ranges.
    fn write<S: CheckpointSource>(
        &self,
        adjacency: u32,
        source: &S,
        content: Content<'_>,
        ranges: &[Range<u32>],
    ) -> Result<Vec<FileEntry>, EngineError> {
        let pool = self.options.pool;
        let share = ranges.len().div_ceil(pool.map_or(1, ThreadPool::current_num_threads)).max(1);
        let rows = |ranges| FirstRows { writer: self, source, content, ranges: <[_]>::iter(ranges) };
        let sources = ranges.chunks(share).map(rows).collect();
        self.engine.tree.write_first(FlushPart { adjacency, sources }, pool)
    }

    /// Reports that this many entries were read.
    fn report(&self, entries: usize) {
        let entries = self.read.fetch_add(entries as u64, Ordering::Relaxed) + entries as u64;
        if let Some(report) = self.options.progress {
            report(WriteProgress { entries: entries.min(self.of), of: self.of, bytes: 0 });
        }
    }
}

impl<S: CheckpointSource> VersionSource for FirstRows<'_, S> {
    fn read(&mut self, batch: &mut VersionBatch) -> Result<(), ReadError> {
        while batch.is_empty()
            && let Some(range) = self.ranges.next()
        {
            if self.writer.options.is_cancelled.is_some_and(|is_cancelled| is_cancelled()) {
                return Err(failed(CheckpointError::Cancelled));
            }
            match self.content {
                Content::Vertices(described) => read_vertices(self.source, described, range.clone(), batch),
                Content::Edges(label, ColumnType::Record) => {
                    self.source.records(label, range.clone(), &mut |owner, neighbor, record| {
                        batch.push_record(owner, neighbor, CommitTimestamp::ZERO, Some(record));
                        ControlFlow::Continue(())
                    })
                }
                Content::Edges(label, column) => {
                    with_width!(column, W => read_rows::<S, W>(self.source, label, range.clone(), batch))
                }
            }?;
            self.writer.report(batch.len());
        }
        Ok(())
    }
}

fn read_vertices(
    source: &impl CheckpointSource,
    described: &Description,
    range: Range<u32>,
    batch: &mut VersionBatch,
) -> Result<(), ReadError> {
    let (keys, fields) = (described.keys, described.catalog.vertices().fields.len());
    let mut wrong = None;
    source.vertices(range, &mut |vertex, key, record| {
        let key = match (keys, key) {
            (KeyKind::Dense, KeyRef::Number(number)) if number == u64::from(vertex.get()) => None,
            (KeyKind::Number, KeyRef::Number(_)) | (KeyKind::String, KeyRef::Text(_)) => Some(key.to_key()),
            _ => {
                wrong = Some("a key is of another kind");
                return ControlFlow::Break(());
            }
        };
        let values = record.values().len();
        if values != 0 && values != fields {
            wrong = Some("a record has another number of fields");
            return ControlFlow::Break(());
        }
        let record = encode_vertex(key.as_ref(), record);
        batch.push_record(vertex, ITSELF, CommitTimestamp::ZERO, Some(&record));
        ControlFlow::Continue(())
    })?;
    wrong.map_or(Ok(()), |wrong| Err(failed(CheckpointError::Contradiction(wrong))))
}

fn read_rows<S: CheckpointSource, W: Column>(
    source: &S,
    label: LabelId,
    range: Range<u32>,
    batch: &mut VersionBatch,
) -> Result<(), ReadError> {
    source.rows::<W>(label, range, &mut |owner, neighbors, values| {
        match W::TYPE {
            ColumnType::Unit => batch.push_settled(owner, neighbors),
            _ => neighbors.iter().zip(values).for_each(|(neighbor, value)| {
                let version = Version { at: CommitTimestamp::ZERO, value: Some(value.to_bits()) };
                batch.push(owner, *neighbor, version);
            }),
        }
        ControlFlow::Continue(())
    })
}

fn failed(error: CheckpointError) -> ReadError {
    ReadError::new("the first state of a store", error)
}
