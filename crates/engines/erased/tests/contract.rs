//! Type-erased engines fulfill the engine contract: one with ascending rows, and one in commit
//! order.
#![cfg(not(hedgerow_shuttle))]

use hedgerow_erased::ErasedEngine;
use hedgerow_model::{Catalog, Engine, EngineOptions, Retained, Topology, UnitLocks};
use hedgerow_rapid::{PARTITION_SIZE, Rapid};
use hedgerow_sync::Arc;
use hedgerow_tel::Tel;
use hedgerow_testing::{Recount, Tested};

struct ErasedRapid;

impl Tested for ErasedRapid {
    type Engine = ErasedEngine;

    const UNIT_SIZE: u32 = PARTITION_SIZE as u32;
    const RECOUNT: Option<Recount<Self::Engine>> = Some(|engine, _| engine.memory());
    const RETAINED: fn(&Self::Engine, &UnitLocks<'_>) -> Retained = ErasedEngine::retained;

    fn engine(topology: Topology, catalog: Catalog) -> ErasedEngine {
        let engine = Arc::new(Rapid::new(EngineOptions { topology, catalog }));
        ErasedEngine::shared(&engine).with_retained(&engine, Rapid::retained)
    }
}

/// `tel` without a recount: an erased engine does not report the amount of garbage that waits for
/// readers, which no timestamp retains. The tests of `tel` recount.
struct ErasedTel;

impl Tested for ErasedTel {
    type Engine = ErasedEngine;

    const UNIT_SIZE: u32 = 1;

    fn engine(topology: Topology, catalog: Catalog) -> ErasedEngine {
        ErasedEngine::new(Tel::new(EngineOptions { topology, catalog }))
    }
}

mod rapid {
    use super::*;
    hedgerow_testing::contract_tests!(ErasedRapid);
    hedgerow_testing::accounting_tests!(ErasedRapid);
}

mod tel {
    use super::*;
    hedgerow_testing::contract_tests!(ErasedTel);
}
