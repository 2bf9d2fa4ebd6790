//! A row as sorted arrays.

use super::{Entries, Head, NewEntry, SMALLEST, SPARSE};
use crate::fine_grained::version::Begin;
use hedgerow_model::search::{Spread, lower_bound};
use hedgerow_model::{Column, ColumnType, CommitTimestamp, EdgeValue, ValueColumn, VertexId};

/// Entries whose versions are checked together, before they are copied one by one.
const STRETCH: usize = 32;

/// Three parallel sorted dynamic arrays: ids, versions, values.
///
/// The ids are separate, so a search touches nothing else, and a scan copies runs of ids. An entry
/// takes 20 bytes and its value.
#[derive(Debug)]
pub struct SortedEntries {
    /// Ascending, without duplicates.
    neighbors: Vec<VertexId>,
    heads: Vec<Head>,
    values: ValueColumn,
}

impl Default for SortedEntries {
    /// Creates arrays without capacity. The column gets its type with its first capacity.
    fn default() -> Self {
        SortedEntries::with_capacity(ColumnType::Unit, 0)
    }
}

impl SortedEntries {
    /// Creates empty arrays with room for `capacity` entries.
    fn with_capacity(column: ColumnType, capacity: usize) -> Self {
        SortedEntries {
            neighbors: Vec::with_capacity(capacity),
            heads: Vec::with_capacity(capacity),
            values: ValueColumn::with_capacity(column, capacity),
        }
    }

    /// Returns the bytes per entry with a value of this type.
    const fn entry_bytes(column: ColumnType) -> usize {
        size_of::<VertexId>() + size_of::<Head>() + column.width()
    }

    /// Moves all entries into empty arrays that are large enough.
    fn move_into(&mut self, mut room: SortedEntries) {
        if !self.neighbors.is_empty() {
            room.neighbors.extend_from_slice(&self.neighbors);
            room.heads.append(&mut self.heads);
            room.values.extend_from(&self.values, 0..self.neighbors.len());
        }
        *self = room;
    }

    /// Inserts entries, which ascend, starting at the end, so each entry moves only once.
    fn insert_all(&mut self, new: &[NewEntry], begin: Begin) {
        let mut from = self.neighbors.len();
        let mut to = from + new.len();
        self.resize(to);
        for NewEntry { neighbor, value, gap } in new.iter().rev().copied() {
            to -= from - gap;
            self.neighbors.copy_within(gap..from, to);
            self.values.copy_within(gap..from, to);
            (gap..from).rev().for_each(|moved| self.heads.swap(moved, to + moved - gap));
            from = gap;
            to -= 1;
            self.neighbors[to] = neighbor;
            self.values.set(to, value);
            self.heads[to].begin = begin;
        }
        debug_assert!(self.neighbors.is_sorted());
    }

    /// Removes an entry. O(entries after it).
    fn remove(&mut self, position: usize) {
        self.neighbors.remove(position);
        self.heads.remove(position);
        self.values.copy_within(position + 1..self.neighbors.len() + 1, position);
        self.values.resize(self.neighbors.len());
    }

    /// Removes all absent entries from `first` on. O(entries from there on).
    fn compact(&mut self, first: usize) {
        let mut end = first;
        for position in first..self.neighbors.len() {
            if !self.heads[position].is_absent() {
                self.neighbors[end] = self.neighbors[position];
                self.values.copy_within(position..position + 1, end);
                self.heads.swap(position, end);
                end += 1;
            }
        }
        self.resize(end);
    }

    fn resize(&mut self, entries: usize) {
        self.neighbors.resize(entries, VertexId::default());
        self.heads.resize_with(entries, || Head::new(Begin::NEVER));
        self.values.resize(entries);
    }
}

impl Entries for SortedEntries {
    type Growth = Larger;
    type Room = SortedEntries;

    /// O(log entries).
    #[inline]
    fn locate(&self, neighbor: VertexId) -> Result<usize, usize> {
        let position = lower_bound(&self.neighbors, Spread::of(&self.neighbors), neighbor);
        if self.neighbors.get(position) == Some(&neighbor) { Ok(position) } else { Err(position) }
    }

    #[inline]
    fn head(&self, place: usize) -> &Head {
        &self.heads[place]
    }

