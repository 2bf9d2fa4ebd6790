//! Builds graphs from edges in any order: [scatters](hedgerow_model::scatter) their entries to
//! parts of consecutive owners as they come, then builds the rows part by part.

use super::chunk::{Chunk, Entries, entries_of};
use super::rows::{RowBlock, Rows};
use super::{BuildOptions, Csr, CsrError, Presence};
use hedgerow_model::scatter::{ScatteredEntries, ScatteredPart, ScatteredParts};
use hedgerow_model::{Column, CommitTimestamp, Direction, Topology, VertexId};
use rayon::ThreadPool;

/// Parts whose rows are built at a time. Their entries are freed before the next are built.
const PARTS_AT_A_TIME: usize = 8;
/// Chunks of added edges that may wait for each thread of a pool.
const CHUNKS_PER_THREAD: usize = 2;
/// Fewer edges than this are not worth a chunk of their own.
const EDGES_PER_CHUNK: usize = 1 << 16;

/// The treatment of several entries with the same owner and neighbor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Duplicates {
    /// Keeps all entries.
    Keep,
    /// Keeps the last entry in the order of the input.
    KeepLast,
}

/// Builds a graph from edges that come chunk by chunk.
///
/// ```
/// use hedgerow_kernels::csr::{BuildOptions, CsrBuilder};
/// use hedgerow_model::{GraphView, LabelId, Topology, VertexId};
///
/// let id = VertexId::new;
/// let mut builder = CsrBuilder::new(Topology::Undirected);
/// builder.add(vec![(id(0), id(1))], vec![0.5]);
/// builder.add(vec![(id(1), id(2)), (id(1), id(0))], vec![2.0, 1.5]);
/// let graph = builder.finish(3, 3, BuildOptions::default())?;
/// assert_eq!(graph.edge_count(LabelId::DEFAULT).exact(), Some(2));
/// # Ok::<(), hedgerow_kernels::CsrError>(())
/// ```
#[derive(Debug)]
pub struct CsrBuilder<'p, W> {
    topology: Topology,
    duplicates: Duplicates,
    pool: Option<&'p ThreadPool>,
    chunks: Vec<Chunk<W>>,
    /// The number of chunks whose memory was given back.
    given_back: usize,
    edges: u64,
    /// A bound above all ends of edges.
    bound: u32,
}

impl<'p, W: Column> CsrBuilder<'p, W> {
    /// A builder of a graph without edges.
    #[must_use]
    pub fn new(topology: Topology) -> Self {
        let duplicates = Duplicates::KeepLast;
        CsrBuilder { topology, duplicates, pool: None, chunks: Vec::new(), given_back: 0, edges: 0, bound: 0 }
    }

    /// Lets threads of a pool scatter added edges, while the caller prepares the next ones.
    #[must_use]
    pub fn on(self, pool: Option<&'p ThreadPool>) -> Self {
        CsrBuilder { pool, ..self }
    }

