//! The engine, named for the tests that it shares with others.

use hedgerow_model::token::HeldLocks;
use hedgerow_model::{Catalogue, MemoryUse, Topology};
use hedgerow_rapid::{PARTITION_SIZE, Rapid, RapidOptions};
use hedgerow_testing::Tested;

pub struct TestedRapid;

impl Tested for TestedRapid {
    type Engine = Rapid;

    const UNIT_SIZE: u32 = PARTITION_SIZE as u32;

    fn engine(topology: Topology, catalogue: Catalogue) -> Rapid {
        Rapid::new(RapidOptions { topology, catalogue })
    }

    fn recount(engine: &Rapid, locks: &HeldLocks<'_>) -> MemoryUse {
        engine.recount_memory(locks)
    }
}
