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
//! - `prepare.rs`, `view.rs`, `engine.rs`: the traits, implemented with the parts above.

mod engine;
mod entry;
mod file;
mod manifest;
mod prepare;
mod recent;
mod sources;
#[cfg(test)]
mod tests;
mod view;

pub use engine::{ReferenceEngine, ReferenceSnapshot};
pub use prepare::ReferenceChanges;
pub use view::{ReferenceRows, ReferenceView};

use hedgerow_erased::{ErasedEngine, Make, NamedEngine};
use hedgerow_log::files::FileError;
use hedgerow_model::EngineOptions;
use hedgerow_model::{Catalog, EngineError, Topology, WriteError};

/// The prefix of the engine's files. All other files of the directory belong to the store.
pub const PREFIX: &str = "engine-";

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
        Ok(ErasedEngine::new(ReferenceEngine::open(files, options)?))
    }),
};

/// The schema of the graph, and thresholds for deferred work.
#[derive(Clone, Debug)]
pub struct ReferenceOptions {
    /// The topology, with the stored directions.
    pub topology: Topology,
    /// The labels with the data of their edges.
    pub catalog: Catalog,
    /// Bytes of changes that are in no file yet, from which on commits are held back.
    pub recent_bytes: usize,
    /// Approximate size of a block in bytes.
    pub block_bytes: usize,
    /// The number of files that are merged into one.
    pub files: usize,
}

impl Default for ReferenceOptions {
    fn default() -> Self {
        let (topology, catalog) = Default::default();
        ReferenceOptions { topology, catalog, recent_bytes: 16 << 20, block_bytes: 4096, files: 4 }
    }
}

/// Returns the error for a file that could not be written.
fn unwritten(name: String) -> impl Fn(FileError) -> EngineError {
    move |error| WriteError::new(&*name, error).into()
}
