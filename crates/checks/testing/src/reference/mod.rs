//! The reference engine: a small one that keeps the graph in files. `docs/writing-an-engine.md`
//! shows with it how an engine owns files and counts edges later; [`crate::example`] is smaller.
//!
//! It is written to be read, not to be fast: it has no cache, so that every read goes to the files.
//!
//! - `entry.rs`: entries. A commit makes one for each vertex and each neighbor that it changes.
//! - `recent.rs`: the entries that are in no file, sorted, in memory.
//! - `file.rs`: a sorted file, written by each flush. `manifest.rs` lists the files.
//! - `sources.rs`: files and recent entries merged, at a timestamp; drops garbage.
//! - `graph.rs`: the state of the engine, made of the parts above; `options.rs`: its options.
//! - `stage.rs`, `view.rs`, `engine.rs`: the traits, implemented with it.

mod engine;
mod entry;
mod file;
mod graph;
mod manifest;
mod options;
mod recent;
mod sources;
mod stage;
#[cfg(test)]
mod tests;
mod view;

pub use engine::ReferenceSnapshot;
pub use file::PREFIX;
pub use graph::ReferenceEngine;
pub use options::ReferenceOptions;
pub use stage::ReferenceChanges;
pub use view::ReferenceView;

use hedgerow_erased::{ErasedEngine, Make, NamedEngine};
use hedgerow_model::EngineOptions;
use hedgerow_sync::Arc;

/// The engine, for creating graphs by its name.
pub static REFERENCE_IN_FILES: NamedEngine = NamedEngine {
    name: "reference-files",
    make: Make::InFiles(|files, EngineOptions { topology, catalog }| {
        let options = ReferenceOptions { topology, catalog, ..ReferenceOptions::default() };
        let engine = Arc::new(ReferenceEngine::open(files, options)?);
        Ok(ErasedEngine::shared(&engine).with_durable(&engine))
    }),
};
