//! Edges as a snapshot sees them, in columns: reading and merging touch only the columns that the
//! reader asks for.

use crate::levels::block::BlockRow;
use crate::levels::records::record_at;
use crate::levels::row::Unpacked;
use hedgerow_encoding::DecodeError;
use hedgerow_model::{CommitTimestamp, EdgeValue, VertexId};
use std::ops::{ControlFlow, Range};

/// An edge as a snapshot sees it in one place: its value, or `None` if the edge is deleted there.
pub type SeenEdge = (VertexId, Option<EdgeValue>);

/// The content that is read of edges, in addition to their neighbors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowContent {
    /// No content. All values are 0.
    #[default]
    Neighbors,
    /// The values of the edges.
    Values,
    /// The records of the edges.
    Records,
}

/// Factor between the lengths of an older and a newer row above which the older row is copied in
/// pieces.
const MUCH_LONGER: usize = 16;

/// Edges of one or several vertices, ascending per vertex, including deletions, since they hide
/// older edges.
#[derive(Clone, Debug, Default)]
pub(crate) struct SeenEdges {
    neighbors: Vec<VertexId>,
    /// One value per edge, or none if values are not read.
    values: Vec<EdgeValue>,
    /// For each edge, true if it is deleted; empty if no edge is deleted.
    deleted: Vec<bool>,
}

/// Edges of one vertex in one place, ascending, including deletions.
#[derive(Clone, Copy, Debug)]
pub struct SeenSlice<'e> {
    neighbors: &'e [VertexId],
    values: &'e [EdgeValue],
    deleted: &'e [bool],
}

/// Rows of several vertices as a snapshot sees them in one place, ascending by owner.
#[derive(Clone, Debug, Default)]
pub struct SeenRows {
    /// Each owner, with the end of its edges.
    rows: Vec<(VertexId, u32)>,
    edges: SeenEdges,
}

impl SeenRows {
    /// Removes all rows, and keeps the memory. O(1).
    pub fn clear(&mut self) {
        self.rows.clear();
        self.edges.clear();
    }

    /// Returns the number of rows. O(1).
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns true if there are no rows. O(1).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the owner of a row; `None` behind the last row. O(1).
    #[inline]
    #[must_use]
    pub fn owner(&self, number: usize) -> Option<VertexId> {
        self.rows.get(number).map(|(owner, _)| *owner)
    }

