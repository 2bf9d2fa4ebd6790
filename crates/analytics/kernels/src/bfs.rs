//! Breadth-first search that chooses its direction level by level.
//!
//! While few vertices are on the frontier, their neighbors are read (top-down). While many are,
//! every vertex that is not reached yet looks for an in-neighbor on the frontier and stops at the
//! first (bottom-up), which skips most edges of a graph with small diameter. See
//! "Direction-Optimizing Breadth-First Search" (SC 2012), sections 3 to 5; the defaults of alpha
//! and beta are the values of the GAP benchmark suite.

use crate::bitmap::{AtomicBitmap, ones};
use crate::block_rows::{dense_range, is_dense, scan_rows, sort_for};
use crate::kernel::check_exists;
use crate::ranges::covering_ranges;
use crate::{Execution, Kernel, KernelError, Parents, Progress};
use hedgerow_model::{Adjacency, Cursor, Direction, GraphView, LabelId, VertexId};
use hedgerow_sync::atomic::{AtomicU32, Ordering};
use std::ops::{ControlFlow, Range};
use std::time::{Duration, Instant};

/// Frontiers with fewer neighbors than this are not worth waking other threads for.
const SMALL_FRONTIER: u64 = 4096;
/// Neighbors are prefetched this far ahead, in vertices.
const PREFETCHED: usize = 8;
/// Minimum number of consecutive vertices whose row positions share a cache line.
const PLACES_PER_LINE: usize = 16;

/// Computes the distance of every vertex from a source, in edges.
///
/// Follows out-edges; in an undirected graph all edges. Bottom-up levels need in-neighbors: a
/// directed view without reverse adjacency is searched top-down only.
#[derive(Clone, Copy, Debug)]
pub struct Bfs<'a> {
    /// The vertex where the search starts.
    pub source: VertexId,
    /// The edges to follow.
    pub label: LabelId,
    /// Bottom-up begins when the frontier has more than 1/alpha of the edges that no frontier has
    /// had yet. 0 means never.
    pub alpha: u32,
    /// Bottom-up ends when the frontier shrinks and has at most 1/beta of the vertex bound. 0 means
    /// as soon as it shrinks.
    pub beta: u32,
    /// Finds the [parents](BfsResult::parents), by one more pass over the edges.
    pub parents: bool,
    /// The execution options.
    pub execution: Execution<'a>,
}

/// The result of a [`Bfs`]. All but `elapsed` is identical for any number of threads.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BfsResult {
    /// The number of edges on a shortest path from the source to each vertex id, or
    /// [`Bfs::UNREACHED`].
    pub depths: Vec<u32>,
    /// Vertices reached, the source included.
    pub reached: u64,
    /// Different depths: one more than the largest.
    pub levels: u32,
    /// Levels that were found bottom-up.
    pub bottom_up_levels: u32,
    /// Neighbors examined.
    pub edges_examined: u64,
    /// The tree of shortest paths, if requested.
    pub parents: Option<Parents>,
    /// Total time.
    pub elapsed: Duration,
}

impl Bfs<'_> {
    /// The depth of a vertex that cannot be reached, and of an id without a vertex.
    pub const UNREACHED: u32 = u32::MAX;

    /// A search from `source` over the default label, with alpha 15 and beta 18.
    #[must_use]
    pub fn new(source: VertexId) -> Self {
        let (label, execution) = (LabelId::DEFAULT, Execution::default());
        Bfs { source, label, alpha: 15, beta: 18, parents: false, execution }
    }

    /// The textbook search from `source`: every level top-down.
    #[must_use]
    pub fn top_down(source: VertexId) -> Self {
        Bfs { alpha: 0, ..Bfs::new(source) }
    }
}

