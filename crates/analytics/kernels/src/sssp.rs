//! Shortest paths from one vertex, by delta-stepping.
//!
//! Vertices wait in buckets of distances that are `delta` wide. The lowest bucket is taken as a
//! whole and its vertices relax their edges, in any order, repeatedly until it stays empty. See
//! "Delta-stepping: a parallelizable shortest path algorithm" (J. Algorithms 49, 2003), sections 2
//! and 4. A thread continues with its own vertices of the same bucket without waiting for the
//! others, as in "Optimizing Ordered Graph Algorithms with GraphIt" (CGO 2020), section 3.3.
//!
//! If rows lie in blocks, each pass over the vertices of a bucket reads through the files. Buckets
//! are then wide, and their vertices are processed in file order, each with the distance that
//! earlier vertices of the pass left.

mod buckets;
mod delta;
mod pending;
mod validity;
mod weight;

pub use weight::Weight;

use crate::block_rows::{dense_range, scan_rows, sort_for};
use crate::csr::{Csr, ParallelWeight};
use crate::kernel::check_exists;
use crate::{Execution, Kernel, KernelError, Parents, Progress};
use buckets::Buckets;
use hedgerow_encoding::EdgeWeight;
use hedgerow_model::{Adjacency, Cursor, Direction, GraphView, LabelId, VertexId};
use hedgerow_sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use pending::Pending;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Vertices of a frontier that a thread takes at a time.
const GRAIN: usize = 64;
/// Vertices of a frontier that a thread takes at a time where rows lie in blocks: enough to scan.
const BLOCK_GRAIN: usize = 128;
/// Frontiers with fewer vertices than this are not worth waking other threads for.
const SMALL_FRONTIER: usize = 512;
/// A thread continues on its own while its part of the bucket has fewer vertices than this.
const FUSED: usize = 1024;

/// Computes the distance of every vertex from a source, as the sum of the weights along the path.
///
/// Follows out-edges; in an undirected graph all edges. The weights are the values of the label, of
/// type `W`: `u32` with sums of 64 bits, or `f64`. A negative weight or NaN anywhere among them is
/// an error, whether or not a path from the source reaches it: [`KernelError::Weight`] names the
/// first such edge. So all floats are checked before the search begins. A path of infinite length
/// reaches nothing.
///
/// `Sssp<f64>` with a [`weight`](Sssp::weight), such as a property of the edges, first copies the
/// label with these weights to a static graph; of parallel edges, the least weight counts.
#[derive(Clone, Copy, Debug)]
pub struct Sssp<'a, W: Weight = u32> {
    /// The vertex where the paths start.
    pub source: VertexId,
    /// The edges to follow.
    pub label: LabelId,
    /// The width of the buckets: small ones repeat less work, large ones let threads work longer in
    /// parallel. By default computed from a sample of the weights and the average degree. Integers
    /// are rounded down to a power of two.
    pub delta: Option<W>,
    /// The weights; `None` reads the values of the label in place. For `Sssp<f64>`.
    pub weight: Option<EdgeWeight>,
    /// Finds the [parents](SsspResult::parents), by one or two more passes over the edges.
    pub parents: bool,
    /// The execution options.
    pub execution: Execution<'a>,
}

/// The result of [`Sssp`]. The distances and `reached` are identical for any number of threads.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(bound(
        serialize = "W::Distance: serde::Serialize",
        deserialize = "W::Distance: serde::Deserialize<'de>"
    ))
)]
pub struct SsspResult<W: Weight = u32> {
    /// The length of a shortest path from the source to each vertex id, or [`Weight::UNREACHED`].
    pub distances: Vec<W::Distance>,
    /// Vertices reached, the source included.
    pub reached: u64,
    /// Rounds in which threads waited for each other.
    pub rounds: u32,
    /// Neighbors examined.
    pub edges_examined: u64,
    /// The tree of shortest paths, if requested.
    pub parents: Option<Parents>,
    /// Total time.
    pub elapsed: Duration,
    /// Time to copy the label with its weights, part of `elapsed`; `None` if they are read in
    /// place.
    pub copied: Option<Duration>,
}

impl<W: Weight> Sssp<'_, W> {
    /// Finds paths from `source` over the default label.
    #[must_use]
    pub fn new(source: VertexId) -> Self {
        let (label, execution) = (LabelId::DEFAULT, Execution::default());
        Sssp { source, label, delta: None, weight: None, parents: false, execution }
    }
}

impl Sssp<'_, f64> {
    /// Takes these weights instead of the values of the label.
    #[must_use]
    pub fn weight(mut self, weight: EdgeWeight) -> Self {
        self.weight = Some(weight);
        self
    }
}

