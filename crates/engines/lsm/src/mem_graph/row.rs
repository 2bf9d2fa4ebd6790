//! A row: the versions of the edges of one owner in one adjacency.

use super::arena::{ArenaOffset, WordArena};
use super::entry::{EntryLayout, MemEntry, append_seen, order_versions};
use super::ordered::{NodeLink, OrderedRow};
use super::segments::{LONGEST, SegmentedRow};
use crate::levels::SeenEdge;
use hedgerow_model::{CommitTimestamp, EdgeValue, VertexId};

/// A bit of a row's state: the row is a skip list.
const ORDERED: u64 = 1 << 31;

/// Start and length of a row, in one word, so that one store publishes an append.
///
/// The upper half is the offset of the newest segment or of the head of the skip list; below it lie
/// [`ORDERED`] and 31 bits for the number of entries or of nodes, which are enough: a row in
/// segments is short, and a node takes more than two of the 2^32 words of an arena. All bits are
/// zero if there is no row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RowState(pub(super) u64);

/// A row as it was when its state was loaded, or newer.
#[derive(Clone, Copy)]
pub(super) struct MemRow<'m> {
    pub(super) arena: &'m WordArena,
    pub(super) index: &'m WordArena,
    pub(super) layout: EntryLayout,
    pub(super) state: RowState,
}

/// A row in one of its forms.
enum RowForm<'m> {
    Segmented(SegmentedRow<'m>),
    Ordered(OrderedRow<'m>),
}

impl RowState {
    fn segmented(newest: ArenaOffset, entries: u32) -> Self {
        RowState(u64::from(newest.0) << 32 | u64::from(entries))
    }

    fn ordered(head: ArenaOffset, nodes: u32) -> Self {
        RowState(u64::from(head.0) << 32 | ORDERED | u64::from(nodes))
    }

    /// Returns true if there is a row.
    #[inline]
    pub(super) fn has_entries(self) -> bool {
        self.0 != 0
    }
}

impl<'m> MemRow<'m> {
    /// Appends an entry. Returns the state to publish. O(1) expected for a short row,
    /// O(log entries) for a long one.
    pub(super) fn append(self, entry: MemEntry, editable_from: CommitTimestamp) -> RowState {
        match self.form() {
            RowForm::Segmented(row) if row.entries < LONGEST => {
                let row = row.append(entry);
                RowState::segmented(row.newest, row.entries)
            }
            RowForm::Segmented(row) => self.order(row, entry, editable_from),
            RowForm::Ordered(row) => insert(row, entry, editable_from),
        }
    }

    /// Appends to `edges` the edges that a snapshot at `at` sees, ascending by neighbor.
    /// O(entries · log entries) for a short row, O(entries) for a long one.
    pub(super) fn read_at(self, at: CommitTimestamp, edges: &mut Vec<SeenEdge>) {
        match self.form() {
            RowForm::Segmented(row) => {
                edges.reserve(row.entries as usize);
                append_seen(row.newest_first(), at, edges);
            }
            RowForm::Ordered(row) => row.read_at(at, edges),
        }
    }

    /// Returns the value of an edge that a snapshot at `at` sees, or its deletion. O(entries) for a
    /// short row, O(log entries + versions of the edge) expected for a long one.
    pub(super) fn find_at(self, neighbor: VertexId, at: CommitTimestamp) -> Option<Option<EdgeValue>> {
        match self.form() {
            RowForm::Segmented(row) => row.find_at(neighbor, at),
            RowForm::Ordered(row) => row.find_at(neighbor, at),
        }
    }

    /// Appends entries, ascending by neighbor, newest first, without those that another of the same
    /// timestamp hides. Of a long row, reads the entries of one node, the first one or `from`, and
    /// returns the next node. O(entries · log entries) for a short row, O(1) expected for a node.
    pub(super) fn read_versions(
        self,
        from: Option<NodeLink>,
        versions: &mut Vec<MemEntry>,
    ) -> Option<NodeLink> {
        match self.form() {
            RowForm::Segmented(row) => {
                let begin = versions.len();
                row.append_newest_first(versions);
                order_versions(versions, begin);
                None
            }
            RowForm::Ordered(row) => {
                let (entries, next) = row.read_node(from.unwrap_or_else(|| row.first()));
                let begin = versions.len();
                versions.extend(entries);
                order_versions(versions, begin);
                next
            }
        }
    }

    /// Prefetches the memory that [`MemRow::read_versions`] reads first. O(1).
    #[inline]
    pub(super) fn prefetch(self) {
        if let RowForm::Segmented(row) = self.form() {
            row.prefetch();
        }
    }

    /// Prefetches the place where [`MemRow::append`] writes to a short row. O(1).
    #[inline]
    pub(super) fn prefetch_end(self) {
        if let RowForm::Segmented(row) = self.form() {
            row.prefetch_end();
        }
    }

    #[inline]
    fn form(self) -> RowForm<'m> {
        let MemRow { arena, index, layout, state } = self;
        let (offset, length) = (ArenaOffset((state.0 >> 32) as u32), (state.0 & (ORDERED - 1)) as u32);
        match state.0 & ORDERED {
            0 => RowForm::Segmented(SegmentedRow { arena, layout, newest: offset, entries: length }),
            _ => RowForm::Ordered(OrderedRow { arena, index, layout, head: offset, nodes: length }),
        }
    }

    /// Makes a skip list of the entries of a segmented row and one more. Readers that loaded the
    /// former state keep to the segments, which stay as they are.
    #[cold]
    fn order(self, row: SegmentedRow<'m>, entry: MemEntry, editable_from: CommitTimestamp) -> RowState {
        let mut ordered = OrderedRow::new(self.arena, self.index, self.layout);
        let mut entries: Vec<_> = row.newest_first().collect();
        entries.reverse();
        for entry in entries {
            ordered = ordered.insert(entry, editable_from);
        }
        insert(ordered, entry, editable_from)
    }
}

fn insert(row: OrderedRow<'_>, entry: MemEntry, editable_from: CommitTimestamp) -> RowState {
    let row = row.insert(entry, editable_from);
    RowState::ordered(row.head, row.nodes)
}
