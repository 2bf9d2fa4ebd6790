//! The trait of stores, and their description.

use crate::compare::graph::Edge;
use crate::compare::out_of_core::algorithms::Reader;
use anyhow::Result;
use std::path::Path;

/// The parameters of making or opening a store.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'s> {
    /// The folder of its files.
    pub folder: &'s Path,
    /// The vertex bound.
    pub vertices: u32,
    /// Bytes for changes and blocks of files in memory.
    pub budget: u64,
}

/// A store of undirected edges, read in both directions.
pub trait Store: Sync {
    /// Puts edges and then deletes others, in the store's way of committing a stream, without
    /// waiting for the disk.
    fn write(&self, puts: &[Edge], deletions: &[Edge]) -> Result<()>;

    /// Puts ascending edges, in both directions, after all edges put before, in the fastest way.
    fn load_in_order(&self, edges: &[Edge]) -> Result<()>;

    /// Brings everything into files and does all deferred work.
    fn settle(&self) -> Result<()>;

    /// Reads one state.
    fn read(&self, work: &mut dyn FnMut(&mut dyn Reader) -> Result<()>) -> Result<()>;
}

/// A kind of store.
#[derive(Debug)]
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// Its setup.
    pub setup: &'static str,
    /// Undirected edges per write.
    pub batch: usize,
    /// True if the store is loaded in order, because it would take hours otherwise.
    pub is_loaded_in_order: bool,
    /// True if the store has its own analytics.
    pub has_analytics: bool,
    /// Makes a store in an empty folder, or opens the existing one.
    pub open: fn(Setup<'_>) -> Result<Box<dyn Store>>,
}