impl Kernel for Bfs<'_> {
    type Output = BfsResult;

    /// O(vertices + edges); 4 bytes per id and the frontiers, and up to 8 bytes per id for parents.
    fn run<V: GraphView>(self, view: &V) -> Result<BfsResult, KernelError> {
        let started = Instant::now();
        check_exists(view, self.source)?;
        let (vertex_bound, vertex_count) = (view.vertex_bound(), view.vertex_count());
        let needed = u64::from(vertex_bound) * 4 + u64::from(vertex_bound) / 4 + vertex_count * 8;
        let of_parents = if self.parents { Parents::bytes(vertex_bound, vertex_count) } else { 0 };
        self.execution.memory.check(needed + of_parents, vertex_bound, vertex_count)?;
        let outgoing = view.adjacency::<()>(self.label, Direction::Out)?;
        let has_incoming = view.topology().stored(Direction::In).is_some();
        let incoming = has_incoming.then(|| view.adjacency::<()>(self.label, Direction::In)).transpose()?;
        let ends = if view.topology().is_undirected() { 2 } else { 1 };
        let entries = view.edge_count(self.label).at_most() * ends;
        let mut search = BfsSearch {
            parameters: self,
            outgoing: &outgoing,
            incoming: incoming.as_ref(),
            depths: (0..vertex_bound).map(|_| AtomicU32::new(Bfs::UNREACHED)).collect(),
            shared: self.execution.threads() > 1,
            average_degree: entries / vertex_count.max(1),
            reached: 0,
            levels: 0,
            bottom_up_levels: 0,
            edges_examined: 0,
        };
        search.run(entries)?;
        let depths: Vec<_> = search.depths.into_iter().map(AtomicU32::into_inner).collect();
        let depth = |vertex: VertexId| {
            Some(depths[vertex.index()]).filter(|depth| *depth != Bfs::UNREACHED).map(u64::from)
        };
        let find = || {
            Parents::find(&outgoing, self.source, vertex_bound, self.execution, depth, |depth, ()| depth + 1)
        };
        let parents = self.parents.then(find).transpose()?;
        Ok(BfsResult {
            depths,
            reached: search.reached,
            levels: search.levels,
            bottom_up_levels: search.bottom_up_levels,
            edges_examined: search.edges_examined,
            parents,
            elapsed: started.elapsed(),
        })
    }
}

/// The ranges moved to multiples of 64, so that each owns its words of a bitmap.
fn aligned(ranges: Vec<Range<u32>>, vertex_bound: u32) -> Vec<Range<u32>> {
    let down = |id: u32| if id == vertex_bound { id } else { id / 64 * 64 };
    let moved = ranges.into_iter().map(|range| down(range.start)..down(range.end));
    moved.filter(|range| !range.is_empty()).collect()
}

/// A search in progress.
struct BfsSearch<'s, A> {
    parameters: Bfs<'s>,
    outgoing: &'s A,
    incoming: Option<&'s A>,
    /// The depth of each id. Relaxed: threads that work on one level race only to write equal
    /// depths, and are joined between two levels.
    depths: Vec<AtomicU32>,
    /// True if several threads claim concurrently. A single thread needs no exchange, which would
    /// wait for all earlier loads.
    shared: bool,
    average_degree: u64,
    reached: u64,
    levels: u32,
    bottom_up_levels: u32,
    edges_examined: u64,
}

/// The vertices of one level.
#[derive(Default)]
struct Frontier {
    vertices: Vec<VertexId>,
    /// Total number of their neighbors.
    neighbors: u64,
}

