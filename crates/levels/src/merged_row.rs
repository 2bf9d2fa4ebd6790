//! What a snapshot sees of a vertex whose edges lie in several places.

use crate::block::BlockRow;
use crate::records::{DisjointRecords, put_record, record_at};
use crate::row::Unpacked;
use crate::seen_edges::{RowContent, SeenEdge, SeenEdges, SeenRow, SeenSlice};
use hedgerow_encoding::DecodeError;
use hedgerow_model::{CommitTimestamp, EdgeValue, VertexId};
use std::convert::Infallible;

/// The edges of one vertex as a snapshot sees them, merged from rows of several levels. Keeps its
/// memory for the next vertex.
///
/// Levels grow by a factor from the newest to the oldest, and rows with them. So merging one level
/// after the other costs little more than reading the largest row.
#[derive(Clone, Debug, Default)]
pub struct MergedRow {
    /// What was added so far; deletions hide what is added later.
    seen: SeenEdges,
    added: SeenEdges,
    merged: SeenEdges,
    /// Allocated for the first row of a file: look-ups in memory make a new row each.
    unpacked: Option<Box<Unpacked>>,
    content: RowContent,
    /// The records of the edges, hidden ones included; see [`put_record`].
    records: Vec<u8>,
}

impl MergedRow {
    /// A row with this content of its edges. If it is their records, the value of an edge is what
    /// [`SeenRow::record`] takes.
    #[must_use]
    pub fn new(content: RowContent) -> Self {
        MergedRow { content, ..MergedRow::default() }
    }

    /// What the row has of its edges beside the neighbors. O(1).
    #[must_use]
    pub fn content(&self) -> RowContent {
        self.content
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

    /// Reads edges, whose values are offsets in these records if the row has records, as
    /// [`MergedRow::read`] does. O(edges).
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

    /// Adds all edges of a row at once: as `read_edges` and [`MergedRow::add_read`], but copies
    /// them only once. O(edges added so far + edges).
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
    /// There is no such record.
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

    /// Keeps a record for an edge that is [added](MergedRow::add_edges). Returns its value. O(record).
    pub fn put_record(&mut self, record: &[u8]) -> EdgeValue {
        put_record(&mut self.records, record)
    }

    /// Adds what was read, which is older than all that was added before. O(edges added so far +
    /// edges read).
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

    /// Adds edges that ascend, without duplicates, and are older than all that was added before.
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
    use crate::block::{Block, BlockBuilder, Version};
    use hedgerow_model::ColumnType;
    use proptest::collection::{btree_map, vec};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const OWNER: VertexId = VertexId::new(5);
    const COLUMN: ColumnType = ColumnType::U64;

    type Changes = BTreeMap<u32, (u64, Option<u64>)>;

    /// The newest change of each edge in each level, the newest level first. Some change many edges, and
    /// some are settled and delete nothing, as levels mostly do.
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
            // Changes of level n happen before those of level n - 1. Some are settled.
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
