//! The engine, named for the tests that it shares with others.

use hedgerow_model::token::HeldLocks;
use hedgerow_model::{Catalogue, MemoryUse, Topology};
use hedgerow_tel::{Tel, TelOptions};
use hedgerow_testing::Tested;

pub struct TestedTel;

impl Tested for TestedTel {
    type Engine = Tel;

    const UNIT_SIZE: u32 = 1;

    fn engine(topology: Topology, catalogue: Catalogue, memory_limit: Option<usize>) -> Tel {
        Tel::new(TelOptions { topology, catalogue, memory_limit })
    }

    fn recount(engine: &Tel, locks: &HeldLocks<'_>) -> MemoryUse {
        engine.recount_memory(locks)
    }
}
