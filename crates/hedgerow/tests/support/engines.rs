//! The engines that tests of graphs run on.

#![allow(dead_code, reason = "not every test needs all")]

use hedgerow::{Count, EngineKind};
use hedgerow_erased::{ErasedEngine, Make, NamedEngine};
use hedgerow_hybrid::{Hybrid, HybridOptions};
use hedgerow_model::EngineOptions;
use hedgerow_sync::Arc;

/// The reference engine: in memory, without a fast path.
pub const REFERENCE: EngineKind = EngineKind::Erased(&hedgerow_testing::reference::REFERENCE);

/// Engine `hybrid` with a log that is archived every few commits.
pub static HYBRID: NamedEngine = NamedEngine {
    name: "hybrid",
    make: Make::InMemory(|EngineOptions { topology, catalog }| {
        let options = HybridOptions { archived_from: 16, ..HybridOptions::new(topology, catalog) };
        let engine = Arc::new(Hybrid::new(options));
        ErasedEngine::shared(&engine).with_archiving(&engine)
    }),
};

/// The engines of the library that need no files, and the reference.
pub const ENGINES: [EngineKind; 4] =
    [EngineKind::Rapid, EngineKind::Tel, EngineKind::Erased(&HYBRID), REFERENCE];

/// The engines for model tests of whole graphs.
pub const MODELLED: [EngineKind; 3] = [EngineKind::Rapid, EngineKind::Tel, REFERENCE];

/// Returns true if an engine defers counting: it does not look up edges that are put, or deleted in
/// a stream, and counts such a commit as a change.
#[must_use]
pub fn counts_later(engine: EngineKind) -> bool {
    ["reference-files", "lsm", "hybrid"].contains(&engine.name())
}

/// Returns true if a count is this number, or may be if the engine defers counting.
#[must_use]
pub fn is_count(engine: EngineKind, count: Count, number: u64) -> bool {
    if counts_later(engine) { count.may_be(number) } else { count == number }
}
