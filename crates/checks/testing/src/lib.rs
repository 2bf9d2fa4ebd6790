//! Shared tests and helpers of the engines. Not published.
//!
//! Every engine that is [`Tested`] is checked against one contract. A macro for each part of it
//! makes tests of named cases:
//!
//! - [`contract_tests!`]: the contract of every engine, in [`contract`], for [`parallel`] edges and
//!   [`labels`] that are added, and by [`random`] commits under snapshots, all against the
//!   [`oracle::Oracle`] by way of the [`pipeline::Pipeline`]. An engine that defers counts of edges
//!   is checked against its bounds;
//! - [`accounting_tests!`]: the guarantees of an engine that accounts for every byte, in
//!   [`accounting`];
//! - [`durable_tests!`]: the guarantees of an engine that owns files, in [`durable`]: flushed
//!   commits survive everything, and a failed read ([`reads`]) is an error, never a wrong answer.
//!
//! [`example`] is a whole engine in one file, in memory, that passes the contract:
//! `docs/writing-an-engine.md` walks through it. [`mod@reference`] is a small engine in files that
//! also passes the tests of those.
//!
//! Other modules:
//!
//! - [`failing`] injects failures into calls of an engine, for the cases about their aftermath;
//! - [`allocation`] counts the bytes that a thread holds;
//! - [`cases`] lowers the number of cases of slow properties, and [`sample`] chooses the points of
//!   exhaustive searches that a run checks;
//! - [`skipped`] finds the public data sets, and reports tests that cannot run;
//! - [`flag`] ends threads, also when a test panics;
//! - [`simulated`] is a file system in memory that fails and loses power on demand;
//! - [`scenario`] runs writers, readers and a reclamation on threads;
//! - `model_tests!` runs the scenario under the model checker (`--cfg hedgerow_shuttle`).

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

pub mod accounting;
pub mod allocation;
pub mod cases;
pub mod check;
pub mod contract;
pub mod damage;
pub mod durable;
pub mod example;
pub mod failing;
pub mod flag;
pub mod labels;
#[cfg(hedgerow_shuttle)]
pub mod models;
pub mod oracle;
pub mod parallel;
pub mod pipeline;
pub mod random;
pub mod reads;
pub mod records;
pub mod reference;
pub mod sample;
pub mod scenario;
pub mod simulated;
pub mod skipped;

use hedgerow_log::files::FileSystem;
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{
    Archiving, Catalog, Durable, Engine, EngineError, MemoryUse, Retained, Topology, UnitLocks,
};
use hedgerow_sync::Arc;

/// Names an engine for the tests.
pub trait Tested: 'static {
    /// The engine.
    type Engine: Engine;

    /// The number of vertices of a lock unit.
    const UNIT_SIZE: u32;

    /// Recounts [`Engine::memory`] by a walk over everything, with all locks held: for an engine
    /// that claims to account for every byte. Then all cases check its counters, and it also takes
    /// [`accounting_tests!`].
    const RECOUNT: Option<Recount<Self::Engine>> = None;

    /// Unlinked bytes that wait until no reader can reach them. They count as retained, but for no
    /// timestamp.
    const UNLINKED: fn(&Self::Engine) -> usize = |_| 0;

    /// The bytes that each timestamp keeps, for an engine that tells.
    const RETAINED: fn(&Self::Engine, &UnitLocks<'_>) -> Retained = |_, _| Vec::new();

    /// The capability of an engine to store the graph in files.
    const DURABLE: fn(&Self::Engine) -> Option<&dyn Durable> = |_| None;

    /// The capability of an engine to archive commits.
    const ARCHIVING: fn(&Self::Engine) -> Option<&dyn Archiving> = |_| None;

    /// Creates an empty store.
    fn engine(topology: Topology, catalog: Catalog) -> Self::Engine;
}

/// Counts the bytes that an engine holds.
pub type Recount<E> = fn(&E, &HeldLocks<'_>) -> MemoryUse;

/// Names an engine that keeps [files](Tested::DURABLE) of its own.
pub trait TestedDurable: Tested {
    /// Opens the files; an empty store if there are none.
    ///
    /// # Errors
    /// A file could not be read or written.
    fn open(
        files: Arc<dyn FileSystem>,
        topology: Topology,
        catalog: Catalog,
    ) -> Result<Self::Engine, EngineError>;
}
