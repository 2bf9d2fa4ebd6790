//! Stores on the engine `rapid`.

use super::graph_engine::{GraphEngine, engine_options};
use crate::options::GraphOptions;
use hedgerow_model::Catalog;
use hedgerow_rapid::Rapid;

/// An empty engine.
pub(super) fn new(options: &GraphOptions, catalog: &Catalog) -> Rapid {
    Rapid::new(engine_options(options, catalog))
}

impl GraphEngine for Rapid {
    fn reserved(&self) -> usize {
        hedgerow_rapid::pool_use().free_bytes()
    }
}
