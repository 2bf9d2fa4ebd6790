//! The shortest paths from one source, and the dependency of every vertex on them.
//!
//! Levels are found one after the other and kept ascending by id. The paths to a vertex are always
//! added in the order of its in-neighbors, in one of three ways: one thread pushes from the
//! previous level; threads read the in-neighbors of the vertices found; or they read the
//! in-neighbors of all vertices not found yet. So the sums are identical to the bit.

use crate::both_ways::{SortedRows, distinct};
use crate::ranges::covering_ranges;
use crate::{Execution, KernelError};
use hedgerow_model::{Adjacency, Cursor, VertexId};
use hedgerow_sync::atomic::{AtomicU32, AtomicU64, Ordering};

const UNREACHED: u32 = u32::MAX;

/// Levels with fewer neighbors than this are not worth waking other threads for.
const SMALL_LEVEL: u64 = 4096;

/// The graph to search.
pub(super) struct SearchedGraph<'a, O, I> {
    pub(super) outgoing: &'a O,
    pub(super) incoming: &'a I,
    /// Total number of neighbors of all vertices.
    pub(super) entries: u64,
    pub(super) vertex_count: u64,
}

/// Arrays for consecutive searches. Atomic accesses are relaxed: threads that work on one level
/// write entries of disjoint vertices of that level, and read entries of the previous level.
pub(super) struct PathSearch {
    depths: Vec<AtomicU32>,
    /// The number of shortest paths to a vertex, as the bits of a float.
    paths: Vec<AtomicU64>,
    /// The dependency that a vertex passes back along each of its paths: 1 plus its own dependency,
    /// divided by the number of its paths.
    returns: Vec<AtomicU64>,
    /// The vertices that were found, level by level, each level ascending.
    found: Vec<VertexId>,
    /// The start of each level in `found`, and the end of the last one.
    starts: Vec<usize>,
    /// Parallel to `found`: the share of the shortest paths from the source that pass through a
    /// vertex, summed over their ends.
    dependencies: Vec<f64>,
}

#[inline]
fn load(array: &[AtomicU64], vertex: VertexId) -> f64 {
    f64::from_bits(array[vertex.index()].load(Ordering::Relaxed))
}

#[inline]
fn store(array: &[AtomicU64], vertex: VertexId, value: f64) {
    array[vertex.index()].store(value.to_bits(), Ordering::Relaxed);
}

impl PathSearch {
    pub(super) fn new(vertex_bound: u32) -> Self {
        let zeros = || (0..vertex_bound).map(|_| AtomicU64::new(0)).collect();
        PathSearch {
            depths: (0..vertex_bound).map(|_| AtomicU32::new(UNREACHED)).collect(),
            paths: zeros(),
            returns: zeros(),
            found: Vec::new(),
            starts: Vec::new(),
            dependencies: Vec::new(),
        }
    }

    pub(super) fn vertex_bound(&self) -> u32 {
        self.depths.len() as u32
    }

    /// Searches from `source`, which exists. Returns the number of neighbors examined.
    pub(super) fn run<O: Adjacency, I: Adjacency>(
        &mut self,
        source: VertexId,
        edges: &SearchedGraph<'_, O, I>,
        execution: Execution<'_>,
    ) -> Result<u64, KernelError> {
        for vertex in self.found.drain(..) {
            *self.depths[vertex.index()].get_mut() = UNREACHED;
        }
        let mut forward = Forward { search: self, edges, execution, source, depth: 0, examined: 0 };
        forward.run()?;
        let examined = forward.examined;
        Ok(examined + self.pass_back(edges.outgoing, execution)?)
    }

    /// Adds the results of the last search to the scores of all vertices but its source.
    pub(super) fn add_to(&self, scores: &mut [f64]) {
        for (vertex, dependency) in self.found.iter().zip(&self.dependencies).skip(1) {
            scores[vertex.index()] += dependency;
        }
    }

    #[inline]
    fn depth(&self, vertex: VertexId) -> u32 {
        self.depths[vertex.index()].load(Ordering::Relaxed)
    }

