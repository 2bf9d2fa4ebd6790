//! The arrays of a row, and how entries are moved in them.

use super::version::{Begin, History};
use hedgerow_model::search::lower_bound;
use hedgerow_model::{ColumnType, EdgeValue, ValueColumn, VertexId};

/// Entries of the smallest array.
const SMALLEST: usize = 4;

/// An array with less than one entry in so many in use is given back in favour of a smaller one.
const SPARSE: usize = 4;

/// Three sorted dynamic arrays side by side: ids, versions, values.
///
/// The ids lie apart, so that a search touches nothing else and a scan copies stretches of them.
/// An entry takes 20 bytes and its value.
pub(super) struct Entries {
    /// Ascending, each once.
    pub(super) neighbours: Vec<VertexId>,
    pub(super) heads: Vec<Head>,
    pub(super) values: ValueColumn,
}

/// The newest version of an entry, whose value lies in the column, and the older ones.
pub(super) struct Head {
    pub(super) begin: Begin,
    pub(super) older: History<EdgeValue>,
}

impl Head {
    /// A version without older ones.
    pub(super) const fn new(begin: Begin) -> Self {
        Head { begin, older: History::NONE }
    }

    /// Whether this is a deletion without older versions, which is as good as no entry.
    pub(super) fn is_absent(&self) -> bool {
        !self.begin.exists() && self.older.is_empty()
    }
}

impl Entries {
    /// Empty arrays with room for `capacity` entries.
    pub(super) fn with_capacity(column: ColumnType, capacity: usize) -> Self {
        Entries {
            neighbours: Vec::with_capacity(capacity),
            heads: Vec::with_capacity(capacity),
            values: ValueColumn::with_capacity(column, capacity),
        }
    }

    /// Bytes of an entry with a value of this type.
    pub(super) const fn entry_bytes(column: ColumnType) -> usize {
        size_of::<VertexId>() + size_of::<Head>() + column.width()
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.neighbours.len()
    }

    /// Where a neighbour is, or where it would be. O(log entries).
    #[inline]
    pub(super) fn position(&self, neighbour: VertexId) -> Result<usize, usize> {
        let position = lower_bound(&self.neighbours, neighbour);
        if self.neighbours.get(position) == Some(&neighbour) { Ok(position) } else { Err(position) }
    }

    /// The bytes of the arrays.
    pub(super) fn heap_bytes(&self) -> usize {
        self.neighbours.capacity() * size_of::<VertexId>()
            + self.heads.capacity() * size_of::<Head>()
            + self.values.heap_bytes()
    }

    // --- growing and shrinking -------------------------------------------------------------------

    /// How many entries fit.
    pub(super) fn capacity(&self) -> usize {
        self.neighbours.capacity()
    }

    /// How many entries larger arrays would hold, if `entries` don't fit. Doubling makes growth
    /// amortised O(1) per entry.
    pub(super) fn larger_capacity(&self, entries: usize) -> Option<usize> {
        (entries > self.capacity()).then(|| entries.max(2 * self.capacity()).max(SMALLEST))
    }

    /// Moves everything into arrays that are empty and large enough.
    pub(super) fn move_into(&mut self, mut room: Entries) {
        if self.len() > 0 {
            room.neighbours.extend_from_slice(&self.neighbours);
            room.heads.append(&mut self.heads);
            room.values.extend_from(&self.values, 0..self.len());
        }
        *self = room;
    }

    /// Gives back arrays that are nearly empty. Amortised O(1) per entry taken out.
    pub(super) fn shrink_if_sparse(&mut self) {
        if self.capacity() > SMALLEST && self.len() * SPARSE < self.capacity() {
            let capacity = if self.len() == 0 { 0 } else { (2 * self.len()).max(SMALLEST) };
            self.neighbours.shrink_to(capacity);
            self.heads.shrink_to(capacity);
            self.values.shrink_to(capacity);
        }
    }

    // --- moving ------------------------------------------------------------------------------------

    /// Inserts an entry. O(entries behind it).
    pub(super) fn insert(
        &mut self,
        position: usize,
        (neighbour, value): (VertexId, EdgeValue),
        begin: Begin,
    ) {
        self.neighbours.insert(position, neighbour);
        self.heads.insert(position, Head::new(begin));
        self.values.insert(position, value);
    }

    /// Inserts neighbours, which ascend and are not there: from the end, so that each entry moves once.
    pub(super) fn insert_all(&mut self, new: &[(VertexId, EdgeValue)], begin: Begin) {
        let mut from = self.len();
        let mut to = from + new.len();
        self.resize(to);
        for (neighbour, value) in new.iter().rev() {
            let position = self.neighbours[..from].partition_point(|other| other < neighbour);
            to -= from - position;
            self.neighbours.copy_within(position..from, to);
            self.values.copy_within(position..from, to);
            (position..from).rev().for_each(|moved| self.heads.swap(moved, to + moved - position));
            from = position;
            to -= 1;
            self.neighbours[to] = *neighbour;
            self.values.set(to, *value);
            self.heads[to].begin = begin;
        }
        debug_assert!(self.neighbours.is_sorted());
    }

    /// Takes out an entry. O(entries behind it).
    pub(super) fn remove(&mut self, position: usize) {
        self.neighbours.remove(position);
        self.heads.remove(position);
        self.values.copy_within(position + 1..self.len() + 1, position);
        self.values.resize(self.len());
    }

    /// Takes out every absent entry from `first` on. O(entries from there on).
    pub(super) fn compact(&mut self, first: usize) {
        let mut end = first;
        for position in first..self.len() {
            if !self.heads[position].is_absent() {
                self.neighbours[end] = self.neighbours[position];
                self.values.copy_within(position..position + 1, end);
                self.heads.swap(position, end);
                end += 1;
            }
        }
        self.resize(end);
    }

    fn resize(&mut self, entries: usize) {
        self.neighbours.resize(entries, VertexId::default());
        self.heads.resize_with(entries, || Head::new(Begin::NEVER));
        self.values.resize(entries);
    }
}
