//! Names this engine for the shared tests, with a log that is archived every few commits.

use hedgerow_hybrid::{Hybrid, HybridOptions};
use hedgerow_model::{Archiving, Catalog, Retained, Topology, UnitLocks};
use hedgerow_testing::Tested;

pub struct TestedHybrid;

impl Tested for TestedHybrid {
    type Engine = Hybrid;

    const UNIT_SIZE: u32 = 1;
    const RETAINED: fn(&Self::Engine, &UnitLocks<'_>) -> Retained = Hybrid::retained;
    const ARCHIVING: fn(&Self::Engine) -> Option<&dyn Archiving> = |engine| Some(engine);

    fn engine(topology: Topology, catalog: Catalog) -> Hybrid {
        Hybrid::new(HybridOptions { archived_from: 6, ..HybridOptions::new(topology, catalog) })
    }
}
