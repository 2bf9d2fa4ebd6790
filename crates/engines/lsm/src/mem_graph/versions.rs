//! All versions of a MemGraph in order, for a flush.

use super::ordered::NodeLink;
use super::row::MemRow;
use super::{MemContent, MemEntry, MemGraph};
use crate::levels::{SeenEdge, VersionBatch, VersionSource};
use hedgerow_model::{ColumnType, CommitTimestamp, ReadError, VertexId};
use smallvec::SmallVec;
use std::ops::Range;

/// Approximate number of versions per batch.
const BATCH: usize = if cfg!(any(test, hedgerow_shuttle)) { 5 } else { 4096 };

/// Number of rows whose cache misses overlap.
const TOGETHER: usize = 16;

/// An `editable_from` under which no version is overwritten.
const NONE_EDITABLE: CommitTimestamp = CommitTimestamp(u64::MAX);

/// The versions of an adjacency in a range of timestamps.
pub struct MemVersions<'m> {
    mem_graph: &'m MemGraph,
    adjacency: u32,
    after: CommitTimestamp,
    through: CommitTimestamp,
    /// Lower bound of the owners whose rows are not read to the end.
    next_owner: u32,
    /// The next node in the row of `next_owner`; `None` at its beginning.
    next_node: Option<NodeLink>,
    /// The versions read last.
    pub(super) batch: Vec<(VertexId, MemEntry)>,
    /// Owners of versions after the range, ascending.
    later: Vec<VertexId>,
    row: Vec<MemEntry>,
    record: Vec<u8>,
}

impl MemGraph {
    /// Returns the versions of an adjacency with timestamps in `after + 1..=through`.
    /// O(owners + entries · log entries) to read them all.
    ///
    /// Commits may go on meanwhile, if none overwrites versions up to `through`, which must be
    /// below the `editable_from` of all of them.
    #[must_use]
    pub fn versions(
        &self,
        adjacency: u32,
        after: CommitTimestamp,
        through: CommitTimestamp,
    ) -> MemVersions<'_> {
        MemVersions {
            mem_graph: self,
            adjacency,
            after,
            through,
            next_owner: 0,
            next_node: None,
            batch: Vec::new(),
            later: Vec::new(),
            row: Vec::new(),
            record: Vec::new(),
        }
    }

    /// Returns a MemGraph with the versions after the ranges of these sources of this MemGraph,
    /// each read to its end, or `None` if there are none. No writer may have been at work since the
    /// reading began. O(versions).
    #[must_use]
    pub fn residue<'v>(&self, read: impl Iterator<Item = &'v MemVersions<'v>>) -> Option<MemGraph> {
        // The residue usually has few rows.
        let buckets = self.rows.buckets().div_ceil(16);
        let columns: Vec<_> = self.columns.iter().copied().collect();
        let residue = MemGraph::new(&columns, self.begin, self.arena.block_words(), buckets);
        let mut entries = Vec::new();
        for MemVersions { adjacency, through, later, .. } in read {
            for owner in later {
                self.read_later(*adjacency, *owner, *through, &mut entries);
                self.copy_row(*adjacency, *owner, &entries, &residue);
            }
        }
        (residue.used_bytes() > 0).then_some(residue)
    }

    /// Replaces `entries` by the versions of a row after a timestamp. O(versions of the row).
    fn read_later(
        &self,
        adjacency: u32,
        owner: VertexId,
        after: CommitTimestamp,
        entries: &mut Vec<MemEntry>,
    ) {
        entries.clear();
        let Some(row) = self.row(adjacency, owner) else { return };
        let mut next = row.read_versions(None, entries);
        while next.is_some() {
            next = row.read_versions(next, entries);
        }
        entries.retain(|entry| entry.version.at > after);
    }

    /// Appends versions of a row, in the order of a [`VersionSource`], to another MemGraph.
    fn copy_row(&self, adjacency: u32, owner: VertexId, entries: &[MemEntry], target: &MemGraph) {
        let mut record = Vec::new();
        // The oldest version of an edge first.
        for MemEntry { neighbor, version } in entries.iter().rev() {
            let content = version.value.map(|value| match self.column(adjacency) {
                ColumnType::Record => {
                    record.clear();
                    self.record(value, &mut record);
                    MemContent::Record(&record)
                }
                _ => MemContent::Value(value),
            });
            target.push(adjacency, owner, *neighbor, version.at, NONE_EDITABLE, content);
        }
    }
}