impl<A: Adjacency> BfsSearch<'_, A> {
    fn run(&mut self, entries: u64) -> Result<(), KernelError> {
        let source = self.parameters.source;
        self.depths[source.index()].store(0, Ordering::Relaxed);
        let neighbors = self.degree(&mut self.outgoing.cursor(), source)?;
        let mut frontier = Frontier { vertices: vec![source], neighbors };
        let mut unexplored = entries;
        self.finish_level(1, 0);
        while !frontier.vertices.is_empty() {
            match self.incoming {
                Some(incoming) if self.is_large(&frontier, unexplored) => {
                    frontier = self.bottom_up_levels(incoming, &frontier)?;
                }
                _ => {
                    unexplored = unexplored.saturating_sub(frontier.neighbors);
                    frontier = self.top_down(&frontier)?;
                }
            }
        }
        Ok(())
    }

    fn is_large(&self, frontier: &Frontier, unexplored: u64) -> bool {
        frontier.neighbors.saturating_mul(u64::from(self.parameters.alpha)) > unexplored
    }

    /// Finds the next level from the neighbors of `frontier`.
    fn top_down(&mut self, frontier: &Frontier) -> Result<Frontier, KernelError> {
        let execution = self.parameters.execution;
        let vertices = &frontier.vertices;
        let small = frontier.neighbors.max(vertices.len() as u64) < SMALL_FRONTIER;
        let parts = if small { 1 } else { execution.parts() };
        let chunks = vertices.chunks(vertices.len().div_ceil(parts)).collect();
        let found = execution.map_chunks(chunks, |chunk| self.top_down_chunk(chunk))?;
        let mut next = Frontier::default();
        let mut examined = 0;
        for (chunk, chunk_examined) in found {
            next.vertices.extend_from_slice(&chunk.vertices);
            next.neighbors += chunk.neighbors;
            examined += chunk_examined;
        }
        sort_for(self.outgoing, &mut next.vertices);
        self.finish_level(next.vertices.len() as u64, examined);
        Ok(next)
    }

    fn top_down_chunk(&self, chunk: &[VertexId]) -> Result<(Frontier, u64), KernelError> {
        let (mut cursor, mut next, mut examined) = (self.outgoing.cursor(), Frontier::default(), 0);
        let mut claim = |neighbors: &[VertexId]| {
            examined += neighbors.len() as u64;
            next.vertices.extend(neighbors.iter().filter(|neighbor| self.claim(**neighbor)));
        };
        match dense_range(self.outgoing, chunk) {
            Some(range) => {
                scan_rows(&mut cursor, self.parameters.execution, range, chunk, |_, neighbors, _| {
                    claim(neighbors);
                })?;
            }
            None => {
                for (position, vertex) in chunk.iter().enumerate() {
                    if let Some(later) = chunk.get(position + 2 * PREFETCHED) {
                        cursor.prefetch_place(*later);
                    }
                    if let Some(later) = chunk.get(position + PREFETCHED) {
                        cursor.prefetch(*later);
                    }
                    let walked = cursor.neighbors(*vertex, |neighbors, _| {
                        claim(neighbors);
                        ControlFlow::<()>::Continue(())
                    });
                    walked.map(|_| ())?;
                }
            }
        }
        next.neighbors = self.degrees(&mut cursor, &next.vertices)?;
        Ok((next, examined))
    }

    /// Total number of neighbors of these vertices. All row positions miss the cache, so their
    /// fetches are made to overlap.
    fn degrees(&self, cursor: &mut A::Cursor<'_>, vertices: &[VertexId]) -> Result<u64, KernelError> {
        let mut sum = 0;
        for (position, vertex) in vertices.iter().enumerate() {
            if let Some(later) = vertices.get(position + PREFETCHED) {
                cursor.prefetch_place(*later);
            }
            sum += self.degree(cursor, *vertex)?;
        }
        Ok(sum)
    }

    /// Gives `vertex` the depth of the next level if it was not reached before.
    #[inline]
    fn claim(&self, vertex: VertexId) -> bool {
        let depth = &self.depths[vertex.index()];
        // Most neighbors are reached already; checking first keeps their cache lines shared.
        if depth.load(Ordering::Relaxed) != Bfs::UNREACHED {
            return false;
        }
        if !self.shared {
            depth.store(self.levels, Ordering::Relaxed);
            return true;
        }
        depth.compare_exchange(Bfs::UNREACHED, self.levels, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Runs levels bottom-up until the frontier is small again.
    fn bottom_up_levels(&mut self, incoming: &A, frontier: &Frontier) -> Result<Frontier, KernelError> {
        let vertex_bound = self.depths.len() as u32;
        let ranges = covering_ranges(incoming, self.parameters.execution.parts(), vertex_bound)?;
        let ranges = aligned(ranges, vertex_bound);
        let (mut current, mut next) = (AtomicBitmap::new(vertex_bound), AtomicBitmap::new(vertex_bound));
        frontier.vertices.iter().for_each(|vertex| current.insert(*vertex));
        let mut size = frontier.vertices.len() as u64;
        loop {
            let found = self.bottom_up(incoming, &ranges, &current, &next)?;
            let shrinks = found < size;
            let small = found.saturating_mul(u64::from(self.parameters.beta)) <= u64::from(vertex_bound);
            std::mem::swap(&mut current, &mut next);
            if shrinks && small {
                // The neighbors are not counted: they are too few for bottom-up to start again at
                // once.
                return Ok(Frontier { vertices: current.vertices(), neighbors: 1 });
            }
            size = found;
        }
    }

    /// Finds the next level from the vertices that are not reached yet. Returns its size.
    fn bottom_up(
        &mut self,
        incoming: &A,
        ranges: &[Range<u32>],
        frontier: &AtomicBitmap,
        next: &AtomicBitmap,
    ) -> Result<u64, KernelError> {
        let execution = self.parameters.execution;
        let found = execution.map_chunks(ranges.to_vec(), |range| {
            if incoming.reads_blocks() && self.is_mostly_unreached(&range) {
                return self.scan_bottom_up(incoming, range, frontier, next);
            }
            let (mut cursor, mut found, mut examined) = (incoming.cursor(), 0, 0);
            let mut coming = self.unreached(&range, range.start);
            for first in range.clone().step_by(64) {
                let unreached = coming;
                // Most vertices read only their first neighbors, which all miss the cache: prefetch
                // them, so that the misses overlap with work on other vertices.
                let after = first.saturating_add(64);
                coming = self.unreached(&range, after);
                ones(coming).for_each(|bit| cursor.prefetch(VertexId::new(after + bit)));
                for place in (after..range.end).skip(64).step_by(PLACES_PER_LINE).take(64 / PLACES_PER_LINE) {
                    cursor.prefetch_place(VertexId::new(place));
                }
                let depths = &self.depths[first as usize..];
                let mut members = 0_u64;
                for bit in ones(unreached) {
                    let walked = cursor.neighbors(VertexId::new(first + bit), |neighbors, _| {
                        let parent = neighbors.iter().position(|neighbor| frontier.contains(*neighbor));
                        examined += parent.map_or(neighbors.len(), |parent| parent + 1) as u64;
                        parent.map_or(ControlFlow::Continue(()), |_| ControlFlow::Break(()))
                    });
                    if walked?.is_break() {
                        depths[bit as usize].store(self.levels, Ordering::Relaxed);
                        members |= 1 << bit;
                    }
                }
                next.replace_word(first, members);
                found += u64::from(members.count_ones());
            }
            Ok((found, examined))
        })?;
        let sum = |(found, examined), (more, looked): (u64, u64)| (found + more, examined + looked);
        let (found, examined) = found.into_iter().fold((0, 0), sum);
        self.bottom_up_levels += u32::from(found > 0);
        self.finish_level(found, examined);
        Ok(found)
    }

    /// Like [`BfsSearch::bottom_up`], but scans one range. Returns the number of vertices found,
    /// and of neighbors examined.
    fn scan_bottom_up(
        &self,
        incoming: &A,
        range: Range<u32>,
        frontier: &AtomicBitmap,
        next: &AtomicBitmap,
    ) -> Result<(u64, u64), KernelError> {
        let (mut found, mut examined) = (0, 0);
        range.clone().step_by(64).for_each(|first| next.replace_word(first, 0));
        let scanned = incoming.cursor().scan(range, |vertex, neighbors, _| {
            let depth = &self.depths[vertex.index()];
            if depth.load(Ordering::Relaxed) == Bfs::UNREACHED {
                let parent = neighbors.iter().position(|neighbor| frontier.contains(*neighbor));
                examined += parent.map_or(neighbors.len(), |parent| parent + 1) as u64;
                if parent.is_some() {
                    depth.store(self.levels, Ordering::Relaxed);
                    next.insert(vertex);
                    found += 1;
                }
            }
            ControlFlow::<()>::Continue(())
        });
        Ok(scanned.map(|_| (found, examined))?)
    }

    /// Returns true if a scan of the range reads its unreached vertices faster than look-ups do.
    fn is_mostly_unreached(&self, range: &Range<u32>) -> bool {
        let words = range.clone().step_by(64).map(|first| self.unreached(range, first));
        is_dense(words.map(|word| word.count_ones() as usize).sum(), range)
    }

    /// A bit for each of the 64 vertices from `first` on that is in the range and not reached yet.
    fn unreached(&self, range: &Range<u32>, first: u32) -> u64 {
        let end = range.end.min(first.saturating_add(64));
        let depths = self.depths.get(first as usize..end as usize).unwrap_or_default();
        let unreached = |depth: &AtomicU32| u64::from(depth.load(Ordering::Relaxed) == Bfs::UNREACHED);
        depths.iter().enumerate().fold(0, |found, (bit, depth)| found | unreached(depth) << bit)
    }

    /// The degree of `vertex`, or the average where it would have to be counted.
    fn degree(&self, cursor: &mut A::Cursor<'_>, vertex: VertexId) -> Result<u64, KernelError> {
        if !A::DEGREE_IS_O1 {
            return Ok(self.average_degree);
        }
        Ok(cursor.degree(vertex).map(|degree| degree as u64)?)
    }

    /// Counts a level; an empty one ends the search.
    fn finish_level(&mut self, found: u64, examined: u64) {
        self.reached += found;
        self.edges_examined += examined;
        if found > 0 {
            self.levels += 1;
            let progress = Progress { iteration: self.levels, at_most: None, neighbors: examined };
            self.parameters.execution.report(progress);
        }
    }
}
