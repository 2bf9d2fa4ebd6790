//! The closed set of engines: one match per call, never per edge.

use crate::error::Error;
use crate::options::{EngineKind, GraphOptions};
use crate::store::Store;
use hedgerow_lab::adjacency_list::{AdjacencyList, AdjacencyListOptions};
use hedgerow_lab::{ArtGraph, ClusteredArtGraph, CompressedArtGraph, VectorArtGraph};
use hedgerow_model::Catalogue;
use hedgerow_rapid::Rapid;
use hedgerow_subgraphs::{Container, SubgraphOptions, Subgraphs};
use hedgerow_sync::Arc;

/// A store, for whichever engine.
pub(crate) enum Stores {
    Rapid(Store<Rapid>),
    AdjacencyList(Store<AdjacencyList>),
    Art(Store<ArtGraph>),
    CompressedArt(Store<CompressedArtGraph>),
    VectorArt(Store<VectorArtGraph>),
    ClusteredArt(Store<ClusteredArtGraph>),
}

/// Runs an expression with the store of the graph's engine.
macro_rules! with_store {
    ($stores:expr, $store:ident => $run:expr) => {
        match $stores {
            $crate::stores::Stores::Rapid($store) => $run,
            $crate::stores::Stores::AdjacencyList($store) => $run,
            $crate::stores::Stores::Art($store) => $run,
            $crate::stores::Stores::CompressedArt($store) => $run,
            $crate::stores::Stores::VectorArt($store) => $run,
            $crate::stores::Stores::ClusteredArt($store) => $run,
        }
    };
}
pub(crate) use with_store;

impl Stores {
    /// An empty store in memory.
    pub(crate) fn in_memory(mut options: GraphOptions) -> Result<Self, Error> {
        let labels = std::mem::take(&mut options.labels);
        let catalogue = Catalogue::new(labels, std::mem::take(&mut options.vertices))?;
        Ok(match options.engine {
            EngineKind::Rapid => Stores::Rapid(subgraphs(&options, catalogue)?),
            EngineKind::Art => Stores::Art(subgraphs(&options, catalogue)?),
            EngineKind::CompressedArt => Stores::CompressedArt(subgraphs(&options, catalogue)?),
            EngineKind::VectorArt => Stores::VectorArt(subgraphs(&options, catalogue)?),
            EngineKind::ClusteredArt => Stores::ClusteredArt(subgraphs(&options, catalogue)?),
            EngineKind::AdjacencyList => {
                let &GraphOptions { topology, memory_limit, .. } = &options;
                let shared = Arc::new(catalogue.clone());
                let engine = AdjacencyList::new(AdjacencyListOptions { topology, catalogue, memory_limit })?;
                Stores::AdjacencyList(Store::new(engine, &options, shared))
            }
        })
    }
}

/// An empty store of versioned subgraphs.
fn subgraphs<C: Container>(
    options: &GraphOptions,
    catalogue: Catalogue,
) -> Result<Store<Subgraphs<C>>, Error> {
    let &GraphOptions { topology, memory_limit, .. } = options;
    let engine = Subgraphs::new(SubgraphOptions { topology, catalogue: catalogue.clone(), memory_limit })?;
    Ok(Store::new(engine, options, Arc::new(catalogue)))
}
