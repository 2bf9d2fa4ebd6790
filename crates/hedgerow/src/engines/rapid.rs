//! Stores on the engine `rapid`.

use super::graph_engine::{EngineSnapshot, GraphEngine, engine_options};
use crate::error::Error;
use crate::options::GraphOptions;
use hedgerow_model::Catalog;
use hedgerow_rapid::Rapid;

/// An empty engine.
pub(super) fn new(options: &GraphOptions, catalog: &Catalog) -> Result<Rapid, Error> {
    Ok(Rapid::new(engine_options(options, catalog)))
}

impl GraphEngine for Rapid {
    #[inline]
    fn part_of(_snapshot: &EngineSnapshot) -> &() {
        &()
    }

    fn snapshot_with((): ()) -> EngineSnapshot {
        EngineSnapshot::None
    }

    fn reserved(&self) -> usize {
        hedgerow_rapid::pool_use().free_bytes()
    }
}
