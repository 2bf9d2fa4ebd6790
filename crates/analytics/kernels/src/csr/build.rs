//! Builds rows from entries in any order: distributes them to buckets of owners, then counts,
//! places and sorts them bucket by bucket.
//!
//! Two passes in memory order replace one with random accesses, and neither needs an atomic: a
//! chunk of the input writes its own buckets, a bucket its own rows. Entries of one row keep the
//! order of the input until they are sorted, so the last of several can win.

use super::rows::{RowBlock, Rows};
use super::{BuildOptions, Csr, CsrError, Presence};
use hedgerow_model::{Column, CommitTimestamp, Direction, Topology, VertexId};
use std::ops::Range;

/// Maximum number of buckets, whose width is a power of two, so that finding one is a shift.
const MOST_BUCKETS: u32 = 256;
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

/// A neighbor to be placed in its row.
#[derive(Clone, Copy)]
struct UnplacedEntry<W> {
    owner: VertexId,
    neighbor: VertexId,
    value: W,
}

/// The entries of one chunk of the input, by bucket.
pub(super) struct EntryBuckets<W> {
    shift: u32,
    entries: Vec<Vec<UnplacedEntry<W>>>,
}

impl<W: Column> EntryBuckets<W> {
    fn new(vertex_bound: u32) -> Self {
        let shift = vertex_bound.div_ceil(MOST_BUCKETS).next_power_of_two().trailing_zeros();
        let buckets = vertex_bound.div_ceil(1 << shift) as usize;
        EntryBuckets { shift, entries: (0..buckets).map(|_| Vec::new()).collect() }
    }

    #[inline]
    pub(super) fn push(&mut self, owner: VertexId, neighbor: VertexId, value: W) {
        self.entries[owner.index() >> self.shift].push(UnplacedEntry { owner, neighbor, value });
    }

    /// The owners whose entries are in the bucket at `position`.
    fn owners(&self, position: usize, vertex_bound: u32) -> Range<u32> {
        let owners = |position: usize| ((position as u64) << self.shift).min(u64::from(vertex_bound)) as u32;
        owners(position)..owners(position + 1)
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
    let directions = topology.directions().len() as u64;
    let needed =
        build_bytes::<W>(vertex_bound, entries) + (directions - 1) * rows_bytes::<W>(vertex_bound, entries);
    options.memory.check(needed, vertex_bound, u64::from(vertex_bound))?;

    let chunk_length = edges.len().div_ceil(options.parts()).max(EDGES_PER_CHUNK);
    let rows_of = |direction: Direction| {
        let chunks = edges.chunks(chunk_length).collect();
        rows_by_owner(vertex_bound, chunks, Duplicates::KeepLast, options, |chunk: &[E], buckets| {
            for (source, destination, value) in chunk.iter().map(&parts) {
                match direction {
                    Direction::Out => buckets.push(source, destination, value),
                    Direction::In => buckets.push(destination, source, value),
                }
                if topology.is_undirected() && source != destination {
                    buckets.push(destination, source, value);
                }
            }
            Ok(())
        })
    };
    let out = rows_of(Direction::Out)?;
    let reverse = topology.stored(Direction::In) == Some(Direction::In);
    let reverse = reverse.then(|| rows_of(Direction::In)).transpose()?;
    Ok(Csr {
        timestamp: CommitTimestamp::ZERO,
        topology,
        presence: Presence::All,
        vertex_count: u64::from(vertex_bound),
        edge_count: out.edge_count(topology),
        column: W::TYPE,
        out,
        reverse,
    })
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

/// The rows of the entries that `emit` pushes for every chunk.
pub(super) fn rows_by_owner<C: Send, W: Column>(
    vertex_bound: u32,
    chunks: Vec<C>,
    duplicates: Duplicates,
    options: BuildOptions<'_>,
    emit: impl Fn(C, &mut EntryBuckets<W>) -> Result<(), CsrError> + Sync,
) -> Result<Rows, CsrError> {
    let filled = options.map_chunks(chunks, |chunk| {
        let mut buckets = EntryBuckets::new(vertex_bound);
        emit(chunk, &mut buckets)?;
        Ok(buckets)
    })?;
    let buckets = by_owners(filled, vertex_bound);
    let blocks = options.map_chunks(buckets, |bucket| Ok(bucket.into_block(duplicates)))?;
    Ok(Rows::concatenate(vertex_bound, W::TYPE, blocks))
}

/// Collects equal buckets of all chunks; lists stay in the order of their chunks.
fn by_owners<W: Column>(filled: Vec<EntryBuckets<W>>, vertex_bound: u32) -> Vec<Bucket<W>> {
    let all = EntryBuckets::<W>::new(vertex_bound);
    let owners = (0..all.entries.len()).map(|position| all.owners(position, vertex_bound));
    let mut buckets: Vec<_> = owners.map(|owners| Bucket { owners, lists: Vec::new() }).collect();
    for chunk in filled {
        for (bucket, list) in buckets.iter_mut().zip(chunk.entries) {
            bucket.lists.push(list);
        }
    }
    buckets
}

/// All entries of the consecutive vertices `owners`, one list per chunk of the input.
struct Bucket<W> {
    owners: Range<u32>,
    lists: Vec<Vec<UnplacedEntry<W>>>,
}

impl<W: Column> Bucket<W> {
    /// The rows of the bucket's owners.
    fn into_block(self, duplicates: Duplicates) -> RowBlock {
        let (ends, mut placed) = self.place();
        let mut block = RowBlock::new(self.owners.clone(), W::TYPE, placed.len());
        let mut start = 0;
        for (owner, end) in self.owners.map(VertexId::new).zip(ends) {
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

    /// The end of each owner's row, and the rows, in the order of the input.
    fn place(&self) -> (Vec<usize>, Vec<(VertexId, W)>) {
        let position = |entry: &UnplacedEntry<W>| (entry.owner.get() - self.owners.start) as usize;
        let mut next = vec![0; self.owners.len()];
        self.lists.iter().flatten().for_each(|entry| next[position(entry)] += 1);
        let mut start = 0;
        for degree in &mut next {
            start += std::mem::replace(degree, start);
        }
        let mut placed = vec![(VertexId::default(), W::default()); start];
        for entry in self.lists.iter().flatten() {
            let slot = &mut next[position(entry)];
            placed[*slot] = (entry.neighbor, entry.value);
            *slot += 1;
        }
        (next, placed)
    }
}

/// Sorts by neighbor; stable.
pub(super) fn sort_row<W>(row: &mut [(VertexId, W)]) {
    if !row.is_sorted_by_key(|(neighbor, _)| *neighbor) {
        row.sort_by_key(|(neighbor, _)| *neighbor);
    }
}

/// Bytes of finished rows.
pub(super) fn rows_bytes<W: Column>(vertex_bound: u32, entries: usize) -> u64 {
    let entry = size_of::<VertexId>() + W::TYPE.width();
    (u64::from(vertex_bound) + 1) * size_of::<u64>() as u64 + (entries * entry) as u64
}

/// Peak bytes while building rows by owner: entries in buckets, blocks, finished rows.
pub(super) fn build_bytes<W: Column>(vertex_bound: u32, entries: usize) -> u64 {
    (entries * size_of::<UnplacedEntry<W>>()) as u64 + 2 * rows_bytes::<W>(vertex_bound, entries)
}
