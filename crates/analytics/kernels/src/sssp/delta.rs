//! The width of the buckets.

use super::Weight;
use crate::KernelError;
use hedgerow_model::{Adjacency, Cursor, GraphView, LabelId, VertexId};
use std::ops::ControlFlow;

/// Number of vertices whose weights are sampled.
const SAMPLES: u32 = 1000;
/// Bucket width, in average weights, where rows lie in blocks. On a Kronecker graph of scale 20 on
/// disk, a search then reads the files in 9 passes instead of 100, and examines 1.6 times the
/// neighbors.
const WIDE: f64 = 4.0;

/// Checks a delta given by the caller.
pub(super) fn checked<W: Weight>(delta: W) -> Result<W, KernelError> {
    let found = delta.to_f64();
    if found > 0.0 && found.is_finite() {
        return Ok(delta);
    }
    Err(KernelError::InvalidParameter { parameter: "delta", found, expected: "above 0 and finite" })
}

/// The average weight of some edges, over the average degree of the vertices that have any, so that
/// about one edge of a vertex stays within its bucket. Measured on Kronecker graphs of scale 20 and
/// 21 with weights from 1 to 255: a delta four times as large is slower by a third.
///
/// If rows lie in blocks, the delta is [`WIDE`] average weights.
pub(super) fn sampled<W: Weight, A: Adjacency<Value = W>>(
    view: &impl GraphView,
    outgoing: &A,
    label: LabelId,
) -> Result<W, KernelError> {
    let step = (view.vertex_bound() / SAMPLES).max(1) as usize;
    let (mut cursor, mut sum, mut count, mut sampled, mut connected) =
        (outgoing.cursor(), 0.0, 0_u64, 0_u64, 0_u64);
    for vertex in (0..view.vertex_bound()).step_by(step).map(VertexId::new) {
        // The first run is enough.
        let walked = cursor.neighbors(vertex, |_, weights| {
            sum += weights.iter().map(|weight| weight.to_f64()).sum::<f64>();
            count += weights.len() as u64;
            ControlFlow::Break(())
        });
        sampled += 1;
        connected += u64::from(walked?.is_break());
    }
    let entries = view.edge_count(label).at_most() * if view.topology().is_undirected() { 2 } else { 1 };
    let owners = view.vertex_bound() as f64 * connected as f64 / sampled.max(1) as f64;
    let degree = (entries as f64 / owners.max(1.0)).max(1.0);
    let average = sum / count.max(1) as f64;
    let delta = if outgoing.reads_blocks() { average * WIDE } else { average / degree };
    Ok(if delta > 0.0 && delta.is_finite() { W::from_f64(delta) } else { W::from_f64(1.0) })
}