impl<W: Weight> Kernel for Sssp<'_, W> {
    type Output = SsspResult<W>;

    /// O(vertices + edges) for random weights, at worst O(vertices * edges); 8 bytes and a bit per
    /// id, 4 bytes per vertex and bucket that it waits in, up to 8 bytes per id for parents, and
    /// the [copy](Csr::weighted) if there is a `weight`.
    ///
    /// Fails with [`KernelError::Weight`] if a weight is missing, negative or NaN.
    fn run<V: GraphView>(self, view: &V) -> Result<SsspResult<W>, KernelError> {
        let started = Instant::now();
        check_exists(view, self.source)?;
        let Some(weight) = self.weight else { return self.search(view, started) };
        let (label, options) = (self.label, self.execution.build_options());
        let graph = Csr::weighted(view, label, weight, ParallelWeight::Least, options)?;
        let copied = Some(started.elapsed());
        let result = Sssp { label: LabelId::DEFAULT, ..self }.search(&graph, started)?;
        Ok(SsspResult { copied, ..result })
    }
}

impl<W: Weight> Sssp<'_, W> {
    /// Finds the distances by the values of the label.
    fn search<V: GraphView>(self, view: &V, started: Instant) -> Result<SsspResult<W>, KernelError> {
        let (bound, count) = (view.vertex_bound(), view.vertex_count());
        let per_id = u64::from(bound) * 8 + u64::from(bound) / 8;
        let of_parents = if self.parents { Parents::bytes(bound, count) } else { 0 };
        self.execution.memory.check(per_id + count * 16 + of_parents, bound, count)?;
        let outgoing = view.adjacency::<W>(self.label, Direction::Out)?;
        let delta = self.delta.map(delta::checked).transpose()?;
        validity::check_weights(&outgoing, self.execution)?;
        let delta = match delta {
            Some(delta) => delta,
            None => delta::sampled(view, &outgoing, self.label)?,
        };
        let search = Search {
            parameters: self,
            outgoing: &outgoing,
            bucket_of: W::buckets(delta),
            distances: (0..bound).map(|_| AtomicU64::new(W::UNREACHED_BITS)).collect(),
            pending: Pending::new(bound, self.execution.threads() > 1),
            shared: self.execution.threads() > 1,
            grain: if outgoing.reads_blocks() { BLOCK_GRAIN } else { GRAIN },
        };
        let (rounds, edges_examined) = search.run()?;
        let distances: Vec<_> = search.distances.into_iter().map(AtomicU64::into_inner).collect();
        let reached = distances.iter().filter(|bits| **bits != W::UNREACHED_BITS).count() as u64;
        let distance =
            |vertex: VertexId| Some(distances[vertex.index()]).filter(|bits| *bits != W::UNREACHED_BITS);
        let plus = |distance, weight: W| weight.added_to(distance);
        let find = || Parents::find(&outgoing, self.source, bound, self.execution, distance, plus);
        let parents = self.parents.then(find).transpose()?;
        let distances = distances.into_iter().map(W::distance).collect();
        let (elapsed, copied) = (started.elapsed(), None);
        Ok(SsspResult { distances, reached, rounds, edges_examined, parents, elapsed, copied })
    }
}

/// A search in progress.
struct Search<'s, W: Weight, A, F> {
    parameters: Sssp<'s, W>,
    outgoing: &'s A,
    bucket_of: F,
    /// The bits of the distances. Relaxed: they only decrease, and threads are joined between two
    /// rounds.
    distances: Vec<AtomicU64>,
    /// The vertices that wait in the current bucket.
    pending: Pending,
    /// True if several threads lower distances concurrently. A single thread needs no exchange,
    /// which would wait for all earlier loads.
    shared: bool,
    /// Vertices that a thread takes at a time.
    grain: usize,
}

/// One thread's working memory.
#[derive(Default)]
struct Worker {
    buckets: Buckets,
    /// Vertices that the thread continues with on its own.
    own: Vec<VertexId>,
    examined: u64,
}

