//! Rows that are judged in their order: the first of an edge, and all rows if some are from a pipe,
//! which can be read only once.

use super::position::record_digest;
use super::repeats::{RowDigest, Rows, digest};
use crate::error::StoredError;
use hedgerow::{AsKey, Error, Graph, LabelId, ReadGraph, Record, Topology};
use hedgerow_formats::{Edge, PropertyEdge, VertexKey};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// An edge in a file.
pub trait Row<K> {
    fn ends(&self) -> [&K; 2];

    /// The weight or the value, or the number of a parallel edge.
    fn value(&self) -> Option<u64>;

    /// The digest of the properties.
    fn properties(&self) -> u64;
}

/// The rows so far: the digest of each edge with that of its values.
#[derive(Debug)]
pub struct SeenRows {
    digests: Rows,
    are_parallel: bool,
    contents: HashMap<(u64, u64), u64>,
}

impl SeenRows {
    pub fn new(is_undirected: bool, are_parallel: bool) -> Self {
        SeenRows { digests: Rows::new(is_undirected), are_parallel, contents: HashMap::new() }
    }

    /// Fails if a row is of an edge that came before with other values.
    pub fn see<K: VertexKey + AsKey, R: Row<K>>(
        &mut self,
        input: &Path,
        rows: &[R],
    ) -> Result<(), StoredError> {
        let repeats = |row: &&R| {
            if self.are_parallel && row.value().is_none() {
                return false;
            }
            let digest = row_digest(&self.digests, *row, self.are_parallel);
            let before = self.contents.insert(digest.edge(), digest.content);
            before.is_some_and(|before| before != digest.content)
        };
        match rows.iter().find(repeats) {
            Some(row) => {
                let [from, to] = row.ends().map(|key| key.as_key().to_string());
                Err(StoredError::RepeatsInOrder { input: input.into(), from, to })
            }
            None => Ok(()),
        }
    }
}

/// The digest of an edge, the same in each process.
pub fn row_digest<K: VertexKey>(rows: &Rows, row: &impl Row<K>, are_parallel: bool) -> RowDigest {
    let (number, value) = if are_parallel { (row.value(), None) } else { (None, row.value()) };
    rows.row(row.ends().map(digest), number.unwrap_or_default(), digest((value, row.properties())))
}

/// Removes the rows of edges that the graph has, and of those that have a row before; returns their
/// number.
pub fn keep_first<K: VertexKey + AsKey, R: Row<K>>(
    graph: &Graph,
    label: LabelId,
    are_parallel: bool,
    rows: &mut Vec<R>,
) -> Result<u64, Error> {
    let (snapshot, before) = (graph.snapshot()?, rows.len());
    let (is_undirected, mut seen) = (snapshot.topology() == Topology::Undirected, HashSet::new());
    let mut is_kept = Vec::with_capacity(rows.len());
    for row in rows.iter() {
        let (mut ends, number) = (row.ends(), row.value().filter(|_| are_parallel));
        let exists = match number {
            Some(number) => snapshot.parallel_edge::<Record>(label, ends[0], ends[1], number)?.is_some(),
            None => snapshot.contains_edge(label, ends[0], ends[1])?,
        };
        if is_undirected {
            ends.sort();
        }
        is_kept.push(!exists && seen.insert((ends.map(Clone::clone), number)));
    }
    let mut is_kept = is_kept.into_iter();
    rows.retain(|_| is_kept.next().unwrap_or(true));
    Ok((before - rows.len()) as u64)
}

impl<K: VertexKey> Row<K> for Edge<K> {
    fn ends(&self) -> [&K; 2] {
        [&self.source, &self.destination]
    }

    fn value(&self) -> Option<u64> {
        self.weight.map(f64::to_bits)
    }

    fn properties(&self) -> u64 {
        0
    }
}

impl<K: VertexKey> Row<K> for PropertyEdge<K> {
    fn ends(&self) -> [&K; 2] {
        [&self.source, &self.destination]
    }

    fn value(&self) -> Option<u64> {
        self.value.map(|value| value.0)
    }

    fn properties(&self) -> u64 {
        // As of an edge list, which has a weight at most.
        if self.record.values().is_empty() { 0 } else { record_digest(&self.record) }
    }
}
