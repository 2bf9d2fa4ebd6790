//! Names this engine for the shared tests.

use hedgerow_model::{Catalog, EngineOptions, Retained, Topology, UnitLocks};
use hedgerow_rapid::{PARTITION_SIZE, Rapid};
use hedgerow_testing::{Recount, Tested};

pub struct TestedRapid;

impl Tested for TestedRapid {
    type Engine = Rapid;

    const UNIT_SIZE: u32 = PARTITION_SIZE as u32;
    const RECOUNT: Option<Recount<Self::Engine>> = Some(Rapid::recount_memory);
    const RETAINED: fn(&Self::Engine, &UnitLocks<'_>) -> Retained = Rapid::retained;

    fn engine(topology: Topology, catalog: Catalog) -> Rapid {
        Rapid::new(EngineOptions { topology, catalog })
    }
}
