//! The small engine on files passes the contract, directly and with its type erased.
#![cfg(not(hedgerow_shuttle))]

use hedgerow_erased::{EngineOptions, ErasedEngine, Make};
use hedgerow_log::files::FileSystem;
use hedgerow_model::{Catalog, EngineError, Topology};
use hedgerow_testing::disk::{DISK, DiskEngine, DiskOptions};
use hedgerow_testing::simulated::SimulatedFiles;
use hedgerow_testing::{Tested, TestedDurable};
use std::sync::Arc;

/// An engine with limits so low that a few commits fill blocks, files and memory.
struct TestedDisk;

/// Creates an empty store in a directory of its own.
fn empty<T: TestedDurable>(topology: Topology, catalog: Catalog) -> T::Engine {
    let files = SimulatedFiles::new(1);
    files.create_directory().expect("nothing fails yet");
    T::open(Arc::new(files), topology, catalog).expect("nothing fails yet")
}

impl Tested for TestedDisk {
    type Engine = DiskEngine;

    const UNIT_SIZE: u32 = 1;

    fn engine(topology: Topology, catalog: Catalog) -> DiskEngine {
        empty::<TestedDisk>(topology, catalog)
    }
}

impl TestedDurable for TestedDisk {
    fn open(
        files: Arc<dyn FileSystem>,
        topology: Topology,
        catalog: Catalog,
    ) -> Result<DiskEngine, EngineError> {
        let options = DiskOptions { topology, catalog, recent_bytes: 40_000, block_bytes: 200, files: 3 };
        DiskEngine::open(files, options)
    }
}

/// An engine created by its name, as graphs do.
struct NamedDisk;

impl Tested for NamedDisk {
    type Engine = ErasedEngine;

    const UNIT_SIZE: u32 = 1;

    fn engine(topology: Topology, catalog: Catalog) -> ErasedEngine {
        empty::<NamedDisk>(topology, catalog)
    }
}

impl TestedDurable for NamedDisk {
    fn open(
        files: Arc<dyn FileSystem>,
        topology: Topology,
        catalog: Catalog,
    ) -> Result<ErasedEngine, EngineError> {
        let Make::InFiles(make) = DISK.make else { panic!("{DISK:?} owns files") };
        make(files, EngineOptions { topology, catalog })
    }
}

mod disk {
    use super::*;
    hedgerow_testing::contract_tests!(TestedDisk);
    hedgerow_testing::durable_tests!(TestedDisk);

    #[test]
    fn readers_see_whole_prefixes_beside_writers_flushes_and_merges() {
        hedgerow_testing::scenario::readers_see_whole_prefixes_beside_writers_and_reclaimers::<TestedDisk>();
    }
}

mod named {
    use super::*;
    hedgerow_testing::contract_tests!(NamedDisk);

    /// The other cases do not depend on the name of the engine.
    #[test]
    fn the_files_are_found_again() {
        hedgerow_testing::durable::what_is_flushed_is_there_when_the_files_are_opened_again::<NamedDisk>();
        hedgerow_testing::durable::any_read_may_fail::<NamedDisk>();
    }
}