    /// Returns the edges of a row, which must exist. O(1).
    #[inline]
    #[must_use]
    pub fn row(&self, number: usize) -> SeenSlice<'_> {
        let begin = number.checked_sub(1).map_or(0, |before| self.rows[before].1);
        self.edges.slice(begin as usize..self.rows[number].1 as usize)
    }

    /// Returns the edges of an owner, if it has a row. O(log rows).
    #[must_use]
    pub fn find(&self, owner: VertexId) -> Option<SeenSlice<'_>> {
        let number = self.first_from(owner.get());
        (self.owner(number) == Some(owner)).then(|| self.row(number))
    }

    /// Returns the number of the first row whose owner is not less than `owner`. O(log rows).
    #[must_use]
    pub fn first_from(&self, owner: u32) -> usize {
        self.rows.partition_point(|(other, _)| other.get() < owner)
    }

    /// Adds a row behind all others. Its edges must ascend, without duplicates. O(edges).
    pub fn push(&mut self, owner: VertexId, edges: &[SeenEdge], content: RowContent) {
        edges.iter().for_each(|edge| self.edges.push(*edge, content));
        self.end_row(owner);
    }

    /// Adds a merged row behind all others, unless it has no edges. Either all rows have values, or
    /// none. O(edges).
    pub fn push_row(&mut self, owner: VertexId, SeenRow { neighbors, values, .. }: SeenRow<'_>) {
        if !neighbors.is_empty() {
            self.edges.extend(SeenSlice { neighbors, values, deleted: &[] });
            self.end_row(owner);
        }
    }

    /// Adds a row behind all others, with the edges that `append` appends. O(edges).
    pub(crate) fn push_with<R>(&mut self, owner: VertexId, append: impl FnOnce(&mut SeenEdges) -> R) -> R {
        let appended = append(&mut self.edges);
        self.end_row(owner);
        appended
    }

    fn end_row(&mut self, owner: VertexId) {
        debug_assert!(self.rows.last().is_none_or(|(last, _)| *last < owner));
        // Each edge takes a word of memory in the place that it is read from, which has at most
        // 2^32 words.
        self.rows.push((owner, self.edges.len() as u32));
    }

    /// Returns these rows merged with older rows, whose owners may be others; an edge in both is
    /// taken from these rows. Either both have values, or neither. O(rows + edges).
    #[must_use]
    pub fn over(&self, older: &SeenRows) -> SeenRows {
        let (mut both, mut merged) = (SeenRows::default(), SeenEdges::default());
        let (mut newer_row, mut older_row) = (0, 0);
        loop {
            let (one, other) = (self.owner(newer_row), older.owner(older_row));
            let Some(owner) = one.into_iter().chain(other).min() else { return both };
            let newer = (one == Some(owner)).then(|| self.row(newer_row));
            let older = (other == Some(owner)).then(|| older.row(older_row));
            newer_row += usize::from(newer.is_some());
            older_row += usize::from(older.is_some());
            both.push_with(owner, |edges| match (newer, older) {
                (Some(newer), Some(older)) => {
                    merged.merge(newer, older);
                    edges.extend(merged.all());
                }
                (one, other) => one.into_iter().chain(other).for_each(|row| edges.extend(row)),
            });
        }
    }

    /// Frees memory that only further rows would need. O(rows + edges).
    pub fn shrink(&mut self) {
        let SeenRows { rows, edges: SeenEdges { neighbors, values, deleted } } = self;
        rows.shrink_to_fit();
        neighbors.shrink_to_fit();
        values.shrink_to_fit();
        deleted.shrink_to_fit();
    }

    /// Returns the heap bytes. O(1).
    #[must_use]
    pub fn bytes(&self) -> usize {
        let SeenRows { rows, edges: SeenEdges { neighbors, values, deleted } } = self;
        rows.capacity() * size_of::<(VertexId, u32)>()
            + neighbors.capacity() * size_of::<VertexId>()
            + values.capacity() * size_of::<EdgeValue>()
            + deleted.capacity()
    }
}

/// The edges of one vertex that exist, ascending.
#[derive(Clone, Copy, Debug, Default)]
pub struct SeenRow<'r> {
    pub(crate) neighbors: &'r [VertexId],
    pub(crate) values: &'r [EdgeValue],
    pub(crate) records: &'r [u8],
}

impl<'r> SeenRow<'r> {
    /// Returns the neighbors. O(1).
    #[inline]
    #[must_use]
    pub fn neighbors(self) -> &'r [VertexId] {
        self.neighbors
    }

    /// Returns the values of the edges to the [neighbors](SeenRow::neighbors); empty if values are
    /// not read. O(1).
    #[inline]
    #[must_use]
    pub fn values(self) -> &'r [EdgeValue] {
        self.values
    }

    /// Returns the edges, with value 0 if values are not read.
    pub fn edges(self) -> impl Iterator<Item = (VertexId, EdgeValue)> + 'r {
        let values = self.values.iter().copied().chain(std::iter::repeat(EdgeValue::default()));
        self.neighbors.iter().copied().zip(values)
    }

    /// Returns the record of an edge by its value; empty if records are not read. O(1).
    #[must_use]
    pub fn record(self, value: EdgeValue) -> &'r [u8] {
        record_at(self.records, value).unwrap_or_default()
    }
}

impl SeenEdges {
    pub(crate) fn clear(&mut self) {
        self.neighbors.clear();
        self.values.clear();
        self.deleted.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.neighbors.len()
    }

