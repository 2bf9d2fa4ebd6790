//! A small engine that keeps the graph in files: the worked example of `docs/writing-an-engine.md`, and the proof that the traits of engines fit disks.
//!
//! It is made to be read, not to be fast: every read goes to the files, nothing is cached.
//!
//! - `entry.rs`: what an entry is. A commit makes one of each vertex and each neighbor that it changes.
//! - `recent.rs`: the entries that are in no file yet, sorted, in memory.
//! - `file.rs`: a sorted file, made by each flush. `manifest.rs` says which files there are.
//! - `sources.rs`: files and recent entries read as one, at a timestamp; what no timestamp sees left out.
//! - `prepare.rs`, `view.rs`, `engine.rs`: the traits, in terms of the parts above.

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

pub use engine::{DiskEngine, DiskSnapshot};
pub use prepare::DiskChanges;
pub use view::{DiskRows, DiskView};

use hedgerow_erased::{CustomEngine, EngineOptions, ErasedEngine, Make};
use hedgerow_log::files::FileError;
use hedgerow_model::{Catalog, EngineError, Topology, WriteError};

/// What the names of the engine's files begin with. All other files of the directory belong to the store.
pub const PREFIX: &str = "engine-";

/// The engine by its name, for graphs to be made with.
pub static DISK: CustomEngine = CustomEngine {
    name: "disk",
    make: Make::InFiles(|files, EngineOptions { topology, catalog }| {
        let options = DiskOptions { topology, catalog, ..DiskOptions::default() };
        Ok(ErasedEngine::new(DiskEngine::open(files, options)?))
    }),
};

/// What the engine stores, and when it does the work that it puts off.
#[derive(Clone, Debug)]
pub struct DiskOptions {
    /// Whether edges are directed, and which directions are stored.
    pub topology: Topology,
    /// The labels and what lies on their edges.
    pub catalog: Catalog,
    /// Commits are held back when the changes that are in no file take so many bytes.
    pub recent_bytes: usize,
    /// A block has about so many bytes.
    pub block_bytes: usize,
    /// So many files are merged into one.
    pub files: usize,
}

impl Default for DiskOptions {
    fn default() -> Self {
        let (topology, catalog) = Default::default();
        DiskOptions { topology, catalog, recent_bytes: 16 << 20, block_bytes: 4096, files: 4 }
    }
}

/// Says that a file could not be written.
fn unwritten(name: String) -> impl Fn(FileError) -> EngineError {
    move |error| WriteError::new(&*name, error).into()
}
