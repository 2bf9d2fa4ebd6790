//! Changes of adjacency entries, in two columns.

use crate::{EdgeValue, VertexId};
use rayon::ThreadPool;
use rayon::prelude::*;
use smallvec::SmallVec;
use std::mem::take;
use std::ops::Range;
use std::slice;

#[cfg(test)]
mod tests;

/// The change of one adjacency entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdgeChange {
    position: u64,
    /// The new value; `None` removes the neighbor.
    pub value: Option<EdgeValue>,
}

/// Maximum number of changes with values that are sorted by insertion, as of most transactions.
const MOST_TO_INSERT: usize = 32;

/// A put of an edge without a value.
const NO_VALUE: Option<EdgeValue> = Some(EdgeValue(0));

impl EdgeChange {
    /// The change of an entry: its new value, or `None` to remove it.
    #[inline]
    #[must_use]
    pub const fn new(owner: VertexId, neighbor: VertexId, value: Option<EdgeValue>) -> Self {
        EdgeChange { position: EdgeChange::position_of(owner, neighbor), value }
    }

    /// The change of the entry at a [position](EdgeChange::position).
    #[inline]
    #[must_use]
    pub const fn at(position: u64, value: Option<EdgeValue>) -> Self {
        EdgeChange { position, value }
    }

    /// The vertex whose neighbors change.
    #[inline]
    #[must_use]
    pub const fn owner(&self) -> VertexId {
        EdgeChange::owner_of(self.position)
    }

    /// The neighbor.
    #[inline]
    #[must_use]
    pub const fn neighbor(&self) -> VertexId {
        // The lower half.
        VertexId::new(self.position as u32)
    }

    /// The sort key of changes: the owner, then the neighbor, as one number.
    #[inline]
    #[must_use]
    pub const fn position(&self) -> u64 {
        self.position
    }

    /// The sort key of an entry: the owner, then the neighbor, as one number.
    #[inline]
    #[must_use]
    pub const fn position_of(owner: VertexId, neighbor: VertexId) -> u64 {
        (owner.get() as u64) << 32 | neighbor.get() as u64
    }

    /// The owner of the entry at a [position](EdgeChange::position).
    #[inline]
    #[must_use]
    pub const fn owner_of(position: u64) -> VertexId {
        VertexId::new((position >> 32) as u32)
    }
}

/// Changes of entries of one adjacency, in two columns, so that edges without values take 8 bytes
/// each: positions, and values, which are left out if no change but puts without values was added.
#[derive(Clone, Debug, Default)]
pub struct EdgeChanges {
    positions: SmallVec<[u64; 2]>,
    /// Empty, or one for each position.
    values: SmallVec<[Option<EdgeValue>; 2]>,
}

/// Consecutive changes.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChangeSlice<'c> {
    positions: &'c [u64],
    /// Empty, or one for each position.
    values: &'c [Option<EdgeValue>],
}

/// Places of changes to write, in order.
#[derive(Debug)]
pub struct ChangeSlots<'s> {
    positions: slice::IterMut<'s, u64>,
    /// Empty if all changes are puts without values.
    values: slice::IterMut<'s, Option<EdgeValue>>,
}

impl EdgeChanges {
    /// No changes.
    #[must_use]
    pub fn new() -> Self {
        EdgeChanges::default()
    }

    /// No changes, and room for some without values.
    #[must_use]
    pub fn with_capacity(changes: usize) -> Self {
        EdgeChanges { positions: SmallVec::with_capacity(changes), values: SmallVec::new() }
    }

    /// Puts of edges without values, at these [positions](EdgeChange::position).
    #[must_use]
    pub fn puts(positions: Vec<u64>) -> Self {
        EdgeChanges { positions: positions.into(), values: SmallVec::new() }
    }

