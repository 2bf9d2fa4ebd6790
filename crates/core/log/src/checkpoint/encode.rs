//! Encodes a range of vertices, or of rows, into chunks.

use super::codec::rows::RowBuffer;
use super::codec::vertices::VertexBuffer;
use super::{CheckpointError, CheckpointSource, ChunkContent, Description};
use hedgerow_model::{Column, ColumnType, LabelId, VertexId, with_width};
use std::ops::{ControlFlow, Range};

/// An encoded chunk without an offset.
#[derive(Debug)]
pub(super) struct Encoded {
    pub(super) content: ChunkContent,
    pub(super) entries: u32,
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) body: Vec<u8>,
}

/// A unit of work: a kind of content and a range of vertices.
#[derive(Clone, Debug)]
pub(super) struct CheckpointPart {
    pub(super) content: ChunkContent,
    pub(super) vertices: Range<u32>,
}

/// Encodes the chunks of a part. After each chunk `pause` may stop the work.
pub(super) fn encode<S: CheckpointSource>(
    source: &S,
    description: &Description,
    part: CheckpointPart,
    pause: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<Vec<Encoded>, CheckpointError> {
    match part.content {
        ChunkContent::Description => Ok(vec![Encoded {
            content: ChunkContent::Description,
            entries: 1,
            first: 0,
            last: 0,
            body: description.encode(),
        }]),
        ChunkContent::Vertices => vertices(source, description, part.vertices, pause),
        ChunkContent::Edges(label) => match description.column(label) {
            ColumnType::Record => record_rows(source, description, label, part.vertices, pause),
            column => {
                with_width!(column, W => rows::<S, W>(source, description, (label, column), part.vertices, pause))
            }
        },
    }
}

fn vertices<S: CheckpointSource>(
    source: &S,
    description: &Description,
    range: Range<u32>,
    pause: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<Vec<Encoded>, CheckpointError> {
    let mut chunks = Vec::new();
    let fields = description.catalog.vertices().fields.len();
    let mut buffer = VertexBuffer::new(description.keys, fields, description.counts.vertex_bound);
    let mut flush = |buffer: &mut VertexBuffer| {
        if let [first, ..] = buffer.ids()
            && let [.., last] = buffer.ids()
        {
            let (first, last) = (u64::from(first.get()), u64::from(last.get()));
            // A buffer has at most 2^16 vertices.
            let entries = buffer.ids().len() as u32;
            let body = buffer.encode();
            chunks.push(Encoded { content: ChunkContent::Vertices, entries, first, last, body });
            buffer.clear();
        }
    };
    let mut pushed = Ok(());
    source.vertices(range, &mut |vertex, key, record| {
        pushed = buffer.push(vertex, key, record);
        if pushed.is_err() {
            return ControlFlow::Break(());
        }
        if buffer.is_full() {
            flush(&mut buffer);
            return pause();
        }
        ControlFlow::Continue(())
    })?;
    flush(&mut buffer);
    pushed.map(|()| chunks)
}

fn rows<S: CheckpointSource, W: Column>(
    source: &S,
    description: &Description,
    (label, column): (LabelId, ColumnType),
    range: Range<u32>,
    pause: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<Vec<Encoded>, CheckpointError> {
    let is_undirected = description.topology.is_undirected();
    let mut rows = EncodedRows::new(description, label, column);
    let mut pushed = Ok(());
    source.rows::<W>(label, range, &mut |owner, neighbors, values| {
        let mut begin = canonical_from(is_undirected, owner, neighbors);
        while begin < neighbors.len() {
            let end = neighbors.len().min(begin + rows.buffer.room());
            pushed = rows.buffer.push(owner, &neighbors[begin..end], &values[begin..end]);
            if pushed.is_err() {
                return ControlFlow::Break(());
            }
            begin = end;
            rows.flush_if_full(pause)?;
        }
        ControlFlow::Continue(())
    })?;
    pushed.map(|()| rows.finish())
}

fn record_rows<S: CheckpointSource>(
    source: &S,
    description: &Description,
    label: LabelId,
    range: Range<u32>,
    pause: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<Vec<Encoded>, CheckpointError> {
    let is_undirected = description.topology.is_undirected();
    let mut rows = EncodedRows::new(description, label, ColumnType::Record);
    let mut pushed = Ok(());
    source.records(label, range, &mut |owner, neighbor, record| {
        if is_undirected && neighbor < owner {
            return ControlFlow::Continue(());
        }
        pushed = rows.buffer.push::<()>(owner, &[neighbor], &[()]);
        if pushed.is_err() {
            return ControlFlow::Break(());
        }
        rows.buffer.push_record(record);
        rows.flush_if_full(pause)
    })?;
    pushed.map(|()| rows.finish())
}

/// Encodes the rows of one label into chunks.
struct EncodedRows {
    label: LabelId,
    column: ColumnType,
    is_undirected: bool,
    buffer: RowBuffer,
    chunks: Vec<Encoded>,
}

impl EncodedRows {
    fn new(description: &Description, label: LabelId, column: ColumnType) -> Self {
        let (is_undirected, bound) = (description.topology.is_undirected(), description.counts.vertex_bound);
        EncodedRows { label, column, is_undirected, buffer: RowBuffer::new(bound), chunks: Vec::new() }
    }

    /// Encodes the buffer into a chunk if it is full. Breaks if `pause` breaks.
    fn flush_if_full(&mut self, pause: &mut dyn FnMut() -> ControlFlow<()>) -> ControlFlow<()> {
        if self.buffer.room() > 0 {
            return ControlFlow::Continue(());
        }
        self.flush();
        pause()
    }

    fn flush(&mut self) {
        if let Some(range) = self.buffer.range() {
            // A buffer has at most 2^17 entries.
            let entries = self.buffer.len() as u32;
            let body = self.buffer.encode(self.is_undirected, self.column);
            let content = ChunkContent::Edges(self.label);
            self.chunks.push(Encoded { content, entries, first: *range.start(), last: *range.end(), body });
            self.buffer.clear();
        }
    }

    fn finish(mut self) -> Vec<Encoded> {
        self.flush();
        self.chunks
    }
}

/// Returns the index of the first neighbor whose edge is stored at `owner`: an undirected edge is
/// stored at its smaller end.
fn canonical_from(is_undirected: bool, owner: VertexId, neighbors: &[VertexId]) -> usize {
    if is_undirected { neighbors.partition_point(|neighbor| *neighbor < owner) } else { 0 }
}
