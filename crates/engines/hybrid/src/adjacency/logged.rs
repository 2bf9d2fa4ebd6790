//! Rows and the log that feeds them, without an engine around them.

use crate::adjacency::report::ChainReport;
use crate::adjacency::sizes::BlockSizes;
use crate::adjacency::table::{RetainedVersion, RowTable};
use crate::edge_log::{Archive, Archiver, ChangeList, Cut, EdgeLog, Ends, NewRun, RunChange, RunCommits};
use hedgerow_model::{ColumnType, CommitTimestamp, MemoryUse, VertexId};
use rayon::ThreadPool;
use std::ops::ControlFlow;

/// An adjacency of directed edges without values, and the edge log that feeds it, for measurements
/// without vertices, commits and snapshots.
///
/// Logging and archiving borrow it exclusively, so only the newest version is ever read.
pub struct LoggedTable {
    log: EdgeLog,
    rows: ArchivedRows,
    archiver: Archiver,
    last: CommitTimestamp,
}

/// The rows of a [`LoggedTable`].
struct ArchivedRows {
    vertex_bound: u32,
    table: RowTable,
    /// Rounds of the versions that the log lists.
    retained: Vec<u32>,
}

impl Archive for ArchivedRows {
    fn ends(&self, _: u16) -> Ends {
        Ends { out: 0, back: None }
    }

    fn vertex_bound(&self) -> u32 {
        self.vertex_bound
    }

    fn add(&self, round: u32, _: u32, changes: &ChangeList) {
        self.table.add(round, &self.retained, changes);
    }
}

impl LoggedTable {
    /// Creates an empty table of vertices below `vertex_bound`, behind a log with buffers of
    /// `buffer_words` words.
    #[must_use]
    pub fn new(vertex_bound: u32, sizes: BlockSizes, buffer_words: usize) -> Self {
        let table = RowTable::new(ColumnType::Unit, sizes);
        LoggedTable {
            log: EdgeLog::new(buffer_words, CommitTimestamp::ZERO),
            rows: ArchivedRows { vertex_bound, table, retained: vec![0] },
            archiver: Archiver::default(),
            last: CommitTimestamp::ZERO,
        }
    }

    /// Appends edges to the log, as one commit that puts them. Each edge is a
    /// [position](hedgerow_model::EdgeChange::position_of) with a source below `vertex_bound`.
    pub fn put(&mut self, edges: &[u64]) {
        self.append(RunChange::Put, edges);
    }

    /// Appends deletions of edges to the log, like [`LoggedTable::put`]. Archiving them compacts
    /// the rows that lose many edges.
    pub fn delete(&mut self, edges: &[u64]) {
        self.append(RunChange::Delete, edges);
    }

    fn append(&mut self, change: RunChange<'_>, edges: &[u64]) {
        debug_assert!(edges.iter().all(|edge| edge >> 32 < u64::from(self.rows.vertex_bound)));
        self.last.0 += 1;
        let runs = [NewRun { table: 0, change, commits: RunCommits::One, edges }];
        self.log.reserve(self.last, &runs).write(&runs);
    }

    /// Archives all edges in the log, and frees the chains that only the previous version had. With
    /// a pool, its threads share the work.
    pub fn archive(&mut self, pool: Option<&ThreadPool>) {
        self.archiver.archive(&self.log, &self.rows, Cut::At(self.last), pool);
        let listed = self.log.forget_unread();
        self.rows.retained = listed.iter().map(|archived| archived.round).collect();
        self.rows.table.free_former(&self.rows.retained);
    }

    /// Visits the archived neighbors of all vertices in nonempty runs, by ascending vertex.
    #[inline]
    pub fn scan(&self, mut visit: impl FnMut(VertexId, &[VertexId])) {
        let (tail, mut deleted) = (self.log.newest(), Vec::new());
        // SAFETY: only this log feeds the table, and `archive` passes on the versions that it
        // lists.
        let version = unsafe { RetainedVersion::new(&tail) };
        for (vertex, row) in self.rows.table.rows(0..self.rows.vertex_bound, version) {
            let _: ControlFlow<()> = row.neighbors(&mut deleted, |neighbors, _: &[()]| {
                visit(vertex, neighbors);
                ControlFlow::Continue(())
            });
        }
    }

    /// Counts the blocks of the rows. O(vertices + blocks).
    #[must_use]
    pub fn chains(&self) -> ChainReport {
        let tail = self.log.newest();
        // SAFETY: only this log feeds the table, and `archive` passes on the versions that it
        // lists.
        let version = unsafe { RetainedVersion::new(&tail) };
        self.rows.table.chains(0..self.rows.vertex_bound, version)
    }

    /// Returns the memory use of the rows, without the log. O(1).
    #[must_use]
    pub fn memory(&self) -> MemoryUse {
        self.rows.table.memory()
    }
}

#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests {
    use super::*;
    use hedgerow_model::EdgeChange;

    #[test]
    fn rows_have_the_edges_that_are_archived_whatever_their_blocks() {
        let edges: Vec<u64> = (0..3000_u32)
            .map(|number| EdgeChange::position_of(VertexId::new(number % 7), VertexId::new(number)))
            .collect();
        for sizes in [BlockSizes::Exact, BlockSizes::Lines, BlockSizes::LinesAndPages, BlockSizes::Growing] {
            let mut table = LoggedTable::new(7, sizes, 1000);
            for round in edges.chunks(100) {
                round.chunks(30).for_each(|commit| table.put(commit));
                table.archive(None);
            }
            // An edge that is only in the log is not in the rows.
            table.put(&[EdgeChange::position_of(VertexId::new(0), VertexId::new(5000))]);
            let found = |table: &LoggedTable| {
                let mut found = Vec::new();
                table.scan(|owner, neighbors| {
                    found.extend(neighbors.iter().map(|neighbor| EdgeChange::position_of(owner, *neighbor)));
                });
                found.sort_unstable_by_key(|position| *position as u32);
                found
            };
            assert_eq!(found(&table), edges, "{sizes:?}");
            let chains = table.chains();
            assert_eq!((chains.rows, chains.entries), (7, 3000), "{sizes:?}");
            assert!(chains.most_blocks * 7 >= chains.blocks, "{sizes:?}");
            assert!(table.memory().total_bytes() >= 3000 * size_of::<VertexId>(), "{sizes:?}");
            let (deleted, left) = edges.split_at(2000);
            table.delete(deleted);
            table.delete(&[EdgeChange::position_of(VertexId::new(0), VertexId::new(5000))]);
            table.archive(None);
            assert_eq!(found(&table), left, "{sizes:?}");
            assert_eq!(table.chains().entries, 1000, "{sizes:?}, compacted");
        }
    }
}
