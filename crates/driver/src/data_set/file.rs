//! Reads graphs from files.

use crate::{BenchError, Watch};
use hedgerow_formats::{Batch, GraphReader, ReadOptions};
use rayon::slice::ParallelSliceMut;
use std::path::Path;

/// The number of vertices of an edge list, and its edges. Keys become ids in ascending order.
pub(super) fn edges(path: &Path, watch: &Watch<'_>) -> Result<(u32, Vec<(u32, u32)>), BenchError> {
    let mut reader = GraphReader::<u64>::open_with(path, ReadOptions::default())?;
    let (mut edges, mut keys, mut batch) = (Vec::new(), Vec::new(), Batch::new());
    while reader.read_batch(&mut batch)? {
        if watch.cancel.is_cancelled() {
            return Err(BenchError::Cancelled);
        }
        keys.extend_from_slice(&batch.vertices);
        edges.extend(batch.edges.iter().map(|edge| (edge.source, edge.destination)));
    }
    keys.extend(edges.iter().flat_map(|(source, destination)| [*source, *destination]));
    keys.par_sort_unstable();
    keys.dedup();
    let too_many = || BenchError::TooManyVertices(path.display().to_string());
    let vertices = u32::try_from(keys.len()).ok().filter(|count| *count < u32::MAX).ok_or_else(too_many)?;
    let id = |key: u64| keys.partition_point(|other| *other < key) as u32;
    let edges = edges.into_iter().map(|(source, destination)| (id(source), id(destination)));
    Ok((vertices, edges.collect()))
}
