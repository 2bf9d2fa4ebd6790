//! Merging the edges of a vertex from several places, as a snapshot sees them.

use crate::levels::block::BlockRow;
use crate::levels::records::{DisjointRecords, put_record, record_at};
use crate::levels::row::Unpacked;
use crate::levels::seen_edges::{RowContent, SeenEdge, SeenEdges, SeenRow, SeenSlice};
use hedgerow_encoding::DecodeError;
use hedgerow_model::{CommitTimestamp, EdgeValue, VertexId};
use std::convert::Infallible;

/// The edges of one vertex as a snapshot sees them, merged from rows of several levels. Reuses its
/// memory for the next vertex.
///
/// Levels grow by a factor from the newest to the oldest, and so do rows. So merging one level
/// after the other costs little more than reading the largest row.
#[derive(Clone, Debug, Default)]
pub struct MergedRow {
    /// The edges added so far; deletions hide edges that are added later.
    seen: SeenEdges,
    added: SeenEdges,
    merged: SeenEdges,
    /// Allocated for the first row of a file, since each lookup in memory creates a `MergedRow`.
    unpacked: Option<Box<Unpacked>>,
    content: RowContent,
    /// The records of the edges, including hidden ones; see [`put_record`].
    records: Vec<u8>,
}

impl MergedRow {
    /// Creates a row with this content of its edges. With records, the value of an edge is the
    /// argument of [`SeenRow::record`].
    #[must_use]
    pub fn new(content: RowContent) -> Self {
        MergedRow { content, ..MergedRow::default() }
    }

    /// Returns the content that the row has of its edges. O(1).
    #[must_use]
    pub fn content(&self) -> RowContent {
        self.content
    }

    /// Removes all edges, for the next vertex. O(1).
    pub fn clear(&mut self) {
        self.seen.clear();
        self.added.clear();
        self.records.clear();
    }

    /// Reads the edges that a snapshot at `at` sees in a row, whose block has these records. The
    /// parts of a long row are read in ascending order, before [`MergedRow::add_read`]. O(entries).
    ///
    /// # Errors
    /// The row is damaged. Everything read since the last [`MergedRow::add_read`] is dropped.
    pub fn read(
        &mut self,
        row: &BlockRow<'_>,
        records: &[u8],
        at: CommitTimestamp,
    ) -> Result<(), DecodeError> {
        let MergedRow { added, unpacked, content, records: own, .. } = self;
        let from = added.len();
        let mut read = added.append(row, at, *content, unpacked.get_or_insert_default());
        if *content == RowContent::Records && read.is_ok() {
            let mut records = DisjointRecords::new(records);
            read = added.try_map_values(from, |offset| Ok(put_record(own, records.at(offset)?)));
        }
        if read.is_err() {
            added.clear();
        }
        read
    }

    /// Reads edges, whose values are offsets in these records if the row has records, like
    /// [`MergedRow::read`]. O(edges).
    pub(crate) fn read_edges(&mut self, edges: SeenSlice<'_>, records: &[u8]) {
        let from = self.added.len();
        self.added.extend(edges);
        if self.content == RowContent::Records {
            let own = &mut self.records;
            let copied = self.added.try_map_values(from, |offset| {
                let record = record_at(records, offset).unwrap_or_default();
                Ok::<_, Infallible>(put_record(own, record))
            });
            let Ok(()) = copied;
        }
    }

    /// Adds all edges of a row: like `read_edges` and [`MergedRow::add_read`], but copies the edges
    /// only once, unless the row has records. O(edges added so far + edges).
    pub fn add_row(&mut self, edges: SeenSlice<'_>, records: &[u8]) {
        if self.content == RowContent::Records {
            self.read_edges(edges, records);
            self.add_read();
        } else if self.seen.len() == 0 {
            self.seen.extend(edges);
        } else {
            self.merged.merge(self.seen.all(), edges);
            std::mem::swap(&mut self.seen, &mut self.merged);
        }
    }