    /// Computes dependencies from the last level to the first: the dependency of a vertex is the
    /// sum over its successors of `returns`, times the number of paths to the vertex.
    fn pass_back(&mut self, outgoing: &impl Adjacency, execution: Execution<'_>) -> Result<u64, KernelError> {
        let mut dependencies = std::mem::take(&mut self.dependencies);
        dependencies.clear();
        dependencies.resize(self.found.len(), 0.0);
        let (search, mut examined) = (&*self, 0);
        // Nothing depends on the last level, and dependencies on the source are not counted.
        let last_level = &search.found[search.starts[search.starts.len() - 2]..];
        last_level.iter().for_each(|vertex| search.set_dependency(*vertex, 0.0));
        for depth in (1..search.starts.len() - 2).rev() {
            let level = search.starts[depth]..search.starts[depth + 1];
            let vertices = &search.found[level.clone()];
            let size = chunk_size(vertices.len(), execution);
            let chunks = vertices.chunks(size).zip(dependencies[level].chunks_mut(size)).collect();
            let looked = execution.map_chunks(chunks, |(vertices, dependencies)| {
                let (mut rows, mut looked) = (SortedRows::new(outgoing), 0);
                for (position, vertex) in vertices.iter().enumerate() {
                    execution.check_cancelled()?;
                    rows.ask_ahead(&vertices[position..]);
                    let row = rows.of(*vertex)?;
                    looked += row.len() as u64;
                    // Adds 0 for other neighbors, so that no branch depends on which neighbor is a
                    // successor.
                    let returned = distinct(row).map(|other| {
                        let is_successor = search.depth(other) == depth as u32 + 1;
                        if is_successor { load(&search.returns, other) } else { 0.0 }
                    });
                    dependencies[position] = load(&search.paths, *vertex) * returned.sum::<f64>();
                    search.set_dependency(*vertex, dependencies[position]);
                }
                Ok(looked)
            })?;
            examined += looked.into_iter().sum::<u64>();
        }
        self.dependencies = dependencies;
        Ok(examined)
    }

    fn set_dependency(&self, vertex: VertexId, dependency: f64) {
        store(&self.returns, vertex, (1.0 + dependency) / load(&self.paths, vertex));
    }
}

fn chunk_size(vertices: usize, execution: Execution<'_>) -> usize {
    let parts = if (vertices as u64) < SMALL_LEVEL { 1 } else { execution.parts() };
    vertices.div_ceil(parts).max(1)
}

/// The forward phase of a search.
struct Forward<'s, O, I> {
    search: &'s mut PathSearch,
    edges: &'s SearchedGraph<'s, O, I>,
    execution: Execution<'s>,
    source: VertexId,
    /// The depth of the level that was found last.
    depth: u32,
    examined: u64,
}

