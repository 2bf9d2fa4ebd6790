//! The closed set of engines: one match per call, never per edge.

use crate::error::Error;
use crate::options::{EngineKind, GraphOptions};
use crate::store::Store;
use hedgerow_lab::adjacency_list::{AdjacencyList, AdjacencyListOptions};
use hedgerow_model::Catalogue;
use hedgerow_rapid::{Rapid, RapidOptions};
use hedgerow_sync::Arc;

/// A store, for whichever engine.
pub(crate) enum Stores {
    Rapid(Store<Rapid>),
    AdjacencyList(Store<AdjacencyList>),
}

/// Runs an expression with the store of the graph's engine.
macro_rules! with_store {
    ($stores:expr, $store:ident => $run:expr) => {
        match $stores {
            $crate::stores::Stores::Rapid($store) => $run,
            $crate::stores::Stores::AdjacencyList($store) => $run,
        }
    };
}
pub(crate) use with_store;

impl Stores {
    /// An empty store in memory.
    pub(crate) fn in_memory(mut options: GraphOptions) -> Result<Self, Error> {
        let labels = std::mem::take(&mut options.labels);
        let catalogue = Catalogue::new(labels, std::mem::take(&mut options.vertices))?;
        let GraphOptions { engine, topology, memory_limit, .. } = options;
        let shared = Arc::new(catalogue.clone());
        Ok(match engine {
            EngineKind::Rapid => {
                let engine = Rapid::new(RapidOptions { topology, catalogue, memory_limit })?;
                Stores::Rapid(Store::new(engine, &options, shared))
            }
            EngineKind::AdjacencyList => {
                let engine = AdjacencyList::new(AdjacencyListOptions { topology, catalogue, memory_limit })?;
                Stores::AdjacencyList(Store::new(engine, &options, shared))
            }
        })
    }
}