    /// Adds a change. Amortized O(1).
    #[inline]
    pub fn push(&mut self, change: EdgeChange) {
        if !self.values.is_empty() {
            self.values.push(change.value);
        } else if change.value != NO_VALUE {
            self.begin_values();
            self.values.push(change.value);
        }
        self.positions.push(change.position);
    }

    /// Begins the column of values, with as much room as that of positions.
    fn begin_values(&mut self) {
        self.values.reserve(self.positions.capacity());
        self.values.resize(self.positions.len(), NO_VALUE);
    }

    /// Adds further changes. O(changes of `other`).
    pub fn append(&mut self, other: ChangeSlice<'_>) {
        let ChangeSlice { positions, values } = other;
        if !(self.values.is_empty() && values.is_empty()) {
            self.values.resize(self.positions.len(), NO_VALUE);
            self.values.extend_from_slice(values);
            self.values.resize(self.positions.len() + positions.len(), NO_VALUE);
        }
        self.positions.extend_from_slice(positions);
    }

    /// Keeps the first `changes` only.
    pub fn truncate(&mut self, changes: usize) {
        self.positions.truncate(changes);
        self.values.truncate(changes);
    }

    /// Removes all changes, and keeps the memory.
    pub fn clear(&mut self) {
        self.positions.clear();
        self.values.clear();
    }

    /// Removes all changes, and keeps memory for as many as `kept`.
    pub fn clear_to(&mut self, kept: usize) {
        match self.positions.capacity().max(self.values.capacity()) > kept.max(2) {
            true => *self = EdgeChanges::with_capacity(kept),
            false => self.clear(),
        }
    }

    /// Bytes on the heap.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let positions = if self.positions.spilled() { self.positions.capacity() } else { 0 };
        let values = if self.values.spilled() { self.values.capacity() } else { 0 };
        positions * size_of::<u64>() + values * size_of::<Option<EdgeValue>>()
    }

    /// Makes `changes` places in place of all changes. What is not written is unspecified.
    pub fn slots(&mut self, changes: usize, have_values: bool) -> ChangeSlots<'_> {
        if self.positions.capacity() < changes {
            // Zeroed pages: the threads that write the positions are the first to touch them.
            self.positions = SmallVec::from_vec(vec![0; changes]);
        }
        self.positions.resize(changes, 0);
        self.values.resize(if have_values { changes } else { 0 }, None);
        ChangeSlots { positions: self.positions.iter_mut(), values: self.values.iter_mut() }
    }

    /// Sorts the changes by position. O(n log n), on the threads of `pool` if given.
    pub fn sort(&mut self, pool: Option<&ThreadPool>) {
        if self.values.is_empty() {
            return match pool {
                Some(pool) => pool.install(|| self.positions.par_sort_unstable()),
                None => self.positions.sort_unstable(),
            };
        }
        if self.positions.len() <= MOST_TO_INSERT {
            return self.sort_by_insertion();
        }
        let mut changes: Vec<EdgeChange> = self.as_slice().iter().collect();
        match pool {
            Some(pool) => pool.install(|| changes.par_sort_unstable_by_key(EdgeChange::position)),
            None => changes.sort_unstable_by_key(EdgeChange::position),
        }
        self.positions.iter_mut().zip(&changes).for_each(|(position, change)| *position = change.position);
        self.values.iter_mut().zip(&changes).for_each(|(value, change)| *value = change.value);
    }

    /// Sorts both columns. O(n²); allocates nothing.
    fn sort_by_insertion(&mut self) {
        for end in 1..self.positions.len() {
            let mut place = end;
            while place > 0 && self.positions[place - 1] > self.positions[place] {
                self.positions.swap(place - 1, place);
                self.values.swap(place - 1, place);
                place -= 1;
            }
        }
    }

    /// Sorts the changes by position, and keeps the last one at each. O(n log n).
    pub fn sort_keeping_last(&mut self) {
        if self.values.is_empty() {
            self.positions.sort_unstable();
            return self.positions.dedup();
        }
        if self.positions.is_sorted_by(|one, next| one < next) {
            return;
        }
        let mut changes: Vec<EdgeChange> = self.as_slice().iter().collect();
        // Stable, so that the last at a position stays last.
        changes.sort_by_key(EdgeChange::position);
        changes.dedup_by(|later, kept| {
            let is_same = later.position == kept.position;
            if is_same {
                *kept = *later;
            }
            is_same
        });
        // Without room to spare: such lists may stay for long.
        self.positions = changes.iter().map(EdgeChange::position).collect::<Vec<_>>().into();
        self.values = changes.iter().map(|change| change.value).collect::<Vec<_>>().into();
    }

    /// Keeps the changes for which `is_kept` returns true. O(changes).
    pub fn retain(&mut self, mut is_kept: impl FnMut(EdgeChange) -> bool) {
        *self = self.as_slice().iter().filter(|change| is_kept(*change)).collect();
    }

    /// All changes.
    #[inline]
    #[must_use]
    pub fn as_slice(&self) -> ChangeSlice<'_> {
        ChangeSlice { positions: &self.positions, values: &self.values }
    }

    /// The number of changes. O(1).
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Returns true if there are no changes. O(1).
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// The changes, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = EdgeChange> + ExactSizeIterator + Clone {
        self.as_slice().iter()
    }
}

