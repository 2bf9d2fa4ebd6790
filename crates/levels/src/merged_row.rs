//! What a snapshot sees of a vertex whose edges lie in several places.

use crate::block::BlockRow;
use crate::records::{DisjointRecords, put_record, record_at};
use crate::row::Unpacked;
use hedgerow_encoding::DecodeError;
use hedgerow_model::{CommitTimestamp, EdgeValue, VertexId};
use std::cmp::Ordering;
use std::ops::ControlFlow;

/// An edge as a snapshot sees it in one place: its value, or `None` if it is deleted there.
pub type SeenEdge = (VertexId, Option<EdgeValue>);

/// The edges of one vertex as a snapshot sees them, merged from rows of several levels. Keeps its
/// memory for the next vertex.
///
/// Levels grow by a factor from the newest to the oldest, and rows with them. So merging one level
/// after the other costs little more than reading the largest row.
#[derive(Clone, Debug, Default)]
pub struct MergedRow {
    /// What was added so far, ascending; deletions hide what is added later.
    seen: Vec<SeenEdge>,
    added: Vec<SeenEdge>,
    merged: Vec<SeenEdge>,
    unpacked: Unpacked,
    has_records: bool,
    /// The records of the edges, hidden ones included; see [`put_record`].
    records: Vec<u8>,
}

impl MergedRow {
    /// A row that also has the records of its edges, if `has_records`. Then the value of an edge is
    /// what [`MergedRow::record`] takes.
    #[must_use]
    pub fn new(has_records: bool) -> Self {
        MergedRow { has_records, ..MergedRow::default() }
    }

    /// Whether the row has the records of its edges. O(1).
    #[must_use]
    pub fn has_records(&self) -> bool {
        self.has_records
    }

    /// Forgets what was added, for the next vertex. O(1).
    pub fn clear(&mut self) {
        self.seen.clear();
        self.added.clear();
        self.records.clear();
    }

    /// Reads what a snapshot at `at` sees of a row, whose block has these records. Parts of a long
    /// row are read one after the other, ascending, before [`MergedRow::add_read`]. O(entries).
    ///
    /// # Errors
    /// The row is damaged. Then nothing is left of what was read.
    pub fn read(
        &mut self,
        row: &BlockRow<'_>,
        records: &[u8],
        at: CommitTimestamp,
    ) -> Result<(), DecodeError> {
        let MergedRow { added, unpacked, has_records, records: own, .. } = self;
        let mut records = DisjointRecords::new(records);
        let read = row.visit_at(at, unpacked, |neighbor, value| {
            let value = match value {
                Some(offset) if *has_records => match records.at(offset) {
                    Ok(record) => Some(put_record(own, record)),
                    Err(error) => return ControlFlow::Break(error),
                },
                value => value,
            };
            added.push((neighbor, value));
            ControlFlow::Continue(())
        });
        let read = read.and_then(|flow| flow.break_value().map_or(Ok(()), Err));
        if read.is_err() {
            added.clear();
        }
        read
    }

    /// Reads edges that ascend, whose values are offsets in these records if the row has records, as
    /// [`MergedRow::read`] does. O(edges).
    pub(crate) fn read_edges(&mut self, edges: &[SeenEdge], records: &[u8]) {
        if !self.has_records {
            self.added.extend_from_slice(edges);
            return;
        }
        for (neighbor, value) in edges {
            let record = value.map(|offset| record_at(records, offset).unwrap_or_default());
            let value = record.map(|record| put_record(&mut self.records, record));
            self.added.push((*neighbor, value));
        }
    }

    /// Adds one edge, whose value is an offset in these records if the row has records.
    ///
    /// # Errors
    /// There is no such record.
    pub(crate) fn add_edge(
        &mut self,
        neighbor: VertexId,
        value: Option<EdgeValue>,
        records: &[u8],
    ) -> Result<(), DecodeError> {
        let value = match value {
            Some(offset) if self.has_records => Some(self.put_record(record_at(records, offset)?)),
            value => value,
        };
        self.add_edges(&[(neighbor, value)]);
        Ok(())
    }

