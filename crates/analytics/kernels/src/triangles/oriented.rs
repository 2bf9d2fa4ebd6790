//! The graph with vertices renamed by descending degree and edges pointing to smaller names.

use crate::csr::Csr;
use crate::ranges::{covering_ranges, split_mut};
use crate::{Execution, KernelError};
use hedgerow_model::{Adjacency, Cursor, GraphView, LabelId, Topology, VertexId};
use std::ops::{ControlFlow, Range};

/// With fewer edges per vertex, neighbor sets are so small that no order makes them smaller. The
/// GAP suite requires 10; with the sets marked in a bitmap, ordering still pays at 6 (by a third,
/// measured on a Kronecker graph of scale 21).
const LEAST_EDGES_PER_VERTEX: u64 = 4;
/// Number of degrees sampled.
const SAMPLES: u32 = 1000;
/// Degrees are skewed when the ratio of their mean to their median is above this.
const SKEWED: f64 = 1.3;

/// Returns true if hubs are so frequent that ordering by degree pays: the test of "The GAP
/// Benchmark Suite", section 3.6.
pub(super) fn pays<A: Adjacency>(
    view: &impl GraphView,
    outgoing: &A,
    label: LabelId,
) -> Result<bool, KernelError> {
    if view.edge_count(label).at_most() < LEAST_EDGES_PER_VERTEX * view.vertex_count() {
        return Ok(false);
    }
    let step = (view.vertex_bound() / SAMPLES).max(1);
    let (mut cursor, mut degrees) = (outgoing.cursor(), Vec::new());
    for vertex in (0..view.vertex_bound()).step_by(step as usize).map(VertexId::new) {
        degrees.push(cursor.degree(vertex)?);
    }
    degrees.retain(|degree| *degree > 0);
    degrees.sort_unstable();
    let Some(median) = degrees.get(degrees.len() / 2) else { return Ok(false) };
    let mean = degrees.iter().sum::<usize>() as f64 / degrees.len() as f64;
    Ok(mean > SKEWED * *median as f64)
}

/// Renames vertices by descending degree, and keeps the entry of every edge from the larger name.
/// Drops directions and self loops.
pub(super) fn by_degree<V: GraphView>(
    view: &V,
    outgoing: &impl Adjacency,
    label: LabelId,
    execution: Execution<'_>,
) -> Result<Csr, KernelError> {
    let bound = view.vertex_bound();
    // Names and degrees; the list of edges; the build itself checks the memory for sorting.
    let needed =
        u64::from(bound) * 8 + view.edge_count(label).at_most() * size_of::<(VertexId, VertexId)>() as u64;
    execution.memory.check(needed, bound, view.vertex_count())?;
    let ranges = covering_ranges(outgoing, execution.parts(), bound)?;
    let names = names(&degrees(view, outgoing, &ranges, execution)?);
    let undirected = view.topology().is_undirected();
    let parts = execution.map_chunks(ranges, |range| {
        let mut edges = Vec::new();
        let scanned = outgoing.cursor().scan(range, |vertex, neighbors, _| {
            let name = names[vertex.index()];
            for neighbor in neighbors.iter().map(|neighbor| names[neighbor.index()]) {
                if neighbor < name {
                    edges.push((name, neighbor));
                } else if neighbor > name && !undirected {
                    edges.push((neighbor, name));
                }
            }
            ControlFlow::<()>::Continue(())
        });
        Ok(scanned.map(|_| edges)?)
    })?;
    drop(names);
    let edges = parts.concat();
    Ok(Csr::from_edges(bound, Topology::Directed, &edges, execution.build_options())?)
}

/// The number of entries of every id.
fn degrees<V: GraphView>(
    view: &V,
    outgoing: &impl Adjacency,
    ranges: &[Range<u32>],
    execution: Execution<'_>,
) -> Result<Vec<u32>, KernelError> {
    let mut degrees = vec![0; view.vertex_bound() as usize];
    let chunks = ranges.iter().zip(split_mut(&mut degrees, ranges)).collect();
    execution.map_chunks(chunks, |(range, degrees)| {
        let counted = outgoing.cursor().scan(range.clone(), |vertex, neighbors, _| {
            degrees[(vertex.get() - range.start) as usize] += neighbors.len() as u32;
            ControlFlow::<()>::Continue(())
        });
        Ok(counted.map(|_| ())?)
    })?;
    Ok(degrees)
}

/// The name of every id: the number of ids with a larger degree, or an equal one and a smaller id.
pub(crate) fn names(degrees: &[u32]) -> Vec<VertexId> {
    let mut ids: Vec<_> = (0..degrees.len() as u32).map(VertexId::new).collect();
    ids.sort_unstable_by_key(|id| (std::cmp::Reverse(degrees[id.index()]), *id));
    let mut names = vec![VertexId::default(); ids.len()];
    for (name, id) in (0..).map(VertexId::new).zip(ids) {
        names[id.index()] = name;
    }
    names
}
