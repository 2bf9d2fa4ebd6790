//! The snapshot that a view reads: a version of the adjacencies, and the tail of the log after it.

use crate::adjacency::RetainedVersion;
use crate::edge_log::{ChangeList, LogTail};
use crate::tables::AdjacencyTables;
use crate::tail_index::{ChangedRow, TailIndex};
use hedgerow_model::{CommitTimestamp, EdgeValue, LabelId, VertexId};
use hedgerow_sync::atomic::{AtomicUsize, Ordering};
use hedgerow_sync::{Arc, OnceLock};
use std::ops::Range;

/// Number of rows that a snapshot reads before it indexes its tail: for a few rows, the indexes of
/// the buffers, which snapshots share, are enough.
const ROWS_WITHOUT_INDEX: usize = 128;

/// A version of the adjacencies, and the tail of the log after it. The tail is indexed when some
/// rows were read, or for a scan (GraphOne, 6.1: computations over a static view index the edges
/// that are not archived once).
#[derive(Debug)]
pub struct HybridSnapshot {
    tail: Arc<LogTail>,
    /// Indexes of the tail, by adjacency.
    indexes: OnceLock<Box<[OnceLock<TailIndex>]>>,
    rows_read: AtomicUsize,
}

impl HybridSnapshot {
    pub(crate) fn new(tail: Arc<LogTail>) -> Self {
        HybridSnapshot { tail, indexes: OnceLock::new(), rows_read: AtomicUsize::new(0) }
    }

    #[inline]
    pub(crate) fn tail(&self) -> &LogTail {
        &self.tail
    }

    /// Returns the numbers of edges of a label that commits up to `at`, missing from the version,
    /// put and delete. O(runs of the tail).
    pub(crate) fn puts_and_deletions(&self, at: CommitTimestamp, label: LabelId) -> (u64, u64) {
        let (mut puts, mut deletions) = (0, 0);
        for run in self.tail.runs(at).filter(|run| run.table == label.0) {
            *(if run.deletes() { &mut deletions } else { &mut puts }) += run.len() as u64;
        }
        (puts, deletions)
    }

    /// Returns the place of an adjacency's index, or `None` if its label is newer than the first
    /// index.
    fn index_place(&self, tables: &AdjacencyTables, adjacency: u32) -> Option<&OnceLock<TailIndex>> {
        let indexes = self.indexes.get_or_init(|| (0..tables.len()).map(|_| OnceLock::new()).collect());
        indexes.get(adjacency as usize)
    }
}

/// The changes of one adjacency after the version of a snapshot.
#[derive(Clone, Copy)]
pub(crate) struct TailRows<'v> {
    snapshot: &'v HybridSnapshot,
    tables: &'v AdjacencyTables,
    version: RetainedVersion<'v>,
    at: CommitTimestamp,
    adjacency: u32,
    state: TailState<'v>,
}

/// Source of the changes.
#[derive(Clone, Copy)]
enum TailState<'v> {
    /// There are no changes.
    Empty,
    /// In the buffers of the log.
    InBuffers,
    Indexed(&'v TailIndex),
}

impl<'v> TailState<'v> {
    fn of(index: &'v TailIndex) -> Self {
        if index.is_empty() { TailState::Empty } else { TailState::Indexed(index) }
    }
}

impl<'v> TailRows<'v> {
    pub(crate) fn new(
        snapshot: &'v HybridSnapshot,
        tables: &'v AdjacencyTables,
        version: RetainedVersion<'v>,
        at: CommitTimestamp,
        adjacency: u32,
    ) -> Self {
        let known = snapshot.indexes.get().and_then(|indexes| indexes.get(adjacency as usize)?.get());
        let state = match known {
            Some(index) => TailState::of(index),
            None if snapshot.tail.runs(at).next().is_none() => TailState::Empty,
            None => TailState::InBuffers,
        };
        TailRows { snapshot, tables, version, at, adjacency, state }
    }

    /// The last change of each edge of a row, if there are any. Uses `room` as scratch space.
    #[inline]
    pub(crate) fn row<'r>(&mut self, owner: VertexId, room: &'r mut ChangeList) -> Option<ChangedRow<'r>>
    where
        'v: 'r,
    {
        self.count_row();
        match self.state {
            TailState::Empty => None,
            TailState::Indexed(index) => {
                let row = index.row(owner)?;
                if row.replaced.is_none() && index.count_searched() {
                    self.resolve();
                }
                Some(row)
            }
            TailState::InBuffers => {
                let tables = self.tables;
                let ends = |table| tables.ends_of(table);
                *room = self.snapshot.tail.changes_of(self.at, (self.adjacency, owner), ends);
                Some(ChangedRow { changes: room.row(owner)?, replaced: None })
            }
        }
    }

    /// Returns the last change of an edge, if there is one: its value, or `None` if the edge is
    /// deleted.
    #[inline]
    pub(crate) fn find(&mut self, owner: VertexId, neighbor: VertexId) -> Option<Option<EdgeValue>> {
        self.count_row();
        match self.state {
            TailState::Empty => None,
            TailState::Indexed(index) => Some(index.row(owner)?.changes.find(neighbor)?.value),
            TailState::InBuffers => {
                let ends = |table| self.tables.ends_of(table);
                self.snapshot.tail.find(self.at, (self.adjacency, owner, neighbor), ends)
            }
        }
    }

    /// Returns the rows with changes in a range of vertices, ascending, for a scan.
    pub(crate) fn rows(&mut self, vertices: Range<u32>) -> impl Iterator<Item = ChangedRow<'v>> + use<'v> {
        self.index();
        self.resolve();
        let index = match self.state {
            TailState::Indexed(index) => Some(index),
            TailState::Empty | TailState::InBuffers => None,
        };
        index.into_iter().flat_map(move |index| index.rows(vertices.clone()))
    }

    /// Indexes the tail, and finds the entries that changes replace.
    pub(crate) fn index_all(mut self) {
        self.index();
        self.resolve();
    }

    /// Indexes the tail, if its changes are still found in buffers.
    fn index(&mut self) {
        if let TailState::InBuffers = self.state {
            let place = self.snapshot.index_place(self.tables, self.adjacency);
            let index = place.map(|place| {
                place.get_or_init(|| {
                    let ends = |table| self.tables.ends_of(table);
                    TailIndex::new(self.snapshot.tail.changes(self.at, self.adjacency, ends))
                })
            });
            // A label that is newer than the snapshot has no edges in it.
            self.state = index.map_or(TailState::Empty, TailState::of);
        }
    }

    /// Finds the entries that changes replace, if the tail is indexed.
    fn resolve(&self) {
        if let TailState::Indexed(index) = self.state {
            let rows = &self.tables.at(self.adjacency).rows;
            index.resolve(|owner| rows.row(owner, self.version));
        }
    }

    #[inline]
    fn count_row(&mut self) {
        if let TailState::InBuffers = self.state
            && self.snapshot.rows_read.fetch_add(1, Ordering::Relaxed) >= ROWS_WITHOUT_INDEX
        {
            self.index();
        }
    }
}