impl VersionSource for MemVersions<'_> {
    fn read(&mut self, batch: &mut VersionBatch) -> Result<(), ReadError> {
        self.read_batch();
        // A MemGraph from before the adjacency has no versions of it.
        let column = self.mem_graph.columns.get(self.adjacency as usize);
        let has_records = column == Some(&ColumnType::Record);
        for (owner, MemEntry { neighbor, version }) in &self.batch {
            if has_records {
                self.record.clear();
                let record = version.value.map(|value| {
                    self.mem_graph.record(value, &mut self.record);
                    &*self.record
                });
                batch.push_record(*owner, *neighbor, version.at, record);
            } else {
                batch.push(*owner, *neighbor, *version);
            }
        }
        Ok(())
    }
}

impl<'m> MemVersions<'m> {
    /// Replaces the batch by the next versions. Returns true if there are any.
    pub(super) fn read_batch(&mut self) -> bool {
        self.batch.clear();
        let (mem_graph, adjacency) = (self.mem_graph, self.adjacency);
        let mut owners = mem_graph.owners(adjacency, self.next_owner..u32::MAX);
        while self.batch.len() < BATCH {
            let group: SmallVec<[VertexId; TOGETHER]> = owners.by_ref().take(TOGETHER).collect();
            if group.is_empty() {
                break;
            }
            for (owner, row) in mem_graph.rows_together(adjacency, &group) {
                if self.batch.len() >= BATCH {
                    break;
                }
                if let Some(row) = row {
                    self.read_row(owner, row);
                }
                self.next_owner = owner.get() + u32::from(self.next_node.is_none());
            }
        }
        !self.batch.is_empty()
    }

    /// Reads a row to its end, or until the batch is full.
    fn read_row(&mut self, owner: VertexId, row: MemRow<'m>) {
        loop {
            self.row.clear();
            self.next_node = row.read_versions(self.next_node, &mut self.row);
            for entry in &self.row {
                if entry.version.at > self.through {
                    if self.later.last() != Some(&owner) {
                        self.later.push(owner);
                    }
                } else if entry.version.at > self.after {
                    self.batch.push((owner, *entry));
                }
            }
            if self.next_node.is_none() || self.batch.len() >= BATCH {
                return;
            }
        }
    }
}

impl MemGraph {
    /// Visits the rows of a range of owners that a snapshot at `at` sees, ascending, as
    /// [`MemGraph::read_row`] reads them, except rows without edges. Overlaps the cache misses of
    /// several rows. O(owners / 64 + entries · log entries).
    pub fn read_rows(
        &self,
        adjacency: u32,
        owners: Range<u32>,
        at: CommitTimestamp,
        mut visit: impl FnMut(VertexId, &mut [SeenEdge]),
    ) {
        let (mut owners, mut edges) = (self.owners(adjacency, owners), Vec::new());
        loop {
            let group: SmallVec<[VertexId; TOGETHER]> = owners.by_ref().take(TOGETHER).collect();
            if group.is_empty() {
                return;
            }
            for (owner, row) in self.rows_together(adjacency, &group) {
                edges.clear();
                row.into_iter().for_each(|row| row.read_at(at, &mut edges));
                if !edges.is_empty() {
                    visit(owner, &mut edges);
                }
            }
        }
    }

    /// Returns the rows of these owners, and prefetches their memory.
    fn rows_together(
        &self,
        adjacency: u32,
        owners: &[VertexId],
    ) -> SmallVec<[(VertexId, Option<MemRow<'_>>); TOGETHER]> {
        owners.iter().for_each(|owner| self.prefetch_bucket(adjacency, *owner));
        owners.iter().for_each(|owner| self.prefetch_node(adjacency, *owner));
        let rows = owners.iter().map(|owner| (*owner, self.row(adjacency, *owner)));
        rows.inspect(|(_, row)| row.iter().for_each(|row| row.prefetch())).collect()
    }
}
