//! What the tests of the engines share. Not published.
//!
//! An engine that is [`Tested`] is held to the same contract as all others, each part of it by a macro that makes tests of named cases:
//!
//! - [`contract_tests!`]: what every engine does, in [`contract`], for [`parallel`] edges, and by [`random`] commits under snapshots, all
//!   against the [`oracle::Oracle`] by way of the [`pipeline::Pipeline`]. An engine that counts edges later is held to its bounds;
//! - [`accounting_tests!`]: what an engine promises that accounts for every byte, in [`accounting`];
//! - [`durable_tests!`]: what an engine promises that owns files, in [`durable`]: what is flushed is there whatever happens, and a read that
//!   fails ([`reads`]) is an error, never a wrong answer.
//!
//! [`disk`] is a small engine that keeps all of it but the accounting, and the worked example of how to write an engine:
//! `docs/writing-an-engine.md` walks through it.
//!
//! What else is here:
//!
//! - [`failing`] lets calls of an engine fail, for the cases that say what is left then;
//! - [`allocation`] counts what a thread holds;
//! - [`cases`] makes properties whose cases take long try fewer of them;
//! - [`skipped`] finds the public data sets, and reports tests that cannot run;
//! - [`scenario`] has writers, readers and a reclamation on threads;
//! - `model_tests!` runs the same under the model checker (`--cfg hedgerow_shuttle`).

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

pub mod accounting;
pub mod allocation;
pub mod cases;
pub mod check;
pub mod contract;
pub mod damage;
pub mod disk;
pub mod durable;
pub mod failing;
#[cfg(hedgerow_shuttle)]
pub mod models;
pub mod oracle;
pub mod parallel;
pub mod pipeline;
pub mod random;
pub mod reads;
pub mod records;
pub mod scenario;
pub mod skipped;

use hedgerow_log::files::FileSystem;
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{Catalog, Engine, EngineError, MemoryUse, Topology};
use hedgerow_sync::Arc;

/// Names an engine for the tests.
pub trait Tested: 'static {
    /// The engine.
    type Engine: Engine;

    /// How many vertices a lock unit has.
    const UNIT_SIZE: u32;

    /// What [`Engine::memory`] has to say, by a walk over everything, all of which is locked: of an engine that claims to account for every byte. Then all
    /// cases check its counters, and it takes [`accounting_tests!`] too.
    const RECOUNT: Option<Recount<Self::Engine>> = None;

    /// An empty store.
    fn engine(topology: Topology, catalog: Catalog) -> Self::Engine;
}

/// Counts the bytes that an engine holds.
pub type Recount<E> = fn(&E, &HeldLocks<'_>) -> MemoryUse;

/// Names an engine that keeps [files](hedgerow_model::Durable) of its own.
pub trait TestedDurable: Tested {
    /// What the files have; an empty store where there are none.
    ///
    /// # Errors
    /// A file could not be read or written.
    fn open(
        files: Arc<dyn FileSystem>,
        topology: Topology,
        catalog: Catalog,
    ) -> Result<Self::Engine, EngineError>;
}
