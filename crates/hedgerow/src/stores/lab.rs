//! The engines to measure against.

use super::{engine_options, subgraphs};
use crate::error::Error;
use crate::options::{EngineKind, GraphOptions};
use crate::storage::Store;
use hedgerow_lab::fine_grained::{AdjacencyList, Entries, FineGrained, FineGrainedArt};
use hedgerow_lab::{ArtGraph, ClusteredArtGraph, CompressedArtGraph, VectorArtGraph};
use hedgerow_model::Catalogue;
use hedgerow_sync::Arc;

/// A store, for whichever of them.
pub(crate) enum LabStores {
    AdjacencyList(Store<AdjacencyList>),
    FineGrainedArt(Store<FineGrainedArt>),
    Art(Store<ArtGraph>),
    CompressedArt(Store<CompressedArtGraph>),
    VectorArt(Store<VectorArtGraph>),
    ClusteredArt(Store<ClusteredArtGraph>),
}

/// Runs an expression with the store of the graph's engine.
macro_rules! with_lab_store {
    ($stores:expr, $store:ident => $run:expr) => {
        match $stores {
            $crate::stores::lab::LabStores::AdjacencyList($store) => $run,
            $crate::stores::lab::LabStores::FineGrainedArt($store) => $run,
            $crate::stores::lab::LabStores::Art($store) => $run,
            $crate::stores::lab::LabStores::CompressedArt($store) => $run,
            $crate::stores::lab::LabStores::VectorArt($store) => $run,
            $crate::stores::lab::LabStores::ClusteredArt($store) => $run,
        }
    };
}
pub(crate) use with_lab_store;

impl LabStores {
    /// An empty store in memory, of one of these engines.
    pub(crate) fn in_memory(options: &GraphOptions, catalogue: Catalogue) -> Result<Self, Error> {
        Ok(match options.engine {
            EngineKind::Rapid | EngineKind::Tel => unreachable!("they are always built"),
            EngineKind::AdjacencyList => LabStores::AdjacencyList(fine_grained(options, catalogue)?),
            EngineKind::FineGrainedArt => LabStores::FineGrainedArt(fine_grained(options, catalogue)?),
            EngineKind::Art => LabStores::Art(subgraphs(options, catalogue)?),
            EngineKind::CompressedArt => LabStores::CompressedArt(subgraphs(options, catalogue)?),
            EngineKind::VectorArt => LabStores::VectorArt(subgraphs(options, catalogue)?),
            EngineKind::ClusteredArt => LabStores::ClusteredArt(subgraphs(options, catalogue)?),
        })
    }
}

impl LabStores {
    /// Which engine holds the graph.
    pub(crate) fn engine(&self) -> EngineKind {
        match self {
            LabStores::AdjacencyList(_) => EngineKind::AdjacencyList,
            LabStores::FineGrainedArt(_) => EngineKind::FineGrainedArt,
            LabStores::Art(_) => EngineKind::Art,
            LabStores::CompressedArt(_) => EngineKind::CompressedArt,
            LabStores::VectorArt(_) => EngineKind::VectorArt,
            LabStores::ClusteredArt(_) => EngineKind::ClusteredArt,
        }
    }
}

/// An empty store with a version per edge.
fn fine_grained<E: Entries>(
    options: &GraphOptions,
    catalogue: Catalogue,
) -> Result<Store<FineGrained<E>>, Error> {
    let engine = FineGrained::new(engine_options(options, &catalogue));
    Ok(Store::new(engine, options, Arc::new(catalogue)))
}
