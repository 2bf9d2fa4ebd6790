//! The trait of stores, and their description.

use crate::compare::graph::Edge;
use anyhow::Result;
use hedgerow::{Durability, VertexId};
use std::path::Path;

/// A store of directed edges between numbered vertices, open for any number of threads.
pub trait EdgeStore: Send + Sync {
    /// Puts an edge as its own transaction, with the durability of the store.
    fn put(&self, edge: Edge) -> Result<()>;

    /// Puts edges as one transaction.
    fn put_all(&self, edges: &[Edge]) -> Result<()>;

    /// Sums the first `most` neighbors of each of some vertices, one vertex after the other.
    fn sum_neighbors(&self, sources: &[VertexId], most: usize) -> Result<u64>;

    /// The number of these edges that exist, each looked up individually.
    fn count(&self, edges: &[Edge]) -> Result<usize>;

    /// Waits until everything survives a loss of power.
    fn flush(&self) -> Result<()>;

    /// Brings the files into the form that opens fastest, as before a planned shutdown.
    fn settle(&self) -> Result<()>;
}

/// Opens or creates a store in the directory, with this durability, for vertices below a bound.
type Open = fn(&Path, Durability, u32) -> Result<Box<dyn EdgeStore>>;

/// A kind of store.
#[derive(Debug)]
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// Its setup.
    pub setup: &'static str,
    /// Opens a store.
    pub open: Open,
}
