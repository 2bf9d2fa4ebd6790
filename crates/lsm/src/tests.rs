//! The engine passes the contract of engines where snapshots keep all that they scan, in pieces of few owners.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::{LsmEngine, LsmOptions};
use hedgerow_log::files::FileSystem;
use hedgerow_model::{Catalog, EngineError, Topology};
use hedgerow_sync::Arc;
use hedgerow_testing::simulated::SimulatedFiles;
use hedgerow_testing::{Tested, TestedDurable};

struct Keeping;

impl Tested for Keeping {
    type Engine = LsmEngine;

    const UNIT_SIZE: u32 = 1;

    fn engine(topology: Topology, catalog: Catalog) -> LsmEngine {
        let files = SimulatedFiles::new(1);
        files.create_directory().unwrap();
        Self::open(Arc::new(files), topology, catalog).unwrap()
    }
}

impl TestedDurable for Keeping {
    fn open(
        files: Arc<dyn FileSystem>,
        topology: Topology,
        catalog: Catalog,
    ) -> Result<LsmEngine, EngineError> {
        let options = LsmOptions {
            mem_graph_bytes: 20_000,
            level_0_files: 2,
            level_1_bytes: 300,
            fan_out: 2,
            segment_bytes: 150,
            ..LsmOptions::new(topology, catalog)
        };
        LsmEngine::open(files, options)
    }
}

hedgerow_testing::contract_tests!(Keeping);
hedgerow_testing::label_tests!(Keeping);

#[test]
fn any_sequence_of_commits_flushes_and_openings_is_read() {
    hedgerow_testing::durable::any_sequence_of_commits_flushes_and_openings_keeps_what_is_durable::<Keeping>(
    );
}