impl PartialEq for EdgeChanges {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for EdgeChanges {}

impl Extend<EdgeChange> for EdgeChanges {
    fn extend<I: IntoIterator<Item = EdgeChange>>(&mut self, changes: I) {
        let changes = changes.into_iter();
        self.positions.reserve(changes.size_hint().0);
        changes.for_each(|change| self.push(change));
    }
}

impl FromIterator<EdgeChange> for EdgeChanges {
    fn from_iter<I: IntoIterator<Item = EdgeChange>>(changes: I) -> Self {
        let mut all = EdgeChanges::new();
        all.extend(changes);
        all
    }
}

impl<'c> From<&'c EdgeChange> for ChangeSlice<'c> {
    /// One change.
    #[inline]
    fn from(change: &'c EdgeChange) -> Self {
        let (position, value) = (&change.position, &change.value);
        ChangeSlice { positions: slice::from_ref(position), values: slice::from_ref(value) }
    }
}

impl<'c> ChangeSlice<'c> {
    /// The number of changes.
    #[inline]
    #[must_use]
    pub fn len(self) -> usize {
        self.positions.len()
    }

    /// Returns true if there are no changes.
    #[inline]
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.positions.is_empty()
    }

    /// The change at a place, unless there are fewer.
    #[inline]
    #[must_use]
    pub fn get(self, number: usize) -> Option<EdgeChange> {
        let position = *self.positions.get(number)?;
        Some(EdgeChange { position, value: self.values.get(number).copied().unwrap_or(NO_VALUE) })
    }

    /// The owner of the first change.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    #[must_use]
    pub fn first_owner(self) -> VertexId {
        EdgeChange::owner_of(self.positions[0])
    }

    /// The changes, in order.
    #[inline]
    pub fn iter(self) -> impl DoubleEndedIterator<Item = EdgeChange> + ExactSizeIterator + Clone + use<'c> {
        let ChangeSlice { positions, values } = self;
        positions.iter().enumerate().map(move |(number, position)| EdgeChange {
            position: *position,
            value: values.get(number).copied().unwrap_or(NO_VALUE),
        })
    }

    /// The [positions](EdgeChange::position).
    #[inline]
    #[must_use]
    pub fn positions(self) -> &'c [u64] {
        self.positions
    }

    /// Returns true if there is no column of values: every change is a put of value 0, as of an
    /// edge without a value. O(1).
    #[inline]
    #[must_use]
    pub fn are_plain(self) -> bool {
        self.values.is_empty()
    }

    /// Returns true if all changes are puts. O(1) if none has a value, else O(changes).
    #[inline]
    #[must_use]
    pub fn are_puts(self) -> bool {
        self.values.iter().all(Option::is_some)
    }

    /// The number of puts. O(1) if no change is a deletion or has a value, else O(changes).
    #[inline]
    #[must_use]
    pub fn count_puts(self) -> usize {
        self.positions.len() - self.values.iter().filter(|value| value.is_none()).count()
    }

    /// The changes at consecutive places.
    ///
    /// # Panics
    /// If there are no such places.
    #[inline]
    #[must_use]
    pub fn slice(self, places: Range<usize>) -> Self {
        let values = if self.values.is_empty() { &[][..] } else { &self.values[places.clone()] };
        ChangeSlice { positions: &self.positions[places], values }
    }

    /// The first `changes`, and the others.
    ///
    /// # Panics
    /// If there are fewer.
    #[inline]
    #[must_use]
    pub fn split_at(self, changes: usize) -> (Self, Self) {
        (self.slice(0..changes), self.slice(changes..self.len()))
    }

    /// The change of a neighbor of the first owner, if all changes have this owner, and ascend.
    /// O(log n).
    #[inline]
    #[must_use]
    pub fn find(self, neighbor: VertexId) -> Option<EdgeChange> {
        let position = EdgeChange::position_of(self.get(0)?.owner(), neighbor);
        self.get(self.positions.binary_search(&position).ok()?)
    }

    /// The changes of one owner, which ascend, before and from the first neighbor for which
    /// `is_before` returns false. O(log n).
    #[inline]
    #[must_use]
    pub fn split_at_neighbor(self, is_before: impl Fn(VertexId) -> bool) -> (Self, Self) {
        let neighbor = |position: &u64| EdgeChange::at(*position, None).neighbor();
        self.split_at(self.positions.partition_point(|position| is_before(neighbor(position))))
    }

    /// Groups consecutive changes for whose owners `group_of` returns the same.
    #[inline]
    pub fn groups<G: PartialEq>(
        self,
        group_of: impl Fn(VertexId) -> G + Clone,
    ) -> impl Iterator<Item = ChangeSlice<'c>> + Clone {
        let is_same = move |one: &u64, next: &u64| {
            group_of(EdgeChange::owner_of(*one)) == group_of(EdgeChange::owner_of(*next))
        };
        let mut begin = 0;
        self.positions.chunk_by(is_same).map(move |positions| {
            let places = begin..begin + positions.len();
            begin = places.end;
            self.slice(places)
        })
    }
}