    /// Keeps a record for an edge that is [added](MergedRow::add_edges). Returns its value. O(record).
    pub fn put_record(&mut self, record: &[u8]) -> EdgeValue {
        put_record(&mut self.records, record)
    }

    /// The record of an edge by its value; empty if the row has none. O(1).
    #[must_use]
    pub fn record(&self, value: EdgeValue) -> &[u8] {
        record_at(&self.records, value).unwrap_or_default()
    }

    /// Adds what was read, which is older than all that was added before. O(edges added so far +
    /// edges read).
    pub fn add_read(&mut self) {
        let mut added = std::mem::take(&mut self.added);
        self.add_edges(&added);
        added.clear();
        self.added = added;
    }

    /// Adds edges that ascend, without duplicates, and are older than all that was added before.
    /// O(edges added so far + edges).
    pub fn add_edges(&mut self, older: &[SeenEdge]) {
        debug_assert!(older.is_sorted_by(|one, other| one.0 < other.0));
        if self.seen.is_empty() {
            self.seen.extend_from_slice(older);
            return;
        }
        let (mut newer, mut older) = (&self.seen[..], older);
        self.merged.clear();
        while let ([first_newer, rest_newer @ ..], [first_older, rest_older @ ..]) = (newer, older) {
            let order = first_newer.0.cmp(&first_older.0);
            let is_newer = order != Ordering::Greater;
            self.merged.push(if is_newer { *first_newer } else { *first_older });
            if is_newer {
                newer = rest_newer;
            }
            if order != Ordering::Less {
                older = rest_older;
            }
        }
        self.merged.extend_from_slice(newer);
        self.merged.extend_from_slice(older);
        std::mem::swap(&mut self.seen, &mut self.merged);
    }

    /// The edges that exist, ascending by neighbor.
    pub fn edges(&self) -> impl Iterator<Item = (VertexId, EdgeValue)> {
        self.seen.iter().filter_map(|(neighbor, value)| Some((*neighbor, (*value)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::{Block, BlockBuilder, Version};
    use hedgerow_model::ColumnType;
    use proptest::collection::{btree_map, vec};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const OWNER: VertexId = VertexId::new(5);
    const COLUMN: ColumnType = ColumnType::U64;

    /// The newest change of each edge in each level, the newest level first.
    fn levels() -> impl Strategy<Value = Vec<BTreeMap<u32, (u64, Option<u64>)>>> {
        vec(btree_map(0..40u32, (0..10u64, any::<Option<u64>>()), 1..30), 0..5)
    }

    proptest! {
        #[test]
        fn the_newest_version_that_a_snapshot_sees_hides_the_others(levels in levels(), at in 0..60u64) {
            // Changes of level n happen before those of level n - 1.
            let count = levels.len() as u64;
            let timestamp = |level: usize, at: u64| (count - level as u64) * 10 + at;
            let mut expected = BTreeMap::new();
            let mut merged = MergedRow::default();
            merged.add_edges(&[(OWNER, Some(EdgeValue(1)))]);
            merged.clear();
            for (level, edges) in levels.iter().enumerate() {
                let (mut builder, mut bytes) = (BlockBuilder::new(COLUMN), Vec::new());
                for (neighbor, (changed, value)) in edges {
                    let changed = timestamp(level, *changed);
                    let value = value.map(EdgeValue);
                    builder.push(OWNER, VertexId::new(*neighbor), Version { at: CommitTimestamp(changed), value });
                    if changed <= at {
                        expected.entry(VertexId::new(*neighbor)).or_insert(value);
                    }
                }
                builder.finish(&mut bytes);
                let row = Block::parse(&bytes, COLUMN).unwrap().row(OWNER).unwrap().unwrap();
                merged.read(&row, &[], CommitTimestamp(at)).unwrap();
                merged.add_read();
            }
            let expected = expected.into_iter().filter_map(|(neighbor, value)| Some((neighbor, value?)));
            prop_assert_eq!(merged.edges().collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        }
    }
}
