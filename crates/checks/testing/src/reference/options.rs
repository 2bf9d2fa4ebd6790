//! Options of the engine.

use hedgerow_model::{Catalog, Topology};

/// The schema of the graph, and thresholds for deferred work.
#[derive(Clone, Debug)]
pub struct ReferenceOptions {
    /// The topology, with the stored directions.
    pub topology: Topology,
    /// The labels with the data of their edges.
    pub catalog: Catalog,
    /// Bytes of changes that are in no file yet, from which on commits are held back.
    pub recent_bytes: usize,
    /// Approximate size of a block in bytes.
    pub block_bytes: usize,
    /// The number of files that are merged into one.
    pub files: usize,
}

impl Default for ReferenceOptions {
    fn default() -> Self {
        let (topology, catalog) = Default::default();
        ReferenceOptions { topology, catalog, recent_bytes: 16 << 20, block_bytes: 4096, files: 4 }
    }
}