    /// Gives the edges values of another type, before any is added.
    ///
    /// # Panics
    /// Edges were added.
    #[must_use]
    pub fn with_values<V: Column>(self) -> CsrBuilder<'p, V> {
        let CsrBuilder { topology, duplicates, pool, given_back, edges, bound, .. } = self;
        assert_eq!(edges, 0, "edges with other values");
        CsrBuilder { topology, duplicates, pool, chunks: Vec::new(), given_back, edges, bound }
    }

    /// Keeps several edges between two vertices, as repeated neighbors in the order in which they
    /// were added.
    #[must_use]
    pub fn with_duplicates(self) -> Self {
        CsrBuilder { duplicates: Duplicates::Keep, ..self }
    }

    /// Adds edges with their values, after those that were added before: of several values for one
    /// edge the last one wins, and in an undirected graph an edge may come from either end.
    /// Returns an empty list, in the memory of former edges where possible. O(edges).
    ///
    /// # Panics
    /// There are not as many values as edges.
    pub fn add(&mut self, edges: Vec<(VertexId, VertexId)>, values: Vec<W>) -> Vec<(VertexId, VertexId)> {
        assert_eq!(edges.len(), values.len(), "a value for each edge");
        let last = edges.iter().map(|(source, destination)| source.max(destination)).max();
        self.bound = self.bound.max(last.map_or(0, |last| last.get() + 1));
        self.edges += edges.len() as u64;
        self.chunks.push(Chunk::new(self.topology, edges, values, self.pool));
        let most = self.pool.map_or(0, |pool| CHUNKS_PER_THREAD * pool.current_num_threads());
        let mut memory = Vec::new();
        while let Some(chunk) = self.chunks.get(self.given_back) {
            let are_many = self.chunks.len() - self.given_back > most;
            let Some(given_back) = chunk.take_memory(self.topology, are_many) else { break };
            memory = given_back;
            self.given_back += 1;
        }
        memory
    }

    /// Bytes of the edges so far: 6 and those of a value for each direction that is stored, and for
    /// both ends of an undirected edge. Chunks that wait for a thread of the pool, a few for each
    /// thread, take 8 bytes and a value per edge instead. O(1).
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.entries() * ScatteredEntries::<W>::ENTRY_BYTES as u64 * self.topology.directions().len() as u64
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
        let entries = self.chunks.into_iter().map(|chunk| chunk.into_entries(topology).into());
        let (out, reverse): (Vec<_>, Vec<_>) = entries.unzip();
        let out = rows_of(vertex_bound, out, self.duplicates, options)?;
        let has_reverse = topology.stored(Direction::In) == Some(Direction::In);
        let reverse = || rows_of(vertex_bound, reverse, self.duplicates, options);
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
    let entries: Vec<Entries<W>> = options.map_chunks(chunks, entries_of)?;
    let mut builder = CsrBuilder::new(topology);
    builder.edges = edges.len() as u64;
    builder.chunks = entries.into_iter().map(Chunk::of).collect();
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

/// The rows of the entries that `emit` pushes for every chunk.
pub(super) fn rows_by_owner<C: Send, W: Column>(
    vertex_bound: u32,
    chunks: Vec<C>,
    duplicates: Duplicates,
    options: BuildOptions<'_>,
    emit: impl Fn(C, &mut ScatteredEntries<W>) -> Result<(), CsrError> + Sync,
) -> Result<Rows, CsrError> {
    let entries = options.map_chunks(chunks, |chunk| {
        let mut entries = ScatteredEntries::new();
        emit(chunk, &mut entries)?;
        Ok(entries)
    })?;
    rows_of(vertex_bound, entries, duplicates, options)
}

/// The rows of entries, given chunk by chunk in the order of the input.
fn rows_of<W: Column>(
    vertex_bound: u32,
    chunks: Vec<ScatteredEntries<W>>,
    duplicates: Duplicates,
    options: BuildOptions<'_>,
) -> Result<Rows, CsrError> {
    let mut parts = ScatteredParts::new(chunks);
    let mut rows = Rows::with_capacity(vertex_bound, W::TYPE, parts.entries());
    loop {
        let some = parts.take(PARTS_AT_A_TIME);
        if some.is_empty() {
            return Ok(rows.up_to(vertex_bound));
        }
        let blocks = options.map_chunks(some, |part| Ok(block(part, duplicates)))?;
        blocks.into_iter().for_each(|block| rows.append(&block));
    }
}

/// The rows of the owners of a part.
fn block<W: Column>(part: ScatteredPart<W>, duplicates: Duplicates) -> RowBlock {
    let mut rows = part.into_rows();
    let mut block = RowBlock::new(rows.owners(), W::TYPE, rows.len());
    let push = |owner, neighbor, value: &W| block.push(owner, neighbor, *value);
    match duplicates {
        Duplicates::Keep => rows.each(push),
        Duplicates::KeepLast => rows.each_last(push),
    }
    block
}

/// Bytes of finished rows.
pub(super) fn rows_bytes<W: Column>(vertex_bound: u32, entries: usize) -> u64 {
    let entry = size_of::<VertexId>() + W::TYPE.width();
    (u64::from(vertex_bound) + 1) * size_of::<u64>() as u64 + (entries * entry) as u64
}

/// Peak bytes while building rows by owner: entries, and finished rows.
pub(super) fn build_bytes<W: Column>(vertex_bound: u32, entries: usize) -> u64 {
    entries as u64 * ScatteredEntries::<W>::ENTRY_BYTES as u64 + rows_bytes::<W>(vertex_bound, entries)
}