    pub(crate) fn all(&self) -> SeenSlice<'_> {
        SeenSlice { neighbors: &self.neighbors, values: &self.values, deleted: &self.deleted }
    }

    pub(crate) fn slice(&self, range: Range<usize>) -> SeenSlice<'_> {
        self.all().slice(range)
    }

    pub(crate) fn neighbors(&self) -> &[VertexId] {
        &self.neighbors
    }

    /// Returns the values; empty if values are not read.
    pub(crate) fn values(&self) -> &[EdgeValue] {
        &self.values
    }

    /// Maps the values of edges from a position on, except deletions, until `map` fails.
    pub(crate) fn try_map_values<E>(
        &mut self,
        from: usize,
        mut map: impl FnMut(EdgeValue) -> Result<EdgeValue, E>,
    ) -> Result<(), E> {
        for (position, value) in self.values.iter_mut().enumerate().skip(from) {
            if !self.deleted.get(position).is_some_and(|is_deleted| *is_deleted) {
                *value = map(*value)?;
            }
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn push(&mut self, (neighbor, value): SeenEdge, content: RowContent) {
        if value.is_none() && self.deleted.is_empty() {
            self.deleted.resize(self.neighbors.len(), false);
        }
        if value.is_none() || !self.deleted.is_empty() {
            self.deleted.push(value.is_none());
        }
        self.neighbors.push(neighbor);
        if content != RowContent::Neighbors {
            self.values.push(value.unwrap_or_default());
        }
    }

    /// Appends the edges that a snapshot at `at` sees in a row, with the values in the row or
    /// without values. O(entries).
    ///
    /// # Errors
    /// The row is damaged. Some of its edges are appended.
    pub(crate) fn append(
        &mut self,
        row: &BlockRow<'_>,
        at: CommitTimestamp,
        content: RowContent,
        unpacked: &mut Unpacked,
    ) -> Result<(), DecodeError> {
        let Some(neighbors) = row.settled() else {
            let all = row.visit_at(at, unpacked, |neighbor, value| {
                self.push((neighbor, value), content);
                ControlFlow::<()>::Continue(())
            });
            return all.map(|_| ());
        };
        let visited = neighbors.visit(unpacked, |run| {
            self.neighbors.extend_from_slice(run);
            ControlFlow::<()>::Continue(())
        });
        if content != RowContent::Neighbors {
            self.values.extend(row.values());
        }
        if !self.deleted.is_empty() {
            self.deleted.resize(self.neighbors.len(), false);
        }
        visited.map(|_| ())
    }

    /// Appends edges. Either all lists have values, or none.
    pub(crate) fn extend(&mut self, edges: SeenSlice<'_>) {
        if self.deleted.is_empty() && !edges.deleted.is_empty() {
            self.deleted.resize(self.len(), false);
        }
        let has_deleted = !self.deleted.is_empty();
        self.neighbors.extend_from_slice(edges.neighbors);
        self.values.extend_from_slice(edges.values);
        self.deleted.extend_from_slice(edges.deleted);
        if has_deleted {
            self.deleted.resize(self.len(), false);
        }
    }

    /// Replaces these edges by all edges of two lists, each of one vertex; an edge in both is taken
    /// from `newer`. Either both lists have values, or neither. O(newer · log older), and copying,
    /// if there are many more older edges; else O(edges).
    pub(crate) fn merge(&mut self, newer: SeenSlice<'_>, older: SeenSlice<'_>) {
        self.clear();
        if older.neighbors.len() / MUCH_LONGER > newer.neighbors.len() {
            return self.merge_in_pieces(newer, older);
        }
        let has_values = !(newer.values.is_empty() && older.values.is_empty());
        match (has_values, newer.deleted.is_empty() && older.deleted.is_empty()) {
            (false, true) => self.merge_in_step::<false, false>(newer, older),
            (false, false) => self.merge_in_step::<false, true>(newer, older),
            (true, true) => self.merge_in_step::<true, false>(newer, older),
            (true, false) => self.merge_in_step::<true, true>(newer, older),
        }
    }

    /// Copies the older edges between two newer edges at once.
    fn merge_in_pieces(&mut self, newer: SeenSlice<'_>, mut older: SeenSlice<'_>) {
        for (position, neighbor) in newer.neighbors.iter().enumerate() {
            let before = older.neighbors.partition_point(|older| older < neighbor);
            self.extend(older.slice(0..before));
            self.extend(newer.slice(position..position + 1));
            let is_replaced = older.neighbors.get(before) == Some(neighbor);
            older = older.slice(before + usize::from(is_replaced)..older.neighbors.len());
        }
        self.extend(older);
    }

    /// Takes one edge at a time, without branches on the list that it comes from: they would be
    /// mispredicted half of the time.
    fn merge_in_step<const VALUES: bool, const DELETED: bool>(
        &mut self,
        newer: SeenSlice<'_>,
        older: SeenSlice<'_>,
    ) {
        let (mut from_newer, mut from_older) = (0, 0);
        while let (Some(one), Some(other)) =
            (newer.neighbors.get(from_newer), older.neighbors.get(from_older))
        {
            let (takes_newer, takes_older) = (one <= other, other <= one);
            self.neighbors.push(if takes_newer { *one } else { *other });
            if VALUES {
                let (one, other) = (newer.values[from_newer], older.values[from_older]);
                self.values.push(if takes_newer { one } else { other });
            }
            if DELETED {
                let (one, other) = (newer.is_deleted(from_newer), older.is_deleted(from_older));
                self.deleted.push(if takes_newer { one } else { other });
            }
            from_newer += usize::from(takes_newer);
            from_older += usize::from(takes_older);
        }
        self.extend(newer.slice(from_newer..newer.neighbors.len()));
        self.extend(older.slice(from_older..older.neighbors.len()));
    }

    /// Removes deletions. O(edges) if there are any, else O(1).
    pub(crate) fn remove_deleted(&mut self) {
        let mut kept = 0;
        for (position, is_deleted) in self.deleted.iter().enumerate() {
            self.neighbors[kept] = self.neighbors[position];
            if let Some(value) = self.values.get(position).copied() {
                self.values[kept] = value;
            }
            kept += usize::from(!is_deleted);
        }
        if !self.deleted.is_empty() {
            self.neighbors.truncate(kept);
            self.values.truncate(kept);
            self.deleted.clear();
        }
    }
}

impl<'e> SeenSlice<'e> {
    /// Returns the edges, if none of them is a deletion. O(edges) if another row nearby has a
    /// deletion, else O(1).
    #[inline]
    #[must_use]
    pub fn existing<'r>(self, records: &'r [u8]) -> Option<SeenRow<'r>>
    where
        'e: 'r,
    {
        let SeenSlice { neighbors, values, deleted } = self;
        (!deleted.contains(&true)).then_some(SeenRow { neighbors, values, records })
    }

    fn slice(self, range: Range<usize>) -> SeenSlice<'e> {
        SeenSlice {
            neighbors: &self.neighbors[range.clone()],
            values: if self.values.is_empty() { &[] } else { &self.values[range.clone()] },
            deleted: if self.deleted.is_empty() { &[] } else { &self.deleted[range] },
        }
    }

    #[inline]
    fn is_deleted(&self, position: usize) -> bool {
        self.deleted.get(position).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::btree_map;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    type Edges = BTreeMap<(u32, u32), Option<u64>>;

    fn rows(edges: &Edges, content: RowContent) -> SeenRows {
        let mut rows = SeenRows::default();
        let edges: Vec<_> = edges.iter().collect();
        for row in edges.chunk_by(|one, other| one.0.0 == other.0.0) {
            let of_row = row.iter().map(|((_, to), value)| (VertexId::new(*to), value.map(EdgeValue)));
            rows.push(VertexId::new(row[0].0.0), &of_row.collect::<Vec<_>>(), content);
        }
        rows
    }

    /// Returns the edges that exist, by owner.
    fn existing(rows: &SeenRows) -> Vec<(u32, Vec<(u32, u64)>)> {
        let mut row = crate::levels::MergedRow::new(RowContent::Values);
        let owners = (0..rows.len()).map(|number| {
            row.clear();
            row.add_row(rows.row(number), &[]);
            let edges = row.finish().edges().map(|(to, value)| (to.get(), value.0)).collect::<Vec<_>>();
            let alone = rows.row(number).existing(&[]).map(|row| row.neighbors().len());
            assert!(alone.is_none_or(|alone| alone == edges.len()), "no edge of the row is deleted");
            (rows.owner(number).unwrap().get(), edges)
        });
        owners.collect()
    }

    proptest! {
        #[test]
        fn newer_rows_hide_the_edges_of_older_ones(
            newer in btree_map((0..6u32, 0..9u32), any::<Option<u64>>(), 0..30),
            older in btree_map((0..6u32, 0..9u32), any::<Option<u64>>(), 0..30),
            from in 0..8u32,
        ) {
            let mut both = older.clone();
            both.extend(&newer);
            let [newer, older, expected] = [&newer, &older, &both].map(|edges| rows(edges, RowContent::Values));
            let found = newer.over(&older);
            prop_assert_eq!(existing(&found), existing(&expected));
            let first = (0..found.len()).find(|number| found.owner(*number).unwrap().get() >= from);
            prop_assert_eq!(found.first_from(from), first.unwrap_or(found.len()));
            prop_assert_eq!(found.find(VertexId::new(from)).is_some(), both.keys().any(|(owner, _)| *owner == from));
        }
    }
}