impl<W: Weight, A: Adjacency<Value = W>, F: Fn(u64) -> u64 + Sync> Search<'_, W, A, F> {
    /// Returns the number of rounds and of neighbors examined.
    fn run(&self) -> Result<(u32, u64), KernelError> {
        let (execution, source) = (self.parameters.execution, self.parameters.source);
        self.distances[source.index()].store(0, Ordering::Relaxed);
        let mut workers: Vec<_> = (0..execution.threads()).map(|_| Worker::default()).collect();
        self.pending.insert(source);
        let (mut frontier, mut bucket, mut rounds) = (vec![source], 0, 0);
        while !frontier.is_empty() {
            let examined_before: u64 = workers.iter().map(|worker| worker.examined).sum();
            let at_work = if frontier.len() < SMALL_FRONTIER { 1 } else { workers.len() };
            let taken = AtomicUsize::new(0);
            execution.map_chunks(workers[..at_work].iter_mut().collect(), |worker| {
                self.round(worker, &frontier, &taken, bucket)
            })?;
            rounds += 1;
            let examined: u64 = workers.iter().map(|worker| worker.examined).sum();
            let neighbors = examined - examined_before;
            execution.report(Progress { iteration: rounds, at_most: None, neighbors });
            frontier.clear();
            let lowest = workers.iter().filter_map(|worker| worker.buckets.lowest(bucket)).min();
            if let Some(lowest) = lowest {
                bucket = lowest;
                workers.iter_mut().for_each(|worker| worker.buckets.take(bucket, &mut frontier));
                frontier.retain(|vertex| self.pending.insert(*vertex));
                sort_for(self.outgoing, &mut frontier);
            }
        }
        Ok((rounds, workers.iter().map(|worker| worker.examined).sum()))
    }

    /// Processes one thread's share of a frontier, and the vertices that it adds to the current
    /// bucket.
    fn round(
        &self,
        worker: &mut Worker,
        frontier: &[VertexId],
        taken: &AtomicUsize,
        bucket: u64,
    ) -> Result<(), KernelError> {
        let mut cursor = self.outgoing.cursor();
        loop {
            let start = taken.fetch_add(self.grain, Ordering::Relaxed).min(frontier.len());
            let grain = &frontier[start..frontier.len().min(start + self.grain)];
            if grain.is_empty() {
                break;
            }
            self.relax_all(worker, &mut cursor, grain, bucket)?;
        }
        while worker.buckets.lowest(bucket) == Some(bucket) {
            let mut own = std::mem::take(&mut worker.own);
            own.clear();
            worker.buckets.take(bucket, &mut own);
            if self.shared && own.len() >= FUSED {
                // The next round lists all of the bucket anew.
                own.iter().for_each(|vertex| self.pending.remove(*vertex));
                own.drain(..).for_each(|vertex| worker.buckets.push(bucket, vertex));
                break;
            }
            sort_for(self.outgoing, &mut own);
            for grain in own.chunks(self.grain) {
                self.relax_all(worker, &mut cursor, grain, bucket)?;
            }
            worker.own = own;
        }
        Ok(())
    }

    fn relax_all(
        &self,
        worker: &mut Worker,
        cursor: &mut A::Cursor<'_>,
        vertices: &[VertexId],
        bucket: u64,
    ) -> Result<(), KernelError> {
        self.parameters.execution.check_cancelled()?;
        if let Some(range) = dense_range(self.outgoing, vertices) {
            return scan_rows(
                cursor,
                self.parameters.execution,
                range,
                vertices,
                |vertex, neighbors, weights| {
                    if let Some(distance) = self.begin(vertex, bucket) {
                        self.relax(worker, bucket, distance, neighbors, weights);
                    }
                },
            );
        }
        // Rows in random order: prefetch them, so that their cache misses overlap.
        vertices.iter().for_each(|vertex| cursor.prefetch_place(*vertex));
        vertices.iter().for_each(|vertex| cursor.prefetch(*vertex));
        for vertex in vertices {
            let Some(distance) = self.begin(*vertex, bucket) else { continue };
            let walked = cursor.neighbors(*vertex, |neighbors, weights| {
                self.relax(worker, bucket, distance, neighbors, weights);
                ControlFlow::<()>::Continue(())
            });
            walked.map(drop)?;
        }
        Ok(())
    }

    /// Begins with a vertex and returns its distance; `None` if the vertex moved to a lower bucket
    /// since it was put into this one, and was processed there.
    #[inline]
    fn begin(&self, vertex: VertexId, bucket: u64) -> Option<u64> {
        self.pending.remove(vertex);
        let distance = self.distances[vertex.index()].load(Ordering::Relaxed);
        ((self.bucket_of)(distance) >= bucket).then_some(distance)
    }

    /// Relaxes edges of a vertex at this distance.
    #[inline]
    fn relax(&self, worker: &mut Worker, bucket: u64, distance: u64, neighbors: &[VertexId], weights: &[W]) {
        worker.examined += neighbors.len() as u64;
        for (neighbor, weight) in neighbors.iter().zip(weights) {
            let offered = weight.added_to(distance);
            if self.lower(*neighbor, offered) {
                let into = (self.bucket_of)(offered);
                if into != bucket || self.pending.insert(*neighbor) {
                    worker.buckets.push(into, *neighbor);
                }
            }
        }
    }

    /// Lowers a distance to `offered`; returns false if it is not larger.
    #[inline]
    fn lower(&self, vertex: VertexId, offered: u64) -> bool {
        let distance = &self.distances[vertex.index()];
        if offered >= distance.load(Ordering::Relaxed) {
            return false;
        }
        if self.shared {
            return distance.fetch_min(offered, Ordering::Relaxed) > offered;
        }
        distance.store(offered, Ordering::Relaxed);
        true
    }
}
