//! Builds rows from edges in any order: scatters their entries to parts of consecutive owners as
//! they come, then places and sorts them part by part.
//!
//! Two passes in memory order replace one with random accesses, and neither needs an atomic: a
//! chunk of the input fills its own pieces, a part its own rows. Entries of one row keep the order
//! of the input until they are sorted, so the last of several can win.

use super::rows::{RowBlock, Rows};
use super::{BuildOptions, Csr, CsrError, Presence};
use hedgerow_model::{Column, CommitTimestamp, Direction, Topology, VertexId};

/// A part has 2^12 owners: its rows are placed in the cache, and an owner takes two bytes.
const OWNER_BITS: u32 = 12;
/// Parts whose rows are built at a time. Their entries are freed before the next are built.
const PARTS_AT_A_TIME: usize = 8;
/// Fewer edges than this are not worth a chunk of their own.
const EDGES_PER_CHUNK: usize = 1 << 16;

/// The treatment of several entries with the same owner and neighbor.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Duplicates {
    /// Keeps all entries.
    Keep,
    /// Keeps the last entry in the order of the input.
    KeepLast,
}

/// The entries of one chunk of the input, by part.
#[derive(Debug)]
pub(super) struct Entries<W>(Vec<Piece<W>>);

/// Entries of one part: owners, counted from the first of the part, their neighbors and values.
#[derive(Debug)]
struct Piece<W> {
    owners: Vec<u16>,
    neighbors: Vec<VertexId>,
    values: Vec<W>,
}

/// Builds a graph from edges that come chunk by chunk.
///
/// ```
/// use hedgerow_kernels::csr::{BuildOptions, CsrBuilder};
/// use hedgerow_model::{GraphView, LabelId, Topology, VertexId};
///
/// let id = VertexId::new;
/// let mut builder = CsrBuilder::new(Topology::Undirected);
/// builder.add(&[(id(0), id(1))], &[0.5]);
/// builder.add(&[(id(1), id(2)), (id(1), id(0))], &[2.0, 1.5]);
/// let graph = builder.finish(3, 3, BuildOptions::default())?;
/// assert_eq!(graph.edge_count(LabelId::DEFAULT).exact(), Some(2));
/// # Ok::<(), hedgerow_kernels::CsrError>(())
/// ```
#[derive(Debug)]
pub struct CsrBuilder<W> {
    topology: Topology,
    out: Vec<Entries<W>>,
    /// The entries of in-neighbors, if the graph has them.
    reverse: Vec<Entries<W>>,
    edges: u64,
    /// A bound above all ends of edges.
    bound: u32,
}

impl<W: Column> CsrBuilder<W> {
    /// A builder of a graph without edges.
    #[must_use]
    pub fn new(topology: Topology) -> Self {
        CsrBuilder { topology, out: Vec::new(), reverse: Vec::new(), edges: 0, bound: 0 }
    }

    /// Adds edges with their values, after those that were added before: of several values for one
    /// edge the last one wins, and in an undirected graph an edge may come from either end.
    /// O(edges).
    ///
    /// # Panics
    /// There are not as many values as edges.
    pub fn add(&mut self, edges: &[(VertexId, VertexId)], values: &[W]) {
        assert_eq!(edges.len(), values.len(), "a value for each edge");
        let last = edges.iter().map(|(source, destination)| source.max(destination)).max();
        self.bound = self.bound.max(last.map_or(0, |last| last.get() + 1));
        let edge =
            |((source, destination), value): (&(VertexId, VertexId), &W)| (*source, *destination, *value);
        self.push([entries_of(|| edges.iter().zip(values).map(edge), self.topology)], edges.len());
    }

    fn push(&mut self, chunks: impl IntoIterator<Item = [Entries<W>; 2]>, edges: usize) {
        for [out, reverse] in chunks {
            self.out.push(out);
            self.reverse.push(reverse);
        }
        self.edges += edges as u64;
    }