impl<O: Adjacency, I: Adjacency> Forward<'_, O, I> {
    fn run(&mut self) -> Result<(), KernelError> {
        let source = self.source;
        self.search.depths[source.index()].store(0, Ordering::Relaxed);
        store(&self.search.paths, source, 1.0);
        self.search.found.push(source);
        self.search.starts.clear();
        self.search.starts.extend([0, 1]);
        let mut unexplored = self.edges.entries;
        loop {
            let level = &self.search.found[self.search.starts[self.depth as usize]..];
            let neighbors = self.neighbors_of(level)?;
            unexplored = unexplored.saturating_sub(neighbors);
            let (next, examined) = if neighbors > unexplored {
                self.pull()?
            } else if neighbors < SMALL_LEVEL || self.execution.threads() == 1 {
                self.push(level)?
            } else {
                self.claim(level)?
            };
            self.examined += examined;
            if next.is_empty() {
                return Ok(());
            }
            self.search.found.extend(next);
            self.search.starts.push(self.search.found.len());
            self.depth += 1;
        }
    }

    /// The number of neighbors of a level, an estimate where degrees would have to be counted.
    fn neighbors_of(&self, level: &[VertexId]) -> Result<u64, KernelError> {
        if !O::DEGREE_IS_O1 {
            return Ok(level.len() as u64 * self.edges.entries / self.edges.vertex_count.max(1));
        }
        let size = chunk_size(level.len(), self.execution);
        let sums = self.execution.map_chunks(level.chunks(size).collect(), |chunk: &[VertexId]| {
            let mut cursor = self.edges.outgoing.cursor();
            let mut degree = |vertex: &VertexId| cursor.degree(*vertex).map_err(KernelError::from);
            chunk.iter().try_fold(0, |sum, vertex| Ok::<_, KernelError>(sum + degree(vertex)? as u64))
        })?;
        Ok(sums.into_iter().sum())
    }

    /// Finds the next level with one thread, which visits `level` in order.
    fn push(&self, level: &[VertexId]) -> Result<(Vec<VertexId>, u64), KernelError> {
        let (search, depth) = (&*self.search, self.depth + 1);
        let (mut rows, mut next, mut examined) = (SortedRows::new(self.edges.outgoing), Vec::new(), 0);
        for (position, vertex) in level.iter().enumerate() {
            self.execution.check_cancelled()?;
            rows.ask_ahead(&level[position..]);
            let (row, paths) = (rows.of(*vertex)?, load(&search.paths, *vertex));
            examined += row.len() as u64;
            for neighbor in distinct(row) {
                match search.depth(neighbor) {
                    UNREACHED => {
                        search.depths[neighbor.index()].store(depth, Ordering::Relaxed);
                        store(&search.paths, neighbor, paths);
                        next.push(neighbor);
                    }
                    of_next if of_next == depth => {
                        store(&search.paths, neighbor, load(&search.paths, neighbor) + paths);
                    }
                    _ => {}
                }
            }
        }
        next.sort_unstable();
        next.iter().try_for_each(|vertex| self.check(load(&search.paths, *vertex)))?;
        Ok((next, examined))
    }

    /// Finds the next level with many threads: first its vertices, from the neighbors of `level`,
    /// then their paths.
    fn claim(&self, level: &[VertexId]) -> Result<(Vec<VertexId>, u64), KernelError> {
        let (search, depth) = (&*self.search, self.depth + 1);
        let chunks = level.chunks(chunk_size(level.len(), self.execution)).collect();
        let claimed = self.execution.map_chunks(chunks, |chunk: &[VertexId]| {
            let (mut rows, mut claimed, mut looked) = (SortedRows::new(self.edges.outgoing), Vec::new(), 0);
            for (position, vertex) in chunk.iter().enumerate() {
                self.execution.check_cancelled()?;
                rows.ask_ahead(&chunk[position..]);
                let row = rows.of(*vertex)?;
                looked += row.len() as u64;
                claimed.extend(row.iter().filter(|neighbor| {
                    let slot = &search.depths[neighbor.index()];
                    let exchange =
                        || slot.compare_exchange(UNREACHED, depth, Ordering::Relaxed, Ordering::Relaxed);
                    slot.load(Ordering::Relaxed) == UNREACHED && exchange().is_ok()
                }));
            }
            Ok((claimed, looked))
        })?;
        let mut examined = claimed.iter().map(|(_, looked)| looked).sum::<u64>();
        let mut next: Vec<_> = claimed.into_iter().flat_map(|(claimed, _)| claimed).collect();
        next.sort_unstable();
        let chunks = next.chunks(chunk_size(next.len(), self.execution)).collect();
        let looked = self.execution.map_chunks(chunks, |chunk: &[VertexId]| {
            let (mut rows, mut looked) = (SortedRows::new(self.edges.incoming), 0);
            for (position, vertex) in chunk.iter().enumerate() {
                self.execution.check_cancelled()?;
                rows.ask_ahead(&chunk[position..]);
                let row = rows.of(*vertex)?;
                looked += row.len() as u64;
                store(&search.paths, *vertex, self.paths_to(row)?);
            }
            Ok(looked)
        })?;
        examined += looked.into_iter().sum::<u64>();
        Ok((next, examined))
    }

    /// Finds the next level from the in-neighbors of all vertices not found yet.
    fn pull(&self) -> Result<(Vec<VertexId>, u64), KernelError> {
        let search = &*self.search;
        let ranges = covering_ranges(self.edges.incoming, self.execution.parts(), search.vertex_bound())?;
        let found = self.execution.map_chunks(ranges, |range| {
            let (mut rows, mut found, mut looked) = (SortedRows::new(self.edges.incoming), Vec::new(), 0);
            for vertex in range.map(VertexId::new).filter(|vertex| search.depth(*vertex) == UNREACHED) {
                self.execution.check_cancelled()?;
                let row = rows.of(vertex)?;
                looked += row.len() as u64;
                let paths = self.paths_to(row)?;
                if paths > 0.0 {
                    search.depths[vertex.index()].store(self.depth + 1, Ordering::Relaxed);
                    store(&search.paths, vertex, paths);
                    found.push(vertex);
                }
            }
            Ok((found, looked))
        })?;
        let examined = found.iter().map(|(_, looked)| looked).sum();
        Ok((found.into_iter().flat_map(|(found, _)| found).collect(), examined))
    }

    /// The number of paths to a vertex with these in-neighbors: the sum over the in-neighbors in
    /// the last level.
    #[inline]
    fn paths_to(&self, row: &[VertexId]) -> Result<f64, KernelError> {
        let search = &*self.search;
        let paths = distinct(row).map(|other| {
            let is_before = search.depth(other) == self.depth;
            if is_before { load(&search.paths, other) } else { 0.0 }
        });
        let paths = paths.sum();
        self.check(paths)?;
        Ok(paths)
    }

    fn check(&self, paths: f64) -> Result<(), KernelError> {
        if paths.is_finite() { Ok(()) } else { Err(KernelError::TooManyPaths(self.source)) }
    }
}
