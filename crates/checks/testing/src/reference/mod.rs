//! The reference engine: a small one, in memory or in files, that the tests of graphs compare with
//! the engines of the library. Also the worked example of `docs/writing-an-engine.md`.
//!
//! It is written to be read, not to be fast: it has no cache, so that every read goes to the files.
//! In memory it has no fast path, so that each of its commits takes the general one, and counts
//! exactly; in files it counts edges later.
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
pub use view::{ReferenceRows, ReferenceView};

use hedgerow_erased::{ErasedEngine, Make, NamedEngine};
use hedgerow_model::EngineOptions;
use hedgerow_sync::Arc;

/// The engine in memory, for creating graphs by its name.
pub static REFERENCE: NamedEngine = NamedEngine {
    name: "reference",
    make: Make::InMemory(|EngineOptions { topology, catalog }| {
        ErasedEngine::new(ReferenceEngine::in_memory(topology, &catalog))
    }),
};

/// The engine in files.
pub static REFERENCE_IN_FILES: NamedEngine = NamedEngine {
    name: "reference-files",
    make: Make::InFiles(|files, EngineOptions { topology, catalog }| {
        let options = ReferenceOptions { topology, catalog, ..ReferenceOptions::default() };
        let engine = Arc::new(ReferenceEngine::open(files, options)?);
        Ok(ErasedEngine::shared(&engine).with_durable(&engine))
    }),
};