    /// Bytes of the edges so far: 6 and those of a value for each direction that is stored, and for
    /// both ends of an undirected edge. O(1).
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.entries() * entry_bytes::<W>() * self.topology.directions().len() as u64
    }

    /// An upper bound of the bytes of the graph that [`finish`](Self::finish) makes. O(1).
    #[must_use]
    pub fn finished_bytes(&self, vertex_bound: u32) -> u64 {
        let bound = vertex_bound.max(self.bound);
        rows_bytes::<W>(bound, self.entries() as usize) * self.topology.directions().len() as u64
    }

    /// An upper bound of the entries in one direction.
    fn entries(&self) -> u64 {
        if self.topology.is_undirected() { 2 * self.edges } else { self.edges }
    }

    /// Builds the graph. All ids below `vertex_bound` are vertices; a bound that is not above all
    /// ends of edges is raised. O(vertices + edges), plus sorting the rows.
    ///
    /// `vertex_count` is less than the bound if not all of these vertices are to stay: then the ids
    /// may be too sparse.
    ///
    /// # Errors
    /// [`CsrError::Memory`] if the arrays do not fit; [`CsrError::Cancelled`].
    pub fn finish(
        self,
        vertex_bound: u32,
        vertex_count: u64,
        options: BuildOptions<'_>,
    ) -> Result<Csr, CsrError> {
        let (topology, vertex_bound) = (self.topology, vertex_bound.max(self.bound));
        options.memory.check(self.finished_bytes(vertex_bound), vertex_bound, vertex_count)?;
        let out = rows_of(vertex_bound, self.out, Duplicates::KeepLast, options)?;
        let has_reverse = topology.stored(Direction::In) == Some(Direction::In);
        let reverse = || rows_of(vertex_bound, self.reverse, Duplicates::KeepLast, options);
        let reverse = has_reverse.then(reverse).transpose()?;
        Ok(Csr {
            timestamp: CommitTimestamp::ZERO,
            topology,
            presence: Presence::All,
            vertex_count: u64::from(out.vertex_bound()),
            edge_count: out.edge_count(topology),
            column: W::TYPE,
            out,
            reverse,
        })
    }
}

impl Csr {
    /// Builds a graph of these edges, without values. Every id below `vertex_bound` is a vertex.
    ///
    /// The edges may come in any order, duplicates are one edge, and in an undirected graph an edge
    /// may come from either end. O(vertices + edges), plus sorting the rows.
    ///
    /// # Errors
    /// [`CsrError::VertexOutOfRange`] names the first edge with an end at or above `vertex_bound`;
    /// [`CsrError::Memory`] if the arrays do not fit; [`CsrError::Cancelled`].
    pub fn from_edges(
        vertex_bound: u32,
        topology: Topology,
        edges: &[(VertexId, VertexId)],
        options: BuildOptions<'_>,
    ) -> Result<Csr, CsrError> {
        build(vertex_bound, topology, edges, |&(source, destination)| (source, destination, ()), options)
    }

    /// Builds a graph of edges with values; of several values for one edge the last one wins.
    ///
    /// # Errors
    /// See [`Csr::from_edges`].
    pub fn from_valued_edges<W: Column>(
        vertex_bound: u32,
        topology: Topology,
        edges: &[(VertexId, VertexId, W)],
        options: BuildOptions<'_>,
    ) -> Result<Csr, CsrError> {
        build(vertex_bound, topology, edges, |edge| *edge, options)
    }
}

fn build<E: Sync, W: Column>(
    vertex_bound: u32,
    topology: Topology,
    edges: &[E],
    parts: impl Fn(&E) -> (VertexId, VertexId, W) + Sync,
    options: BuildOptions<'_>,
) -> Result<Csr, CsrError> {
    check_ends(vertex_bound, edges, &parts)?;
    let entries = if topology.is_undirected() { 2 * edges.len() } else { edges.len() };
    let needed = build_bytes::<W>(vertex_bound, entries) * topology.directions().len() as u64;
    options.memory.check(needed, vertex_bound, u64::from(vertex_bound))?;
    let chunk_length = edges.len().div_ceil(options.parts()).max(EDGES_PER_CHUNK);
    let chunks = edges.chunks(chunk_length).collect();
    let entries_of = |chunk: &[E]| Ok(entries_of(|| chunk.iter().map(&parts), topology));
    let entries = options.map_chunks(chunks, entries_of)?;
    let mut builder = CsrBuilder::new(topology);
    builder.push(entries, edges.len());
    builder.finish(vertex_bound, vertex_bound.into(), options)
}

