//! Parallel edges as applications write and read them: by the key that tells them apart.

use crate::declared::DeclaredTxn;
use crate::error::Error;
use crate::graph::Graph;
use crate::parallel_edge::ParallelEdge;

use crate::edge_update::EdgeUpdate;
use crate::reads::check_adjacency;
use crate::snapshot::Snapshot;
use crate::transaction::WriteTxn;
use hedgerow_model::{AsKey, Direction, LabelId, Record};
use hedgerow_pipeline::{Commit, Error as Cause, Newest, decoded};
use std::ops::{Bound, RangeBounds, RangeInclusive};

impl Graph {
    /// Puts, changes or deletes that of parallel edges which has `key`, as a commit of its own, and decides a condition on the newest
    /// state. O(log degree + parallel edges / 100), where about a hundred short records share a piece of memory.
    ///
    /// [`Commit::changed`] says whether the condition held and anything is different now.
    ///
    /// # Errors
    /// A key is of another kind than the graph's, there is no such label, its edges cannot be parallel, a property is unknown, of
    /// another type or null where it must not be, or a limit would be exceeded.
    pub fn update_parallel_edge(
        &self,
        label: LabelId,
        source: impl AsKey,
        destination: impl AsKey,
        key: u64,
        update: &EdgeUpdate<'_>,
    ) -> Result<Commit, Error> {
        self.commit_one(self.stores().update_parallel_edge(label, &source, &destination, key, update)?)
    }

    /// The record of that of parallel edges which has `key`, in the newest state; `None` if there is none.
    ///
    /// # Errors
    /// As [`Snapshot::parallel_edge`], or the graph is poisoned.
    pub fn parallel_edge(
        &self,
        label: LabelId,
        source: impl AsKey,
        destination: impl AsKey,
        key: u64,
    ) -> Result<Option<Record>, Error> {
        self.snapshot()?.parallel_edge(label, source, destination, key)
    }
}

impl Snapshot {
    /// The record of that of parallel edges which has `key`; `None` if there is none. O(log degree + log parallel edges).
    ///
    /// # Errors
    /// A key is of another kind than the graph's, there is no such label, or its edges cannot be parallel.
    pub fn parallel_edge(
        &self,
        label: LabelId,
        source: impl AsKey,
        destination: impl AsKey,
        key: u64,
    ) -> Result<Option<Record>, Error> {
        Ok(only(self.parallel_edges(label, source, destination, key..=key)?))
    }

    /// Those edges from one vertex to another whose keys are in a range, ascending. O(log degree + log parallel edges + found).
    ///
    /// # Errors
    /// As [`Snapshot::parallel_edge`].
    pub fn parallel_edges(
        &self,
        label: LabelId,
        source: impl AsKey,
        destination: impl AsKey,
        keys: impl RangeBounds<u64>,
    ) -> Result<Vec<(u64, Record)>, Error> {
        self.stores().parallel_schema(label)?;
        let (keys, mut edges) = (inclusive(keys), Vec::new());
        self.read(|state| match (state.owner(source.as_key())?, state.owner(destination.as_key())?) {
            (Some(source), Some(destination)) => {
                state.parallel_edges(label, source, destination, keys, &mut |key, record| {
                    edges.push((key, decoded(record)?));
                    Ok(())
                })
            }
            _ => Ok::<_, Cause>(()),
        })?;
        Ok(edges)
    }

    /// Those edges of a vertex whose keys are in a range: ascending by the neighbor's id, then by key. O(degree + found).
    ///
    /// # Errors
    /// The vertex's key is of another kind than the graph's, there is no such label or direction, or its edges cannot be parallel.
    pub fn parallel_neighbors(
        &self,
        label: LabelId,
        direction: Direction,
        key: impl AsKey,
        keys: impl RangeBounds<u64>,
    ) -> Result<Vec<ParallelEdge>, Error> {
        self.stores().parallel_schema(label)?;
        check_adjacency::<()>(self.stores(), label, direction)?;
        let (keys, mut edges) = (inclusive(keys), Vec::new());
        self.read(|state| match state.owner(key.as_key())? {
            Some(vertex) => {
                state.parallel_neighbors(label, direction, vertex, keys, &mut |neighbor, key, record| {
                    edges.push(ParallelEdge { neighbor: state.key(neighbor), key, record: decoded(record)? });
                    Ok(())
                })
            }
            None => Ok(()),
        })?;
        Ok(edges)
    }

    /// How many edges a vertex has over a label whose edges may be parallel, where [`Snapshot::degree`] counts neighbors.
    ///
    /// O(degree).
    ///
    /// # Errors
    /// As [`Snapshot::parallel_neighbors`].
    pub fn parallel_degree(
        &self,
        label: LabelId,
        direction: Direction,
        key: impl AsKey,
    ) -> Result<u64, Error> {
        self.stores().parallel_schema(label)?;
        check_adjacency::<()>(self.stores(), label, direction)?;
        let degree = self.read(|state| match state.owner(key.as_key())? {
            Some(vertex) => state.parallel_degree(label, direction, vertex),
            None => Ok(0),
        })?;
        Ok(degree)
    }

