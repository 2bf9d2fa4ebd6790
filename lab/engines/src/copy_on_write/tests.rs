//! The containers under the engine contract: named cases, and random commits and snapshots.

use crate::tests::support::TestedEngine;
use crate::{ArtGraph, ClusteredArtGraph, CompressedArtGraph, VectorArtGraph};

mod plain_trees {
    use super::*;
    hedgerow_testing::contract_tests!(TestedEngine<ArtGraph>);
    hedgerow_testing::accounting_tests!(TestedEngine<ArtGraph>);
}

mod compressed_trees {
    use super::*;
    hedgerow_testing::contract_tests!(TestedEngine<CompressedArtGraph>);
    hedgerow_testing::accounting_tests!(TestedEngine<CompressedArtGraph>);
}

mod vectors_and_trees {
    use super::*;
    hedgerow_testing::contract_tests!(TestedEngine<VectorArtGraph>);
    hedgerow_testing::accounting_tests!(TestedEngine<VectorArtGraph>);
}

mod clustered_sets {
    use super::*;
    hedgerow_testing::contract_tests!(TestedEngine<ClusteredArtGraph>);
    hedgerow_testing::accounting_tests!(TestedEngine<ClusteredArtGraph>);
}