fn check_ends<E, W>(
    vertex_bound: u32,
    edges: &[E],
    parts: impl Fn(&E) -> (VertexId, VertexId, W),
) -> Result<(), CsrError> {
    for (edge, (source, destination, _)) in edges.iter().map(parts).enumerate() {
        let vertex = source.max(destination);
        if vertex.get() >= vertex_bound {
            return Err(CsrError::VertexOutOfRange { edge, vertex, vertex_bound });
        }
    }
    Ok(())
}

/// The entries of edges: those of out-neighbors and, if the graph has them, of in-neighbors.
fn entries_of<W: Column, I: Iterator<Item = (VertexId, VertexId, W)>>(
    edges: impl Fn() -> I,
    topology: Topology,
) -> [Entries<W>; 2] {
    let entries = |direction: Direction| {
        let mut counts: Vec<usize> = Vec::new();
        for_each_entry(edges(), (topology, direction), |owner, _, _| {
            let part = part_of(owner);
            if part >= counts.len() {
                counts.resize(part + 1, 0);
            }
            counts[part] += 1;
        });
        let mut entries = Entries(counts.into_iter().map(Piece::with_capacity).collect());
        let push = |owner, neighbor, value| entries.push(owner, neighbor, value);
        for_each_entry(edges(), (topology, direction), push);
        entries
    };
    let has_reverse = topology.stored(Direction::In) == Some(Direction::In);
    [entries(Direction::Out), if has_reverse { entries(Direction::In) } else { Entries::new() }]
}

/// Visits owner, neighbor and value of the entries of edges in one direction.
#[inline]
fn for_each_entry<W: Copy>(
    edges: impl Iterator<Item = (VertexId, VertexId, W)>,
    (topology, direction): (Topology, Direction),
    mut visit: impl FnMut(VertexId, VertexId, W),
) {
    for (source, destination, value) in edges {
        match direction {
            Direction::In => visit(destination, source, value),
            Direction::Out if topology.is_undirected() && source != destination => {
                visit(source, destination, value);
                visit(destination, source, value);
            }
            Direction::Out => visit(source, destination, value),
        }
    }
}

impl<W: Column> Entries<W> {
    pub(super) fn new() -> Self {
        Entries(Vec::new())
    }

    #[inline]
    pub(super) fn push(&mut self, owner: VertexId, neighbor: VertexId, value: W) {
        let part = part_of(owner);
        if part >= self.0.len() {
            self.0.resize_with(part + 1, || Piece::with_capacity(0));
        }
        let piece = &mut self.0[part];
        piece.owners.push((owner.get() % (1 << OWNER_BITS)) as u16);
        piece.neighbors.push(neighbor);
        piece.values.push(value);
    }
}

impl<W> Piece<W> {
    fn with_capacity(entries: usize) -> Self {
        let (owners, neighbors) = (Vec::with_capacity(entries), Vec::with_capacity(entries));
        Piece { owners, neighbors, values: Vec::with_capacity(entries) }
    }
}

fn part_of(owner: VertexId) -> usize {
    owner.index() >> OWNER_BITS
}

/// The rows of the entries that `emit` pushes for every chunk.
pub(super) fn rows_by_owner<C: Send, W: Column>(
    vertex_bound: u32,
    chunks: Vec<C>,
    duplicates: Duplicates,
    options: BuildOptions<'_>,
    emit: impl Fn(C, &mut Entries<W>) -> Result<(), CsrError> + Sync,
) -> Result<Rows, CsrError> {
    let entries = options.map_chunks(chunks, |chunk| {
        let mut entries = Entries::new();
        emit(chunk, &mut entries)?;
        Ok(entries)
    })?;
    rows_of(vertex_bound, entries, duplicates, options)
}

