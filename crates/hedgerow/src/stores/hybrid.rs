//! Stores on the engine `hybrid`.

use super::Reserves;
use crate::options::GraphOptions;
use hedgerow_hybrid::{Hybrid, HybridOptions};
use hedgerow_model::{Catalog, Engine};

/// An empty engine.
pub(super) fn new(options: &GraphOptions, catalog: &Catalog) -> Hybrid {
    let usual = HybridOptions::new(options.settings().topology, catalog.clone());
    let archived_from = options.archiving_threshold.unwrap_or(usual.archived_from);
    Hybrid::new(HybridOptions { archived_from, ..usual })
}

impl Reserves for Hybrid {
    fn reserved(&self) -> usize {
        self.memory().reserved_bytes
    }
}
