//! The example passes the contract, and so does the engine in files, directly and with its type
//! erased.
#![cfg(not(hedgerow_shuttle))]

use hedgerow_erased::{ErasedEngine, Make};
use hedgerow_log::files::FileSystem;
use hedgerow_model::{Catalog, Durable, EngineError, EngineOptions, Topology};
use hedgerow_testing::example::Example;
use hedgerow_testing::reference::{REFERENCE_IN_FILES, ReferenceEngine, ReferenceOptions};
use hedgerow_testing::simulated::SimulatedFiles;
use hedgerow_testing::{Tested, TestedDurable};
use std::sync::Arc;

/// An engine with limits so low that a few commits fill blocks, files and memory.
struct TestedReference;

/// Creates an empty store in a directory of its own.
fn empty<T: TestedDurable>(topology: Topology, catalog: Catalog) -> T::Engine {
    let files = SimulatedFiles::new(1);
    files.create_directory().expect("nothing fails yet");
    T::open(Arc::new(files), topology, catalog).expect("nothing fails yet")
}

impl Tested for TestedReference {
    type Engine = ReferenceEngine;

    const UNIT_SIZE: u32 = 1;
    const DURABLE: fn(&Self::Engine) -> Option<&dyn Durable> = |engine| Some(engine);

    fn engine(topology: Topology, catalog: Catalog) -> ReferenceEngine {
        empty::<TestedReference>(topology, catalog)
    }
}

impl TestedDurable for TestedReference {
    fn open(
        files: Arc<dyn FileSystem>,
        topology: Topology,
        catalog: Catalog,
    ) -> Result<ReferenceEngine, EngineError> {
        let options =
            ReferenceOptions { topology, catalog, recent_bytes: 40_000, block_bytes: 200, files: 3 };
        ReferenceEngine::open(files, options)
    }
}

/// An engine created by its name, as graphs do.
struct NamedReference;

impl Tested for NamedReference {
    type Engine = ErasedEngine;

    const UNIT_SIZE: u32 = 1;
    const DURABLE: fn(&Self::Engine) -> Option<&dyn Durable> = ErasedEngine::durable;

    fn engine(topology: Topology, catalog: Catalog) -> ErasedEngine {
        empty::<NamedReference>(topology, catalog)
    }
}

impl TestedDurable for NamedReference {
    fn open(
        files: Arc<dyn FileSystem>,
        topology: Topology,
        catalog: Catalog,
    ) -> Result<ErasedEngine, EngineError> {
        let Make::InFiles(make) = REFERENCE_IN_FILES.make else {
            panic!("{REFERENCE_IN_FILES:?} owns files")
        };
        make(files, EngineOptions { topology, catalog })
    }
}

/// The engine in memory that is read first.
struct TestedExample;

impl Tested for TestedExample {
    type Engine = Example;

    const UNIT_SIZE: u32 = 1;

    fn engine(topology: Topology, catalog: Catalog) -> Example {
        Example::new(EngineOptions { topology, catalog })
    }
}

mod example {
    use super::*;
    hedgerow_testing::contract_tests!(TestedExample);

    #[test]
    fn readers_see_whole_prefixes_while_writers_and_reclaimers_run() {
        hedgerow_testing::scenario::readers_see_whole_prefixes_beside_writers_and_reclaimers::<TestedExample>(
        );
    }
}

mod in_files {
    use super::*;
    hedgerow_testing::contract_tests!(TestedReference);
    hedgerow_testing::durable_tests!(TestedReference);

    #[test]
    fn readers_see_whole_prefixes_beside_writers_flushes_and_merges() {
        hedgerow_testing::scenario::readers_see_whole_prefixes_beside_writers_and_reclaimers::<TestedReference>(
        );
    }
}

mod named {
    use super::*;
    hedgerow_testing::contract_tests!(NamedReference);

    /// The other cases do not depend on the name of the engine.
    #[test]
    fn the_files_are_found_again() {
        hedgerow_testing::durable::what_is_flushed_is_there_when_the_files_are_opened_again::<NamedReference>(
        );
        hedgerow_testing::durable::any_read_may_fail::<NamedReference>();
    }
}
