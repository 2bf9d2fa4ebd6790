//! Versions per edge under the engine contract, and tests of their own.

mod edges;
mod memory;

use super::{AdjacencyList, FineGrained, FineGrainedArt};
use crate::tests::support::TestedEngine;

type Pipeline<E> = hedgerow_testing::pipeline::Pipeline<TestedEngine<FineGrained<E>>>;

mod adjacency_list {
    use super::*;
    hedgerow_testing::contract_tests!(TestedEngine<AdjacencyList>);
    hedgerow_testing::accounting_tests!(TestedEngine<AdjacencyList>);
}

mod art {
    use super::*;
    hedgerow_testing::contract_tests!(TestedEngine<FineGrainedArt>);
    hedgerow_testing::accounting_tests!(TestedEngine<FineGrainedArt>);
}
