//! Research engines to compare with: each implements the traits of the model, and is available by
//! name as a [`NamedEngine`](hedgerow_erased::NamedEngine).
//!
//! [`AdjacencyList`](fine_grained::AdjacencyList) has sorted adjacency lists with a version per
//! edge, the fine-grained scheme that `rapid` is compared with.
//!
//! [`ClusteredArtGraph`] is RapidStore as its paper describes it, over the same versioned subgraphs
//! as the engine `rapid`; [`FineGrainedArt`](fine_grained::FineGrainedArt), [`ArtGraph`],
//! [`CompressedArtGraph`] and [`VectorArtGraph`] are the steps of the paper's ablation towards it.
//! Their trees can be used alone: [`Art`], [`CompressedArt`].

mod clustered;
mod copy_on_write;
mod counted;
mod custom;
pub mod fine_grained;
mod partition;
mod radix;
mod rows;
mod vertex_index;

#[cfg(test)]
mod tests;

// Unit tests share their support with the integration tests, which name this crate from outside.
#[cfg(test)]
extern crate self as hedgerow_lab_engines;

pub use copy_on_write::{ArtGraph, ClusteredArtGraph, CompressedArtGraph, VectorArtGraph};
pub use custom::{ADJACENCY_LIST, ART, CLUSTERED_ART, COMPRESSED_ART, FINE_GRAINED_ART, VECTOR_ART};
pub use radix::{Art, CompressedArt, RadixTree};
