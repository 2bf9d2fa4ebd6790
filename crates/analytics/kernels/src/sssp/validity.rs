//! Checks that shortest paths are defined over all edges.

use super::Weight;
use crate::{Execution, KernelError, WeightError};
use hedgerow_model::{Adjacency, Cursor, VertexId};
use std::ops::ControlFlow;

/// Checks all weights, unless every value of their type is valid. Refuses the first invalid one in
/// the order of source and destination ids, on any number of threads.
pub(super) fn check_weights<W: Weight>(
    outgoing: &impl Adjacency<Value = W>,
    execution: Execution<'_>,
) -> Result<(), KernelError> {
    if W::ALWAYS_VALID {
        return Ok(());
    }
    let cuts = outgoing.cuts(execution.parts())?;
    let invalid = execution.map_chunks(cuts, |range| {
        let mut first: Option<(VertexId, VertexId, W)> = None;
        let scanned = outgoing.cursor().scan(range, |vertex, neighbors, weights| {
            if first.is_some_and(|(found, ..)| found != vertex) {
                return ControlFlow::Break(());
            }
            // Nearly always all are valid, which is fast to check; only otherwise look for the
            // invalid one.
            if !weights.iter().all(|weight| weight.is_valid()) {
                let invalid = neighbors.iter().zip(weights).filter(|(_, weight)| !weight.is_valid());
                let invalid = invalid.map(|(neighbor, weight)| (vertex, *neighbor, *weight));
                first = first.into_iter().chain(invalid).min_by_key(|(_, neighbor, _)| *neighbor);
            }
            ControlFlow::Continue(())
        });
        Ok(scanned.map(|_| first)?)
    })?;
    match invalid.into_iter().flatten().next() {
        None => Ok(()),
        Some((source, destination, weight)) => {
            Err(WeightError { source, destination, weight: Some(weight.to_f64()) }.into())
        }
    }
}
