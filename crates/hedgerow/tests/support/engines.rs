//! The engines that tests of graphs run on.

#![allow(dead_code, reason = "not every test needs all")]

use hedgerow::{Count, EngineKind, Graph, GraphOptions, LabelId, WriteGraph};
use hedgerow_erased::{ErasedEngine, Make, NamedEngine};
use hedgerow_hybrid::{Hybrid, HybridOptions};
use hedgerow_model::EngineOptions;
use hedgerow_sync::Arc;
use hedgerow_testing::simulated::SimulatedFiles;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// The example of an engine: in memory, where every commit is one of effects.
pub const EXAMPLE: EngineKind = EngineKind::Erased(&hedgerow_testing::example::EXAMPLE);

/// Engine `hybrid` with a log that is archived every few commits.
pub static HYBRID: NamedEngine = NamedEngine {
    name: "hybrid",
    make: Make::InMemory(|EngineOptions { topology, catalog }| {
        let options = HybridOptions { archived_from: 16, ..HybridOptions::new(topology, catalog) };
        let engine = Arc::new(Hybrid::new(options));
        ErasedEngine::shared(&engine).with_archiving(&engine).with_retained(&engine, Hybrid::retained)
    }),
};

/// The engines of the library that need no files, and the example.
pub const ENGINES: [EngineKind; 4] =
    [EngineKind::Rapid, EngineKind::Tel, EngineKind::Erased(&HYBRID), EXAMPLE];

/// The engines for model tests of whole graphs.
pub const MODELLED: [EngineKind; 3] = [EngineKind::Rapid, EngineKind::Tel, EXAMPLE];

/// The engines of the library that need no files.
pub fn in_memory() -> impl Iterator<Item = EngineKind> {
    EngineKind::ALL.iter().copied().filter(|engine| !engine.owns_files())
}

/// Returns true if an engine defers counting: it does not look up edges that are put, or deleted in
/// a stream, and counts such a commit as a change. Observed once per thread: the number of edges is
/// a range after an edge was put.
#[must_use]
pub fn counts_later(engine: EngineKind) -> bool {
    thread_local!(static KNOWN: RefCell<BTreeMap<&'static str, bool>> = RefCell::default());
    let observe = || {
        let options = GraphOptions::new().engine(engine).simulated();
        let graph = match engine.owns_files() {
            true => options.create_on(Arc::new(SimulatedFiles::new(1))),
            false => Graph::in_memory(options),
        };
        let graph = graph.unwrap();
        graph.put_edge(LabelId::DEFAULT, 1, 2).unwrap();
        graph.snapshot().unwrap().edge_count().exact().is_none()
    };
    KNOWN.with_borrow_mut(|known| *known.entry(engine.name()).or_insert_with(observe))
}

/// Returns true if a count is this number, or may be if the engine defers counting.
#[must_use]
pub fn is_count(engine: EngineKind, count: Count, number: u64) -> bool {
    if counts_later(engine) { count.may_be(number) } else { count == number }
}