    fn head_mut(&mut self, place: usize) -> &mut Head {
        &mut self.heads[place]
    }

    #[inline]
    fn value(&self, place: usize) -> EdgeValue {
        self.values.get(place)
    }

    fn set_value(&mut self, place: usize, value: EdgeValue) {
        self.values.set(place, value);
    }

    #[inline]
    fn count(&self) -> usize {
        self.neighbors.len()
    }

    fn degree(&self, at: CommitTimestamp) -> usize {
        self.heads.iter().filter(|head| head.shows_at(at)).count()
    }

    #[inline]
    fn copy_visible<W: Column>(
        &self,
        at: CommitTimestamp,
        neighbors: &mut Vec<VertexId>,
        values: &mut Vec<W>,
    ) {
        if self.neighbors.is_empty() {
            return;
        }
        let column = W::slice(&self.values, 0..self.neighbors.len());
        let stretches = self.neighbors.chunks(STRETCH).zip(self.heads.chunks(STRETCH));
        for ((ids, heads), column) in stretches.zip(column.chunks(STRETCH)) {
            // Without a branch per entry, so several are compared at once.
            if heads.iter().fold(true, |all, head| all & head.begin.shows_at(at)) {
                neighbors.extend_from_slice(ids);
                values.extend_from_slice(column);
                continue;
            }
            for ((neighbor, head), value) in ids.iter().zip(heads).zip(column) {
                if let Some(value) = head.value_at(at, *value) {
                    neighbors.push(*neighbor);
                    values.push(value);
                }
            }
        }
    }

    /// Doubling makes growth amortized O(1) per entry.
    fn growth(&self, _column: ColumnType, new: &[VertexId]) -> Option<Larger> {
        let (entries, former) = (self.neighbors.len() + new.len(), self.neighbors.capacity());
        (entries > former).then(|| Larger { capacity: entries.max(2 * former).max(SMALLEST), former })
    }

    fn growth_bytes(growth: &Larger, column: ColumnType) -> usize {
        (growth.capacity - growth.former) * SortedEntries::entry_bytes(column)
    }

    fn room(growth: Larger, column: ColumnType) -> SortedEntries {
        SortedEntries::with_capacity(column, growth.capacity)
    }

    /// O(entries after the first new one).
    fn insert(&mut self, new: &[NewEntry], begin: Begin, room: Option<SortedEntries>) {
        if let Some(room) = room {
            self.move_into(room);
        }
        if let [NewEntry { neighbor, value, gap }] = *new {
            self.neighbors.insert(gap, neighbor);
            self.heads.insert(gap, Head::new(begin));
            self.values.insert(gap, value);
        } else if !new.is_empty() {
            self.insert_all(new, begin);
        }
    }

    /// O(entries after it) for one absent entry, O(entries) for several.
    fn drop_absent(&mut self, neighbors: impl Iterator<Item = VertexId>) {
        let found = neighbors.filter_map(|neighbor| self.locate(neighbor).ok());
        let mut absent = found.filter(|position| self.heads[*position].is_absent());
        match (absent.next(), absent.next()) {
            (None, _) => {}
            (Some(position), None) => self.remove(position),
            (Some(first), Some(_)) => self.compact(first),
        }
    }

    fn shrink_if_sparse(&mut self) {
        let (entries, capacity) = (self.neighbors.len(), self.neighbors.capacity());
        if capacity > SMALLEST && entries * SPARSE < capacity {
            let capacity = if entries == 0 { 0 } else { (2 * entries).max(SMALLEST) };
            self.neighbors.shrink_to(capacity);
            self.heads.shrink_to(capacity);
            self.values.shrink_to(capacity);
        }
    }

    fn heap_bytes(&self) -> usize {
        self.neighbors.capacity() * size_of::<VertexId>()
            + self.heads.capacity() * size_of::<Head>()
            + self.values.heap_bytes()
    }

    fn heads(&self) -> Vec<(VertexId, &Head)> {
        debug_assert_eq!(self.neighbors.len(), self.heads.len());
        self.neighbors.iter().copied().zip(&self.heads).collect()
    }
}

/// The capacities of larger and of the current arrays.
#[derive(Debug)]
pub struct Larger {
    capacity: usize,
    former: usize,
}
