//! The traits of stores.

use crate::compare::calls::work::{Ends, Payment};
use anyhow::Result;
use std::time::Duration;

/// A readable state of the graph: a snapshot, or a transaction.
pub trait Reads {
    /// Returns true if there is an edge without data.
    fn contains_edge(&mut self, source: u64, destination: u64) -> Result<bool>;

    /// The neighbors of a vertex, collected into a vector.
    fn neighbors(&mut self, source: u64) -> Result<impl Iterator<Item = u64>>;

    /// Visits the neighbors of a vertex.
    fn visit_neighbors(&mut self, source: u64, visit: impl FnMut(u64)) -> Result<()>;

    /// The number of neighbors of a vertex.
    fn degree(&mut self, source: u64) -> Result<usize>;

    /// The number on an edge.
    fn number(&mut self, source: u64, destination: u64) -> Result<Option<f64>>;

    /// The record of an edge.
    fn payment(&mut self, source: u64, destination: u64) -> Result<Option<Payment>>;

    /// The number of these edges that exist, looked up through one reader for all of them; `None`
    /// if the store has no such reader.
    fn find_in_a_row(&mut self, _: &[Ends]) -> Result<Option<u64>> {
        Ok(None)
    }

    /// The number of these edges that exist, found by the ids of their ends over a cursor, and the
    /// time without look-ups of keys; `None` if the store has no such path.
    fn find_by_cursor(&mut self, _: &[Ends]) -> Result<Option<(u64, Duration)>> {
        Ok(None)
    }
}

/// A store that holds the graph of the work three times: with edges without data, with a number,
/// and with a record.
pub trait Store {
    /// A readable state.
    type Reader<'s>: Reads
    where
        Self: 's;

    /// Opens the newest state for many reads.
    fn reader(&self) -> Result<Self::Reader<'_>>;

    /// Opens and closes a snapshot; false if the store has none.
    fn open_snapshot(&self) -> Result<bool> {
        Ok(false)
    }

    /// Puts an edge without data, as its own commit if the store has commits.
    fn put_edge(&mut self, source: u64, destination: u64) -> Result<()>;

    /// Deletes an edge without data, as its own commit if the store has commits.
    fn delete_edge(&mut self, source: u64, destination: u64) -> Result<()>;

    /// Puts edges without data in one call, each as its own commit; false if there is no such call.
    fn put_each(&mut self, _: &[Ends]) -> Result<bool> {
        Ok(false)
    }
}
