//! The model checker's scenario on operating system threads.
#![cfg(not(hedgerow_shuttle))]

mod support;

use hedgerow_lab_engines::ClusteredArtGraph;
use hedgerow_lab_engines::fine_grained::{AdjacencyList, FineGrainedArt};
use hedgerow_testing::scenario::readers_see_whole_prefixes_beside_writers_and_reclaimers;
use support::TestedEngine;

#[test]
fn readers_of_adjacency_lists_see_whole_prefixes() {
    readers_see_whole_prefixes_beside_writers_and_reclaimers::<TestedEngine<AdjacencyList>>();
}

#[test]
fn readers_of_fine_grained_trees_see_whole_prefixes() {
    readers_see_whole_prefixes_beside_writers_and_reclaimers::<TestedEngine<FineGrainedArt>>();
}

#[test]
fn readers_of_clustered_partitions_see_whole_prefixes() {
    readers_see_whole_prefixes_beside_writers_and_reclaimers::<TestedEngine<ClusteredArtGraph>>();
}
