//! The concurrency contract of versions per edge under the model checker. Run
//! `cargo test -p hedgerow-lab-engines --test shuttle` in `lab/` with
//! `RUSTFLAGS="--cfg hedgerow_shuttle" CARGO_TARGET_DIR=target/shuttle`.
#![cfg(hedgerow_shuttle)]

mod support;

use hedgerow_lab_engines::fine_grained::{AdjacencyList, FineGrainedArt};
use support::TestedEngine;

mod adjacency_list {
    use super::*;
    hedgerow_testing::model_tests!(TestedEngine<AdjacencyList>);
}

mod fine_grained_art {
    use super::*;
    hedgerow_testing::model_tests!(TestedEngine<FineGrainedArt>);
}
