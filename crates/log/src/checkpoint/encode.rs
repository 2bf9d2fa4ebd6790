//! A range of vertices, or of rows, into chunks.

use super::codec::rows::RowBuffer;
use super::codec::vertices::VertexBuffer;
use super::{CheckpointError, Content, Description, Source};
use hedgerow_model::{Column, ColumnType, LabelId, VertexId, with_column};
use std::ops::{ControlFlow, Range};

/// A chunk without a place.
#[derive(Debug)]
pub(super) struct Encoded {
    pub(super) content: Content,
    pub(super) entries: u32,
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) body: Vec<u8>,
}

/// A part of the work: what of which vertices.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) content: Content,
    pub(super) vertices: Range<u32>,
}

/// The chunks of a part. After every chunk `pause` may say that it is enough.
pub(super) fn encode<S: Source>(
    source: &S,
    description: &Description,
    part: Part,
    pause: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<Vec<Encoded>, CheckpointError> {
    match part.content {
        Content::Description => Ok(vec![Encoded {
            content: Content::Description,
            entries: 1,
            first: 0,
            last: 0,
            body: description.encode(),
        }]),
        Content::Vertices => vertices(source, description, part.vertices, pause),
        Content::Edges(label) => {
            with_column!(description.column(label), W => rows::<S, W>(source, description, label, part.vertices, pause))
        }
    }
}

fn vertices<S: Source>(
    source: &S,
    description: &Description,
    range: Range<u32>,
    pause: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<Vec<Encoded>, CheckpointError> {
    let mut chunks = Vec::new();
    let fields = description.catalogue.vertices().fields.len();
    let mut buffer = VertexBuffer::new(description.keys, fields, description.counts.vertex_bound);
    let mut flush = |buffer: &mut VertexBuffer| {
        if let [first, ..] = buffer.ids()
            && let [.., last] = buffer.ids()
        {
            let (first, last) = (u64::from(first.get()), u64::from(last.get()));
            // A buffer has at most 2^16 vertices.
            let entries = buffer.ids().len() as u32;
            let body = buffer.encode();
            chunks.push(Encoded { content: Content::Vertices, entries, first, last, body });
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

fn rows<S: Source, W: Column>(
    source: &S,
    description: &Description,
    label: LabelId,
    range: Range<u32>,
    pause: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<Vec<Encoded>, CheckpointError> {
    let is_undirected = description.topology.is_undirected();
    let content = Content::Edges(label);
    let mut chunks = Vec::new();
    let mut buffer = RowBuffer::new(description.counts.vertex_bound);
    let mut flush = |buffer: &mut RowBuffer| {
        if let Some(range) = buffer.range() {
            // A buffer has at most 2^17 entries.
            let (entries, body) = (buffer.len() as u32, buffer.encode(is_undirected, W::TYPE));
            chunks.push(Encoded { content, entries, first: *range.start(), last: *range.end(), body });
            buffer.clear();
        }
    };
    let mut pushed = Ok(());
    source.rows::<W>(label, range, &mut |owner, neighbours, values| {
        let mut begin = canonical_from(is_undirected, owner, neighbours);
        while begin < neighbours.len() {
            // Records are of any size: after each there may be no more room.
            let most = if W::TYPE == ColumnType::Record { 1 } else { buffer.room() };
            let end = neighbours.len().min(begin + most);
            pushed = buffer.push(owner, &neighbours[begin..end], &values[begin..end]);
            if pushed.is_err() {
                return ControlFlow::Break(());
            }
            if W::TYPE == ColumnType::Record {
                buffer.push_record(&source.record(label, values[begin].to_bits()));
            }
            begin = end;
            if buffer.room() == 0 {
                flush(&mut buffer);
                pause()?;
            }
        }
        ControlFlow::Continue(())
    })?;
    flush(&mut buffer);
    pushed.map(|()| chunks)
}

/// Where the neighbours begin whose edges are stored at `owner`: an undirected edge is, at its smaller end.
fn canonical_from(is_undirected: bool, owner: VertexId, neighbours: &[VertexId]) -> usize {
    if is_undirected { neighbours.partition_point(|neighbour| *neighbour < owner) } else { 0 }
}
