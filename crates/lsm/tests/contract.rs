//! The engine passes the contract of engines, and that of engines that own files, with so little
//! memory that every few commits cross all levels.
#![cfg(not(hedgerow_shuttle))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use hedgerow_log::files::FileSystem;
use hedgerow_lsm::{LsmEngine, LsmOptions};
use hedgerow_model::{Catalog, EngineError, Topology};
use hedgerow_sync::Arc;
use hedgerow_testing::simulated::SimulatedFiles;
use hedgerow_testing::{Tested, TestedDurable};

struct TestedLsm;

impl Tested for TestedLsm {
    type Engine = LsmEngine;

    const UNIT_SIZE: u32 = 1;

    fn engine(topology: Topology, catalog: Catalog) -> LsmEngine {
        let files = SimulatedFiles::new(1);
        files.create_directory().unwrap();
        Self::open(Arc::new(files), topology, catalog).unwrap()
    }
}

impl TestedDurable for TestedLsm {
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
            cache_bytes: 0,
            ..LsmOptions::new(topology, catalog)
        };
        LsmEngine::open(files, options)
    }
}

hedgerow_testing::contract_tests!(TestedLsm);
hedgerow_testing::durable_tests!(TestedLsm);

#[test]
fn readers_see_whole_prefixes_beside_writers_flushes_and_compactions() {
    hedgerow_testing::scenario::readers_see_whole_prefixes_beside_writers_and_reclaimers::<TestedLsm>();
}
