//! What a snapshot sees of a vertex whose edges lie in several places.

use crate::block::BlockRow;
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
}

impl MergedRow {
    /// Forgets what was added, for the next vertex. O(1).
    pub fn clear(&mut self) {
        self.seen.clear();
        self.added.clear();
    }

    /// Reads what a snapshot at `at` sees of a row. Parts of a long row are read one after the other,
    /// ascending, before [`MergedRow::add_read`]. O(entries).
    ///
    /// # Errors
    /// The row is damaged. Then nothing is left of what was read.
    pub fn read(&mut self, row: &BlockRow<'_>, at: CommitTimestamp) -> Result<(), DecodeError> {
        let added = &mut self.added;
        let read = row.visit_at(at, &mut self.unpacked, |neighbor, value| {
            added.push((neighbor, value));
            ControlFlow::<()>::Continue(())
        });
        if read.is_err() {
            self.added.clear();
        }
        read.map(|_| ())
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
                merged.read(&row, CommitTimestamp(at)).unwrap();
                merged.add_read();
            }
            let expected = expected.into_iter().filter_map(|(neighbor, value)| Some((neighbor, value?)));
            prop_assert_eq!(merged.edges().collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        }
    }
}
