//! Everything in a MemGraph in order, for a flush.

use super::ordered::NodeLink;
use super::{MemContent, MemEntry, MemGraph};
use hedgerow_levels::{VersionBatch, VersionSource};
use hedgerow_model::{ColumnType, CommitTimestamp, ReadError, VertexId};

/// Versions per batch, roughly.
const BATCH: usize = if cfg!(any(test, hedgerow_shuttle)) { 5 } else { 4096 };

/// An `editable_from` under which no version is overwritten.
const NONE_EDITABLE: CommitTimestamp = CommitTimestamp(u64::MAX);

/// The versions of an adjacency in a range of timestamps.
pub struct MemVersions<'m> {
    mem_graph: &'m MemGraph,
    adjacency: u32,
    after: CommitTimestamp,
    through: CommitTimestamp,
    /// An owner up to the first one whose row is not read to its end.
    next_owner: u32,
    /// Where to go on in the row of that owner; `None` at its beginning.
    next_node: Option<NodeLink>,
    /// What was read last.
    pub(super) batch: Vec<(VertexId, MemEntry)>,
    row: Vec<MemEntry>,
    record: Vec<u8>,
}

impl MemGraph {
    /// The versions of an adjacency with timestamps in `after + 1..=through`. O(owners + entries · log
    /// entries) to read them all.
    ///
    /// Commits may go on meanwhile, if none overwrites versions up to `through`: that must be below
    /// the `editable_from` of all of them.
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
            row: Vec::new(),
            record: Vec::new(),
        }
    }

    /// A MemGraph with only the versions after a timestamp; `None` if there are none. No writer may be
    /// at work. O(owners + entries · log entries).
    #[must_use]
    pub fn residue(&self, after: CommitTimestamp) -> Option<MemGraph> {
        // It has few rows, as a rule.
        let buckets = self.rows.buckets().div_ceil(16);
        let residue = MemGraph::new(&self.columns, self.arena.block_words(), buckets);
        let mut record = Vec::new();
        for (number, column) in (0..).zip(&self.columns) {
            let mut versions = self.versions(number, after, CommitTimestamp(u64::MAX));
            // Newest first: appended when the next edge begins.
            let mut edge: Vec<(VertexId, MemEntry)> = Vec::new();
            let mut append = |edge: &mut Vec<(VertexId, MemEntry)>| {
                for (owner, entry) in edge.drain(..).rev() {
                    let content = entry.version.value.map(|value| match column {
                        ColumnType::Record => {
                            record.clear();
                            self.record(value, &mut record);
                            MemContent::Record(&record)
                        }
                        _ => MemContent::Value(value),
                    });
                    residue.push(number, owner, entry.neighbor, entry.version.at, NONE_EDITABLE, content);
                }
            };
            while versions.read_batch() {
                for (owner, entry) in &versions.batch {
                    let ends = |(owner, entry): &(VertexId, MemEntry)| (*owner, entry.neighbor);
                    if edge.last().is_some_and(|last| ends(last) != (*owner, entry.neighbor)) {
                        append(&mut edge);
                    }
                    edge.push((*owner, *entry));
                }
            }
            append(&mut edge);
        }
        (residue.used_bytes() > 0).then_some(residue)
    }
}

impl VersionSource for MemVersions<'_> {
    fn read(&mut self, batch: &mut VersionBatch) -> Result<(), ReadError> {
        self.read_batch();
        let has_records = self.mem_graph.column(self.adjacency) == ColumnType::Record;
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

impl MemVersions<'_> {
    /// Replaces the batch by the next versions; returns whether there are any.
    pub(super) fn read_batch(&mut self) -> bool {
        self.batch.clear();
        let mut owners = self.mem_graph.owners(self.adjacency, self.next_owner..u32::MAX).peekable();
        while self.batch.len() < BATCH
            && let Some(owner) = owners.peek().copied()
        {
            self.row.clear();
            let row = self.mem_graph.row(self.adjacency, owner);
            self.next_node = row.and_then(|row| row.read_versions(self.next_node, &mut self.row));
            if self.next_node.is_none() {
                self.next_owner = owner.get() + 1;
                owners.next();
            }
            let is_asked =
                |entry: &&MemEntry| self.after < entry.version.at && entry.version.at <= self.through;
            self.batch.extend(self.row.iter().filter(is_asked).map(|entry| (owner, *entry)));
        }
        !self.batch.is_empty()
    }
}
