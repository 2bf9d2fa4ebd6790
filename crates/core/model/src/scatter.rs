//! Entries of adjacencies in any order, scattered to parts of consecutive owners, whose rows are
//! then placed and sorted part by part.
//!
//! Two passes in memory order replace one with random accesses, and neither needs an atomic: a
//! chunk of the input fills its own pieces, a part its own rows. Entries of one row keep the order
//! of the input until they are sorted, so the last of several can win.

use crate::{Column, Direction, Topology, VertexId};
use std::ops::Range;
use std::vec;

/// A part has this many owners: its rows are placed in the cache, and an owner takes two bytes.
pub const OWNERS_OF_PART: usize = 1 << 12;

/// The entries of one chunk of the input, by part.
#[derive(Debug, Default)]
pub struct ScatteredEntries<W>(Vec<Piece<W>>);

/// Entries of one part: owners, counted from the first of the part, their neighbors and values.
#[derive(Debug)]
struct Piece<W> {
    owners: Vec<u16>,
    neighbors: Vec<VertexId>,
    values: Vec<W>,
}

impl<W: Column> ScatteredEntries<W> {
    /// Bytes of an entry.
    pub const ENTRY_BYTES: usize = size_of::<u16>() + size_of::<VertexId>() + size_of::<W>();

    /// No entries.
    #[must_use]
    pub fn new() -> Self {
        ScatteredEntries(Vec::new())
    }

    /// The entries of edges, with their values, in a stored direction. Calls `edges` twice. O(edges
    /// + vertices / 4096).
    #[inline]
    pub fn of<I: Iterator<Item = (VertexId, VertexId, W)>>(
        edges: &impl Fn() -> I,
        stored: (Topology, Direction),
    ) -> Self {
        let mut counts: Vec<usize> = Vec::new();
        for_each_entry(edges(), stored, |owner, _, _| {
            let part = part_of(owner);
            if part >= counts.len() {
                counts.resize(part + 1, 0);
            }
            counts[part] += 1;
        });
        let mut entries = ScatteredEntries(counts.into_iter().map(Piece::with_capacity).collect());
        for_each_entry(edges(), stored, |owner, neighbor, value| entries.push(owner, neighbor, value));
        entries
    }

    /// Adds an entry. Amortized O(1).
    #[inline]
    pub fn push(&mut self, owner: VertexId, neighbor: VertexId, value: W) {
        let part = part_of(owner);
        if part >= self.0.len() {
            self.0.resize_with(part + 1, || Piece::with_capacity(0));
        }
        let piece = &mut self.0[part];
        piece.owners.push((owner.index() % OWNERS_OF_PART) as u16);
        piece.neighbors.push(neighbor);
        piece.values.push(value);
    }
}

/// Visits owner, neighbor and value of the entries of edges in a stored direction.
#[inline]
fn for_each_entry<W: Copy>(
    edges: impl Iterator<Item = (VertexId, VertexId, W)>,
    (topology, direction): (Topology, Direction),
    mut visit: impl FnMut(VertexId, VertexId, W),
) {
    // Not a `for` loop, whose calls of a filter are not inlined.
    edges.for_each(|(source, destination, value)| match direction {
        Direction::In => visit(destination, source, value),
        Direction::Out if topology.is_undirected() && source != destination => {
            visit(source, destination, value);
            visit(destination, source, value);
        }
        Direction::Out => visit(source, destination, value),
    });
}

impl<W> Piece<W> {
    fn with_capacity(entries: usize) -> Self {
        let (owners, neighbors) = (Vec::with_capacity(entries), Vec::with_capacity(entries));
        Piece { owners, neighbors, values: Vec::with_capacity(entries) }
    }
}

fn part_of(owner: VertexId) -> usize {
    owner.index() / OWNERS_OF_PART
}

/// The parts of entries that were scattered chunk by chunk, in the order of the input.
#[derive(Debug)]
pub struct ScatteredParts<W> {
    chunks: Vec<vec::IntoIter<Piece<W>>>,
    next: usize,
    parts: usize,
    entries: usize,
}

