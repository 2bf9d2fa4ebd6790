//! Names the engines for the shared tests.

use hedgerow_lab_engines::fine_grained::{Entries, FineGrained};
use hedgerow_model::{Catalog, EngineOptions, Retained, Topology, UnitLocks};
use hedgerow_rapid::subgraphs::{Container, PARTITION_SIZE, Subgraphs};
use hedgerow_testing::{Recount, Tested};
use std::marker::PhantomData;

pub struct TestedEngine<E>(PhantomData<E>);

impl<C: Container> Tested for TestedEngine<Subgraphs<C>> {
    type Engine = Subgraphs<C>;

    const UNIT_SIZE: u32 = PARTITION_SIZE as u32;
    const RECOUNT: Option<Recount<Self::Engine>> = Some(Subgraphs::recount_memory);
    const RETAINED: fn(&Self::Engine, &UnitLocks<'_>) -> Retained = Subgraphs::retained;

    fn engine(topology: Topology, catalog: Catalog) -> Subgraphs<C> {
        Subgraphs::new(EngineOptions { topology, catalog })
    }
}

impl<E: Entries> Tested for TestedEngine<FineGrained<E>> {
    type Engine = FineGrained<E>;

    const UNIT_SIZE: u32 = 1;
    const RECOUNT: Option<Recount<Self::Engine>> = Some(|engine, _| engine.recount_memory());
    const RETAINED: fn(&Self::Engine, &UnitLocks<'_>) -> Retained = FineGrained::retained;

    fn engine(topology: Topology, catalog: Catalog) -> FineGrained<E> {
        FineGrained::new(EngineOptions { topology, catalog })
    }
}
