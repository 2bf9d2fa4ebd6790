//! The research engines, for creating graphs by name.

use crate::fine_grained::{ArtEntries, Entries, FineGrained, SortedEntries};
use crate::{ArtGraph, ClusteredArtGraph, CompressedArtGraph, VectorArtGraph};
use hedgerow_erased::{ErasedEngine, Make, NamedEngine};
use hedgerow_model::EngineOptions;

/// A sorted adjacency list per vertex with a version per edge and short locks, the baseline scheme
/// ("Revisiting the Design of In-Memory Dynamic Graph Storage", 2025).
pub static ADJACENCY_LIST: NamedEngine =
    NamedEngine { name: "adjacency-list", make: Make::InMemory(fine_grained::<SortedEntries>) };

/// A plain adaptive radix tree per vertex with a version per edge and short locks. "ART" in
/// RapidStore's ablation (section 7.4).
pub static FINE_GRAINED_ART: NamedEngine =
    NamedEngine { name: "art-fine", make: Make::InMemory(fine_grained::<ArtEntries>) };

/// Versioned subgraphs as in engine `rapid`, but always copied, over a plain adaptive radix tree
/// per vertex. "ART + SC" in the ablation.
pub static ART: NamedEngine =
    NamedEngine { name: "art", make: Make::InMemory(|options| ErasedEngine::new(ArtGraph::new(options))) };

/// Versioned subgraphs, always copied, over a compressed adaptive radix tree per vertex (section
/// 6.2). "C-ART + SC" in the ablation.
pub static COMPRESSED_ART: NamedEngine = NamedEngine {
    name: "cart",
    make: Make::InMemory(|options| ErasedEngine::new(CompressedArtGraph::new(options))),
};

/// Versioned subgraphs, always copied, over compressed trees, with vectors for small neighbor sets.
/// "C-ART + SC + VEC" in the ablation.
pub static VECTOR_ART: NamedEngine = NamedEngine {
    name: "cart-vec",
    make: Make::InMemory(|options| ErasedEngine::new(VectorArtGraph::new(options))),
};

/// Versioned subgraphs, always copied, over compressed trees, with the small neighbor sets of a
/// partition in a clustered index (section 6.3): RapidStore as the paper describes it.
/// "C-ART + SC + CI" in the ablation.
pub static CLUSTERED_ART: NamedEngine = NamedEngine {
    name: "cart-ci",
    make: Make::InMemory(|options| ErasedEngine::new(ClusteredArtGraph::new(options))),
};

fn fine_grained<E: Entries>(options: EngineOptions) -> ErasedEngine {
    ErasedEngine::new(FineGrained::<E>::new(options))
}