/// The entries of one part.
#[derive(Debug)]
pub struct ScatteredPart<W> {
    part: usize,
    pieces: Vec<Piece<W>>,
}

/// The rows of the owners of a part up to the last that has neighbors.
#[derive(Debug)]
pub struct PartRows<W> {
    first: u32,
    /// The end of the row of each owner.
    ends: Vec<usize>,
    entries: Vec<(VertexId, W)>,
}

impl<W: Column> ScatteredParts<W> {
    /// The parts of these chunks.
    #[must_use]
    pub fn new(chunks: Vec<ScatteredEntries<W>>) -> Self {
        let pieces = chunks.iter().flat_map(|ScatteredEntries(pieces)| pieces);
        let entries = pieces.map(|piece| piece.owners.len()).sum();
        let parts = chunks.iter().map(|ScatteredEntries(pieces)| pieces.len()).max().unwrap_or(0);
        let chunks = chunks.into_iter().map(|ScatteredEntries(pieces)| pieces.into_iter()).collect();
        ScatteredParts { chunks, next: 0, parts, entries }
    }

    /// The number of all entries, those of taken parts included. O(1).
    #[must_use]
    pub fn entries(&self) -> usize {
        self.entries
    }

    /// Takes up to `most` parts, ascending by owner; none at the end.
    pub fn take(&mut self, most: usize) -> Vec<ScatteredPart<W>> {
        let parts = self.next..self.parts.min(self.next + most);
        self.next = parts.end;
        let pieces =
            |chunks: &mut Vec<vec::IntoIter<_>>| chunks.iter_mut().filter_map(Iterator::next).collect();
        parts.map(|part| ScatteredPart { part, pieces: pieces(&mut self.chunks) }).collect()
    }
}

impl<W: Column> ScatteredPart<W> {
    /// The number of entries. O(pieces).
    #[must_use]
    pub fn len(&self) -> usize {
        self.pieces.iter().map(|piece| piece.owners.len()).sum()
    }

    /// Returns true if there are no entries. O(pieces).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows, not sorted yet. O(entries).
    #[must_use]
    pub fn into_rows(self) -> PartRows<W> {
        let (ends, entries) = place(&self.pieces);
        PartRows { first: (self.part * OWNERS_OF_PART) as u32, ends, entries }
    }
}

impl<W> PartRows<W> {
    /// The owners of the rows.
    #[must_use]
    pub fn owners(&self) -> Range<u32> {
        self.first..self.first + self.ends.len() as u32
    }

    /// The number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns true if there are no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Visits the entries, ascending by owner and neighbor; those with the same ones in the order
    /// of the input. O(entries), plus sorting the rows.
    #[inline]
    pub fn each(mut self, visit: impl FnMut(VertexId, VertexId, &W)) {
        self.each_of(self.owners(), visit);
    }

    /// The number of entries that [`each_last`](Self::each_last) visits. O(entries), plus sorting
    /// the rows.
    pub fn count_last(&mut self) -> usize {
        let mut count = 0;
        self.each_last(|_, _, _| count += 1);
        count
    }

    /// Like [`each`](Self::each); of several entries with the same owner and neighbor, visits the
    /// last.
    #[inline]
    pub fn each_last(&mut self, mut visit: impl FnMut(VertexId, VertexId, &W)) {
        self.each_row(self.owners(), |owner, row| {
            for (position, (neighbor, value)) in row.iter().enumerate() {
                let again = row.get(position + 1).is_some_and(|(next, _)| next == neighbor);
                if !again {
                    visit(owner, *neighbor, value);
                }
            }
        });
    }

    /// The number of entries of some owners. O(1).
    #[must_use]
    pub fn len_of(&self, owners: Range<u32>) -> usize {
        let before = |owner: u32| {
            let rows = (owner.saturating_sub(self.first) as usize).min(self.ends.len());
            rows.checked_sub(1).map_or(0, |last| self.ends[last])
        };
        before(owners.end).saturating_sub(before(owners.start))
    }

