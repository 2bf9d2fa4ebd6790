//! Names this engine for the shared tests, with so little memory that every few commits cross all
//! levels.

use hedgerow_log::files::FileSystem;
use hedgerow_lsm::{LsmEngine, LsmOptions};
use hedgerow_model::{Catalog, EngineError, Topology};
use hedgerow_sync::Arc;
use hedgerow_testing::simulated::SimulatedFiles;
use hedgerow_testing::{Tested, TestedDurable};

pub struct TestedLsm;

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
