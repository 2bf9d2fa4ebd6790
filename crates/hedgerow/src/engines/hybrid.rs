//! Stores on the engine `hybrid`.

use super::graph_engine::GraphEngine;
use crate::options::GraphOptions;
use hedgerow_hybrid::{Hybrid, HybridOptions, HybridSnapshot};
use hedgerow_model::token::Registered;
use hedgerow_model::{Catalog, Engine};

/// An empty engine.
pub(super) fn new(options: &GraphOptions, catalog: &Catalog) -> Hybrid {
    let usual = HybridOptions::new(options.settings().topology, catalog.clone());
    let archived_from = options.archiving_threshold.unwrap_or(usual.archived_from);
    Hybrid::new(HybridOptions { archived_from, ..usual })
}

impl GraphEngine for Hybrid {
    fn prepare_reads(&self, part: &HybridSnapshot, at: &Registered) {
        self.view(part, at).index_tail();
    }
}