    /// Like [`each`](Self::each), of some owners.
    #[inline]
    pub fn each_of(&mut self, owners: Range<u32>, mut visit: impl FnMut(VertexId, VertexId, &W)) {
        let own = self.owners();
        self.each_row(owners.start.max(own.start)..owners.end.min(own.end), |owner, row| {
            row.iter().for_each(|(neighbor, value)| visit(owner, *neighbor, value));
        });
    }

    #[inline]
    fn each_row(&mut self, owners: Range<u32>, mut visit: impl FnMut(VertexId, &[(VertexId, W)])) {
        let mut start = self.len_of(0..owners.start);
        for owner in owners {
            let end = self.ends[(owner - self.first) as usize];
            let row = &mut self.entries[start..end];
            sort_row(row);
            visit(VertexId::new(owner), row);
            start = end;
        }
    }
}

/// The end of the row of each owner up to the last that has neighbors, and the rows, in the order
/// of the input.
fn place<W: Column>(pieces: &[Piece<W>]) -> (Vec<usize>, Vec<(VertexId, W)>) {
    let mut next = vec![0; OWNERS_OF_PART];
    let owners = pieces.iter().flat_map(|piece| &piece.owners);
    owners.for_each(|owner| next[usize::from(*owner)] += 1);
    let used = next.iter().rposition(|degree| *degree > 0).map_or(0, |last| last + 1);
    next.truncate(used);
    let mut start = 0;
    for degree in &mut next {
        start += std::mem::replace(degree, start);
    }
    let mut placed = vec![(VertexId::default(), W::default()); start];
    for Piece { owners, neighbors, values } in pieces {
        for ((owner, neighbor), value) in owners.iter().zip(neighbors).zip(values) {
            let slot = &mut next[usize::from(*owner)];
            placed[*slot] = (*neighbor, *value);
            *slot += 1;
        }
    }
    (next, placed)
}

/// Sorts by neighbor; stable.
pub fn sort_row<W>(row: &mut [(VertexId, W)]) {
    if row.is_sorted_by_key(|(neighbor, _)| *neighbor) {
        return;
    }
    match size_of::<W>() {
        // Equal entries are the same.
        0 => row.sort_unstable_by_key(|(neighbor, _)| *neighbor),
        _ => row.sort_by_key(|(neighbor, _)| *neighbor),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn the_last_of_equal_entries_is_left(
            edges in prop::collection::vec((0..9000_u32, 0..9000_u32, any::<u32>()), 0..200),
            cut in 0..200_usize,
            topology in prop::sample::select(vec![Topology::DirectedWithReverse, Topology::Undirected]),
        ) {
            // Few ends, so that some edges are equal.
            let id = |number: u32| VertexId::new(if number.is_multiple_of(3) { number } else { 4090 + number % 8 });
            let edges: Vec<_> = edges.into_iter().map(|(one, other, value)| (id(one), id(other), value)).collect();
            let (first, second) = edges.split_at(cut.min(edges.len()));
            for direction in topology.directions() {
                let stored = (topology, *direction);
                let chunks = [first, second].map(|chunk| ScatteredEntries::of(&|| chunk.iter().copied(), stored));
                let mut parts = ScatteredParts::new(chunks.into());
                let (mut entries, mut found) = (parts.entries(), Vec::new());
                while let Some(part) = parts.take(1).pop() {
                    let mut rows = part.into_rows();
                    entries -= rows.len();
                    rows.each_last(|owner, neighbor, value| found.push(((owner, neighbor), *value)));
                }
                let mut expected = BTreeMap::new();
                for_each_entry(edges.iter().copied(), stored, |owner, neighbor, value| {
                    expected.insert((owner, neighbor), value);
                });
                prop_assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
                prop_assert_eq!(entries, 0);
            }
        }
    }
}
