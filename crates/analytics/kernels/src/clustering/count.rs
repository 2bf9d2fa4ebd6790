//! Counts the edges among the neighbors of every vertex.

use super::oriented::Ways;
use crate::csr::{Csr, CsrCursor};
use crate::marks::Marks;
use crate::ranges::covering_ranges;
use crate::triangles::count::{CHUNKS_PER_THREAD, SKEW};
use crate::workers::Workers;
use crate::{Execution, KernelError, Progress};
use hedgerow_model::{Adjacency, Cursor, Direction, GraphView, LabelId, VertexId, intersect, search};
use hedgerow_sync::atomic::{AtomicU64, Ordering};

/// The number of names that every thread counts on its own: the vertices of the largest degrees,
/// which are in most triangles. Threads that added to shared counts would wait for each other.
const HUBS: usize = 1 << 16;

/// The number of directed edges among the neighbors of each name. `lower` has for every name the
/// neighbors with smaller names.
///
/// Every triangle u > v > w is found at `u`: an edge between two of its vertices is an edge among
/// the neighbors of the third.
pub(super) fn edges_among_neighbors<W: Ways>(
    lower: &Csr,
    execution: Execution<'_>,
) -> Result<Vec<u64>, KernelError> {
    let bound = lower.vertex_bound();
    let adjacency = lower.adjacency::<W>(LabelId::DEFAULT, Direction::Out)?;
    let ranges = covering_ranges(&adjacency, CHUNKS_PER_THREAD * execution.threads(), bound)?;
    let counts: Vec<_> = (0..bound).map(|_| AtomicU64::new(0)).collect();
    let hubs = if execution.threads() == 1 { bound as usize } else { HUBS.min(bound as usize) };
    let workers = Workers::new();
    let make = || ClusteringCounter {
        outer: adjacency.cursor(),
        inner: adjacency.cursor(),
        marks: Marks::new(bound),
        mutual: Marks::new(if W::VARY { bound } else { 0 }),
        positions: Vec::new(),
        hubs: vec![0; hubs],
        counts: &counts,
        triangles: 0,
    };
    execution.map_chunks(ranges, |range| {
        workers.with(make, |counter| {
            range.map(VertexId::new).try_for_each(|vertex| {
                execution.check_cancelled()?;
                counter.at(vertex)
            })
        })
    })?;
    let mut triangles = 0;
    for counter in workers.into_all() {
        triangles += counter.triangles;
        counter.counts.iter().zip(&counter.hubs).for_each(|(count, own)| add(count, *own));
    }
    execution.report(Progress { iteration: 1, at_most: Some(1), neighbors: triangles });
    Ok(counts.into_iter().map(AtomicU64::into_inner).collect())
}

/// Relaxed: sums are read after all threads are joined.
#[inline]
fn add(count: &AtomicU64, edges: u64) {
    count.fetch_add(edges, Ordering::Relaxed);
}

/// Counts triangles, with one thread's working memory.
struct ClusteringCounter<'a, W> {
    outer: CsrCursor<'a, W>,
    inner: CsrCursor<'a, W>,
    /// The lower neighbors of the vertex.
    marks: Marks,
    /// The lower neighbors that are joined to the vertex in both directions.
    mutual: Marks,
    /// The positions, in the row of the middle vertex, of the vertices that close a triangle.
    positions: Vec<u32>,
    /// The thread's own counts of the first names.
    hubs: Vec<u64>,
    counts: &'a [AtomicU64],
    triangles: u64,
}

impl<W: Ways> ClusteringCounter<'_, W> {
    /// Counts the triangles whose largest name is `vertex`.
    fn at(&mut self, vertex: VertexId) -> Result<(), KernelError> {
        let (lower, ways) = self.outer.gather(vertex)?;
        if lower.len() < 2 {
            return Ok(());
        }
        lower.iter().for_each(|neighbor| self.marks.set(*neighbor));
        if W::VARY {
            let mutual = lower.iter().zip(ways).filter(|(_, ways)| ways.count() == 2);
            mutual.for_each(|(neighbor, _)| self.mutual.set(*neighbor));
        }
        let mut at_vertex = 0;
        for (position, middle) in lower.iter().enumerate().skip(1) {
            let (row, row_ways) = self.inner.gather(*middle)?;
            common(row, &lower[..position], &self.marks, &mut self.positions);
            let (outer_ways, mut at_middle) = (ways[position].count(), 0);
            for found in &self.positions {
                let lowest = row[*found as usize];
                at_vertex += row_ways[*found as usize].count();
                at_middle += if W::VARY { 1 + self.mutual.get(lowest) } else { 2 };
                count_at(&mut self.hubs, self.counts, lowest, outer_ways);
            }
            self.triangles += self.positions.len() as u64;
            count_at(&mut self.hubs, self.counts, *middle, at_middle);
        }
        count_at(&mut self.hubs, self.counts, vertex, at_vertex);
        self.marks.clear(lower);
        if W::VARY {
            self.mutual.clear(lower);
        }
        Ok(())
    }
}

/// Finds the positions in `row` of the candidates, which are the marked vertices below its owner.
#[inline]
fn common(row: &[VertexId], candidates: &[VertexId], marks: &Marks, positions: &mut Vec<u32>) {
    if row.len() / SKEW > candidates.len() {
        positions.clear();
        let position =
            |found| search::position_by_halving(row, found).expect("it was found in the row") as u32;
        intersect::slices(candidates, row, |found| positions.push(position(found)));
        return;
    }
    // Every position is written, and overwritten by the next unless it counts: no branch depends on
    // the result.
    positions.resize(row.len(), 0);
    let mut found = 0;
    for (position, id) in row.iter().enumerate() {
        positions[found] = position as u32;
        found += marks.get(*id) as usize;
    }
    positions.truncate(found);
}

#[inline]
fn count_at(hubs: &mut [u64], counts: &[AtomicU64], name: VertexId, edges: u64) {
    match hubs.get_mut(name.index()) {
        Some(count) => *count += edges,
        None => add(&counts[name.index()], edges),
    }
}