    /// The edges of a vertex over a label whose edges may be parallel, newest first: see [`Newest`]. O(edges of the vertex).
    ///
    /// # Errors
    /// As [`Snapshot::parallel_neighbors`], or the edges have no such time.
    pub fn newest_parallel_edges(
        &self,
        label: LabelId,
        direction: Direction,
        key: impl AsKey,
        newest: &Newest,
    ) -> Result<Vec<ParallelEdge>, Error> {
        self.stores().parallel_schema(label)?;
        check_adjacency::<()>(self.stores(), label, direction)?;
        self.newest(label, direction, key, newest, |neighbor, edge| {
            Ok(ParallelEdge { neighbor, key: edge.key, record: decoded(edge.record)? })
        })
    }
}

impl WriteTxn {
    /// Puts, changes or deletes that of parallel edges which has `key`; a condition is decided on what the transaction reads, and on
    /// the newest state again when it commits.
    ///
    /// All edges of a label between two vertices are one thing to conflicts, whatever their keys.
    ///
    /// # Errors
    /// As [`Graph::update_parallel_edge`].
    pub fn update_parallel_edge(
        &mut self,
        label: LabelId,
        source: impl AsKey,
        destination: impl AsKey,
        key: u64,
        update: &EdgeUpdate<'_>,
    ) -> Result<(), Error> {
        self.stage(|stores| stores.update_parallel_edge(label, &source, &destination, key, update))
    }

    /// The record of that of parallel edges which has `key`, for this transaction; `None` if there is none.
    ///
    /// # Errors
    /// As [`Snapshot::parallel_edge`].
    pub fn parallel_edge(
        &mut self,
        label: LabelId,
        source: impl AsKey,
        destination: impl AsKey,
        key: u64,
    ) -> Result<Option<Record>, Error> {
        Ok(only(self.parallel_edges(label, source, destination, key..=key)?))
    }

    /// Those edges from one vertex to another whose keys are in a range, ascending, for this transaction.
    ///
    /// # Errors
    /// As [`Snapshot::parallel_edge`].
    pub fn parallel_edges(
        &mut self,
        label: LabelId,
        source: impl AsKey,
        destination: impl AsKey,
        keys: impl RangeBounds<u64>,
    ) -> Result<Vec<(u64, Record)>, Error> {
        self.read_parallel_edges(label, source.as_key(), destination.as_key(), inclusive(keys))
    }

    /// Those edges of a vertex whose keys are in a range, for this transaction: in the order of
    /// [`neighbors_of`](WriteTxn::neighbors_of), then by key.
    ///
    /// # Errors
    /// As [`Snapshot::parallel_neighbors`].
    pub fn parallel_neighbors(
        &mut self,
        label: LabelId,
        direction: Direction,
        key: impl AsKey,
        keys: impl RangeBounds<u64>,
    ) -> Result<Vec<ParallelEdge>, Error> {
        self.read_parallel_neighbors(label, direction, key.as_key(), inclusive(keys))
    }
}

impl DeclaredTxn<'_> {
    /// Puts, changes or deletes that of parallel edges between declared vertices which has `key`. A condition is decided on the newest
    /// state.
    ///
    /// # Errors
    /// A vertex was not declared, there is no such label, its edges cannot be parallel, or a property is unknown or of another type.
    pub fn update_parallel_edge(
        &mut self,
        label: LabelId,
        source: impl AsKey,
        destination: impl AsKey,
        key: u64,
        update: &EdgeUpdate<'_>,
    ) -> Result<(), Error> {
        self.stage_between(&source, &destination, |stores| {
            stores.update_parallel_edge(label, &source, &destination, key, update)
        })
    }

    /// The record of that of parallel edges between declared vertices which has `key`; `None` if there is none.
    ///
    /// # Errors
    /// A vertex was not declared, there is no such label, or its edges cannot be parallel.
    pub fn parallel_edge(
        &self,
        label: LabelId,
        source: impl AsKey,
        destination: impl AsKey,
        key: u64,
    ) -> Result<Option<Record>, Error> {
        Ok(only(self.parallel_edges(label, source, destination, key..=key)?))
    }

    /// Those edges from one declared vertex to another whose keys are in a range, ascending.
    ///
    /// # Errors
    /// As [`DeclaredTxn::parallel_edge`].
    pub fn parallel_edges(
        &self,
        label: LabelId,
        source: impl AsKey,
        destination: impl AsKey,
        keys: impl RangeBounds<u64>,
    ) -> Result<Vec<(u64, Record)>, Error> {
        self.read_parallel_edges(label, &source, &destination, inclusive(keys))
    }
}

/// What was found by one key.
fn only(mut found: Vec<(u64, Record)>) -> Option<Record> {
    found.pop().map(|(_, record)| record)
}

/// A range of keys with its ends; none is in it if it is empty.
fn inclusive(keys: impl RangeBounds<u64>) -> RangeInclusive<u64> {
    let first = match keys.start_bound() {
        Bound::Included(first) => Some(*first),
        Bound::Excluded(before) => before.checked_add(1),
        Bound::Unbounded => Some(0),
    };
    let last = match keys.end_bound() {
        Bound::Included(last) => Some(*last),
        Bound::Excluded(end) => end.checked_sub(1),
        Bound::Unbounded => Some(u64::MAX),
    };
    first.zip(last).map_or(RangeInclusive::new(1, 0), |(first, last)| first..=last)
}
