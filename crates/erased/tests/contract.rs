//! Engines with their types erased keep the contract of engines: one whose rows ascend, and one with an order of its own.
#![cfg(not(hedgerow_shuttle))]

use hedgerow_erased::ErasedEngine;
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{Catalogue, Engine, MemoryUse, Topology};
use hedgerow_rapid::{PARTITION_SIZE, Rapid, RapidOptions};
use hedgerow_tel::{Tel, TelOptions};
use hedgerow_testing::Tested;

struct ErasedRapid;

impl Tested for ErasedRapid {
    type Engine = ErasedEngine;

    const UNIT_SIZE: u32 = PARTITION_SIZE as u32;

    fn engine(topology: Topology, catalogue: Catalogue) -> ErasedEngine {
        ErasedEngine::new(Rapid::new(RapidOptions { topology, catalogue }))
    }

    /// The tests of the engine itself count.
    fn recount(engine: &ErasedEngine, _locks: &HeldLocks<'_>) -> MemoryUse {
        engine.memory()
    }
}

struct ErasedTel;

impl Tested for ErasedTel {
    type Engine = ErasedEngine;

    const UNIT_SIZE: u32 = 1;

    fn engine(topology: Topology, catalogue: Catalogue) -> ErasedEngine {
        ErasedEngine::new(Tel::new(TelOptions { topology, catalogue }))
    }

    fn recount(engine: &ErasedEngine, _locks: &HeldLocks<'_>) -> MemoryUse {
        engine.memory()
    }
}

mod rapid {
    use super::*;
    hedgerow_testing::contract_tests!(ErasedRapid);
}

mod tel {
    use super::*;
    hedgerow_testing::contract_tests!(ErasedTel);
}
