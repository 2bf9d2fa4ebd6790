//! Which vertices hang together.

use hedgerow::kernels::{Wcc, WccResult};
use serde::Serialize;

/// The weakly connected components of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Components {
    /// How many there are, those of a single vertex included.
    pub count: u64,
    /// The vertices of the largest.
    pub largest: u64,
    /// Components of a single vertex.
    pub single: u64,
}

impl Components {
    /// Counts the vertices of every component. O(ids).
    pub fn new(result: &WccResult) -> Self {
        let mut sizes = vec![0u64; result.components.len()];
        for component in result.components.iter().filter(|component| **component != Wcc::NO_VERTEX) {
            sizes[*component as usize] += 1;
        }
        Components {
            count: result.count,
            largest: sizes.iter().copied().max().unwrap_or(0),
            single: sizes.iter().filter(|size| **size == 1).count() as u64,
        }
    }
}
