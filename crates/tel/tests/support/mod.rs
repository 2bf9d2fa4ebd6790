//! The engine, in memory and in a file, named for the tests that it shares with others.
#![allow(dead_code, reason = "not every test needs both")]

use hedgerow_model::token::HeldLocks;
use hedgerow_model::{Catalogue, MemoryUse, Topology};
use hedgerow_tel::{Tel, TelOptions};
use hedgerow_testing::Tested;

pub struct TestedTel;

impl Tested for TestedTel {
    type Engine = Tel;

    const UNIT_SIZE: u32 = 1;

    fn engine(topology: Topology, catalogue: Catalogue) -> Tel {
        Tel::new(TelOptions { topology, catalogue })
    }

    fn recount(engine: &Tel, locks: &HeldLocks<'_>) -> MemoryUse {
        engine.recount_memory(locks)
    }
}

/// With its blocks in a file.
pub struct TestedInFile;

impl Tested for TestedInFile {
    type Engine = Tel;

    const UNIT_SIZE: u32 = 1;

    fn engine(topology: Topology, catalogue: Catalogue) -> Tel {
        let options = TelOptions { topology, catalogue };
        let engine = Tel::with_scratch(options, &std::env::temp_dir(), None);
        engine.expect("a folder for temporary files")
    }

    fn recount(engine: &Tel, locks: &HeldLocks<'_>) -> MemoryUse {
        engine.recount_memory(locks)
    }
}

/// With its blocks in a file of 3 MiB.
pub struct TestedInSmallFile;

impl Tested for TestedInSmallFile {
    type Engine = Tel;

    const UNIT_SIZE: u32 = 1;

    fn engine(topology: Topology, catalogue: Catalogue) -> Tel {
        let options = TelOptions { topology, catalogue };
        let engine = Tel::with_scratch(options, &std::env::temp_dir(), Some(3 << 20));
        engine.expect("a folder for temporary files")
    }

    fn recount(engine: &Tel, locks: &HeldLocks<'_>) -> MemoryUse {
        engine.recount_memory(locks)
    }
}
