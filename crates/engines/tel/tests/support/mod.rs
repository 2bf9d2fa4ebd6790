//! Names this engine for the shared tests, with its blocks in memory and in a file.
#![allow(dead_code, reason = "not every test needs both")]

use hedgerow_model::{Catalog, EngineOptions, Retained, Topology, UnitLocks};
use hedgerow_tel::Tel;
use hedgerow_testing::{Recount, Tested};

pub struct TestedTel;

impl Tested for TestedTel {
    type Engine = Tel;

    const UNIT_SIZE: u32 = 1;
    const RECOUNT: Option<Recount<Self::Engine>> = Some(Tel::recount_memory);
    const RETAINED: fn(&Self::Engine, &UnitLocks<'_>) -> Retained = Tel::retained;
    const UNLINKED: fn(&Tel) -> usize = Tel::unlinked_bytes;

    fn engine(topology: Topology, catalog: Catalog) -> Tel {
        Tel::new(EngineOptions { topology, catalog })
    }
}

/// The engine with its blocks in a file.
pub struct TestedInFile;

impl Tested for TestedInFile {
    type Engine = Tel;

    const UNIT_SIZE: u32 = 1;
    const RECOUNT: Option<Recount<Self::Engine>> = Some(Tel::recount_memory);
    const RETAINED: fn(&Self::Engine, &UnitLocks<'_>) -> Retained = Tel::retained;
    const UNLINKED: fn(&Tel) -> usize = Tel::unlinked_bytes;

    fn engine(topology: Topology, catalog: Catalog) -> Tel {
        let options = EngineOptions { topology, catalog };
        let engine = Tel::with_scratch(options, &std::env::temp_dir(), None);
        engine.expect("a temporary directory")
    }
}

/// The engine with its blocks in a file of 3 MiB.
pub struct TestedInSmallFile;

impl Tested for TestedInSmallFile {
    type Engine = Tel;

    const UNIT_SIZE: u32 = 1;
    const RECOUNT: Option<Recount<Self::Engine>> = Some(Tel::recount_memory);
    const RETAINED: fn(&Self::Engine, &UnitLocks<'_>) -> Retained = Tel::retained;
    const UNLINKED: fn(&Tel) -> usize = Tel::unlinked_bytes;

    fn engine(topology: Topology, catalog: Catalog) -> Tel {
        let options = EngineOptions { topology, catalog };
        let engine = Tel::with_scratch(options, &std::env::temp_dir(), Some(3 << 20));
        engine.expect("a temporary directory")
    }
}