/// The rows of entries, given chunk by chunk in the order of the input.
fn rows_of<W: Column>(
    vertex_bound: u32,
    chunks: Vec<Entries<W>>,
    duplicates: Duplicates,
    options: BuildOptions<'_>,
) -> Result<Rows, CsrError> {
    let count = chunks.iter().flat_map(|Entries(pieces)| pieces).map(|piece| piece.owners.len()).sum();
    let parts = chunks.iter().map(|Entries(pieces)| pieces.len()).max().unwrap_or(0);
    let mut chunks: Vec<_> = chunks.into_iter().map(|Entries(pieces)| pieces.into_iter()).collect();
    let mut rows = Rows::with_capacity(vertex_bound, W::TYPE, count);
    for first in (0..parts).step_by(PARTS_AT_A_TIME) {
        let part = |part| (part, chunks.iter_mut().filter_map(Iterator::next).collect());
        let parts = (first..parts.min(first + PARTS_AT_A_TIME)).map(part).collect();
        let blocks = options.map_chunks(parts, |(part, pieces)| Ok(block(part, pieces, duplicates)))?;
        blocks.into_iter().for_each(|block| rows.append(&block));
    }
    Ok(rows.up_to(vertex_bound))
}

/// The rows of the owners of a part.
fn block<W: Column>(part: usize, pieces: Vec<Piece<W>>, duplicates: Duplicates) -> RowBlock {
    let (ends, mut placed) = place(&pieces);
    drop(pieces);
    let first = (part << OWNER_BITS) as u32;
    let owners = first..first + ends.len() as u32;
    let mut block = RowBlock::new(owners.clone(), W::TYPE, placed.len());
    let mut start = 0;
    for (owner, end) in owners.map(VertexId::new).zip(ends) {
        let row = &mut placed[start..end];
        sort_row(row);
        for (position, (neighbor, value)) in row.iter().enumerate() {
            let again = row.get(position + 1).is_some_and(|(next, _)| next == neighbor);
            if !again || duplicates == Duplicates::Keep {
                block.push(owner, *neighbor, *value);
            }
        }
        start = end;
    }
    block
}

/// The end of the row of each owner up to the last that has neighbors, and the rows, in the order
/// of the input.
fn place<W: Column>(pieces: &[Piece<W>]) -> (Vec<usize>, Vec<(VertexId, W)>) {
    let mut next = vec![0; 1 << OWNER_BITS];
    let owners = pieces.iter().flat_map(|piece| &piece.owners);
    owners.for_each(|owner| next[usize::from(*owner)] += 1);
    let used = next.iter().rposition(|degree| *degree > 0).map_or(0, |last| last + 1);
    next.truncate(used);
    let mut start = 0;
    for degree in &mut next {
        start += std::mem::replace(degree, start);
    }
    let mut placed = vec![(VertexId::default(), W::default()); start];
    for Piece { owners, neighbors, values } in pieces {
        for ((owner, neighbor), value) in owners.iter().zip(neighbors).zip(values) {
            let slot = &mut next[usize::from(*owner)];
            placed[*slot] = (*neighbor, *value);
            *slot += 1;
        }
    }
    (next, placed)
}

/// Sorts by neighbor; stable.
pub(super) fn sort_row<W>(row: &mut [(VertexId, W)]) {
    if row.is_sorted_by_key(|(neighbor, _)| *neighbor) {
        return;
    }
    match size_of::<W>() {
        // Equal entries are the same.
        0 => row.sort_unstable_by_key(|(neighbor, _)| *neighbor),
        _ => row.sort_by_key(|(neighbor, _)| *neighbor),
    }
}

/// Bytes of finished rows.
pub(super) fn rows_bytes<W: Column>(vertex_bound: u32, entries: usize) -> u64 {
    let entry = size_of::<VertexId>() + W::TYPE.width();
    (u64::from(vertex_bound) + 1) * size_of::<u64>() as u64 + (entries * entry) as u64
}

/// Peak bytes while building rows by owner: entries, and finished rows.
pub(super) fn build_bytes<W: Column>(vertex_bound: u32, entries: usize) -> u64 {
    entries as u64 * entry_bytes::<W>() + rows_bytes::<W>(vertex_bound, entries)
}

/// Bytes of an entry before its row exists.
fn entry_bytes<W>() -> u64 {
    (size_of::<u16>() + size_of::<VertexId>() + size_of::<W>()) as u64
}
