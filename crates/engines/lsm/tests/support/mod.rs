//! Names this engine for the shared tests, with so little memory that every few commits cross all
//! levels.

use hedgerow_log::files::FileSystem;
use hedgerow_lsm::{LsmEngine, LsmOptions};
use hedgerow_model::{Catalog, Durable, EngineError, Topology};
use hedgerow_sync::Arc;
use hedgerow_testing::simulated::SimulatedFiles;
use hedgerow_testing::{Tested, TestedDurable};

/// Without a cache, files are read every time, and snapshots keep nothing.
pub struct TestedLsm<const CACHE_BYTES: usize = 0>;

impl<const CACHE_BYTES: usize> Tested for TestedLsm<CACHE_BYTES> {
    type Engine = LsmEngine;

    const UNIT_SIZE: u32 = 1;
    const DURABLE: fn(&Self::Engine) -> Option<&dyn Durable> = |engine| Some(engine);

    fn engine(topology: Topology, catalog: Catalog) -> LsmEngine {
        let files = SimulatedFiles::new(1);
        files.create_directory().unwrap();
        Self::open(Arc::new(files), topology, catalog).unwrap()
    }
}

impl<const CACHE_BYTES: usize> TestedDurable for TestedLsm<CACHE_BYTES> {
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
            cache_bytes: CACHE_BYTES,
            ..LsmOptions::new(topology, catalog)
        };
        LsmEngine::open(files, options)
    }
}