    /// Adds one edge, whose value is an offset in these records if the row has records.
    ///
    /// # Errors
    /// There is no record at this offset.
    pub(crate) fn add_edge(
        &mut self,
        neighbor: VertexId,
        value: Option<EdgeValue>,
        records: &[u8],
    ) -> Result<(), DecodeError> {
        let value = match value {
            Some(offset) if self.content == RowContent::Records => {
                Some(self.put_record(record_at(records, offset)?))
            }
            value => value,
        };
        self.add_edges(&[(neighbor, value)]);
        Ok(())
    }

    /// Stores a record for an edge that is [added](MergedRow::add_edges) later. Returns the value
    /// for the edge. O(record).
    pub fn put_record(&mut self, record: &[u8]) -> EdgeValue {
        put_record(&mut self.records, record)
    }

    /// Adds the edges that were read, which are older than all edges added before.
    /// O(edges added so far + edges read).
    pub fn add_read(&mut self) {
        if self.added.len() == 0 {
            return;
        }
        if self.seen.len() == 0 {
            std::mem::swap(&mut self.seen, &mut self.added);
            return;
        }
        self.merged.merge(self.seen.all(), self.added.all());
        std::mem::swap(&mut self.seen, &mut self.merged);
        self.added.clear();
    }

    /// Adds edges that ascend, without duplicates, and are older than all edges added before.
    /// O(edges added so far + edges).
    pub fn add_edges(&mut self, older: &[SeenEdge]) {
        debug_assert!(older.is_sorted_by(|one, other| one.0 < other.0));
        older.iter().for_each(|edge| self.added.push(*edge, self.content));
        self.add_read();
    }

    /// Ends adding. Returns the edges that exist. O(edges) if any is deleted, else O(1).
    pub fn finish(&mut self) -> SeenRow<'_> {
        self.seen.remove_deleted();
        SeenRow { neighbors: self.seen.neighbors(), values: self.seen.values(), records: &self.records }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::levels::block::{Block, BlockBuilder, Version};
    use hedgerow_model::ColumnType;
    use proptest::collection::{btree_map, vec};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const OWNER: VertexId = VertexId::new(5);
    const COLUMN: ColumnType = ColumnType::U64;

    type Changes = BTreeMap<u32, (u64, Option<u64>)>;

    /// The newest change of each edge in each level, newest level first. Some levels have many
    /// edges; some are settled and without deletions, like most levels in practice.
    fn levels() -> impl Strategy<Value = Vec<Changes>> {
        let level = |at, value: BoxedStrategy<_>| {
            let change = (at, value);
            prop_oneof![btree_map(0..40u32, change.clone(), 1..30), btree_map(0..400u32, change, 200..300)]
        };
        let settled = level(0..1u64, any::<u64>().prop_map(Some).boxed());
        vec(prop_oneof![level(0..10, any::<Option<u64>>().boxed()), settled], 0..5)
    }

    proptest! {
        #[test]
        fn the_newest_version_that_a_snapshot_sees_hides_the_others(levels in levels(), at in 0..60u64) {
            // Changes of level n happen before changes of level n - 1. Some are settled.
            let count = levels.len() as u64;
            let timestamp = |level: usize, at: u64| if at == 0 { 0 } else { (count - level as u64) * 10 + at };
            let mut expected = BTreeMap::new();
            let mut rows = [RowContent::Values, RowContent::Neighbors].map(MergedRow::new);
            for row in &mut rows {
                row.add_edges(&[(OWNER, Some(EdgeValue(1)))]);
                row.clear();
            }
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
                let found = Block::parse(&bytes, COLUMN).unwrap().row(OWNER).unwrap().unwrap();
                for row in &mut rows {
                    row.read(&found, &[], CommitTimestamp(at)).unwrap();
                    row.add_read();
                }
            }
            let rows = rows.each_mut().map(MergedRow::finish);
            let expected = expected.into_iter().filter_map(|(neighbor, value)| Some((neighbor, value?)));
            let (neighbors, values): (Vec<_>, Vec<_>) = expected.unzip();
            prop_assert_eq!(rows[0].neighbors(), &neighbors);
            prop_assert_eq!(rows[0].values(), &values);
            prop_assert_eq!(rows[1].neighbors(), &neighbors);
            prop_assert_eq!(rows[1].values(), &[]);
        }
    }
}