impl<'s> ChangeSlots<'s> {
    /// Takes the first places.
    ///
    /// # Panics
    /// If there are fewer than `changes`.
    #[must_use]
    pub fn take(&mut self, changes: usize) -> ChangeSlots<'s> {
        let of_values = if self.values.len() == 0 { 0 } else { changes };
        let (positions, other_positions) = take(&mut self.positions).into_slice().split_at_mut(changes);
        let (values, other_values) = take(&mut self.values).into_slice().split_at_mut(of_values);
        (self.positions, self.values) = (other_positions.iter_mut(), other_values.iter_mut());
        ChangeSlots { positions: positions.iter_mut(), values: values.iter_mut() }
    }

    /// The number of places left.
    #[must_use]
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Returns true if no place is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.positions.len() == 0
    }

    /// Writes the change at the first place left. A change beyond the last place is left out, as is
    /// a value without a column of them: the caller has made places for all.
    #[inline]
    pub fn write(&mut self, change: EdgeChange) {
        debug_assert!(self.positions.len() > 0, "there is a place for each change");
        debug_assert!(self.values.len() > 0 || change.value == NO_VALUE, "there is a column for the value");
        if let Some(position) = self.positions.next() {
            *position = change.position;
        }
        if let Some(value) = self.values.next() {
            *value = change.value;
        }
    }
}
