//! Edges as a snapshot sees them, in columns: reading and merging them touches no more bytes than the
//! reader asks for.

use crate::block::BlockRow;
use crate::row::Unpacked;
use hedgerow_encoding::DecodeError;
use hedgerow_model::{CommitTimestamp, EdgeValue, VertexId};
use std::ops::{ControlFlow, Range};

/// An edge as a snapshot sees it in one place: its value, or `None` if it is deleted there.
pub type SeenEdge = (VertexId, Option<EdgeValue>);

/// What is read of edges beside their neighbors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowContent {
    /// Nothing. All values are 0.
    #[default]
    Neighbors,
    /// Their values.
    Values,
    /// Their records.
    Records,
}

/// How many times as long as the other one of two rows must be to be copied in pieces.
const MUCH_LONGER: usize = 16;

/// Edges of one or several vertices, deletions included, since they hide what is older. Those of one
/// vertex ascend.
#[derive(Clone, Debug, Default)]
pub(crate) struct SeenEdges {
    neighbors: Vec<VertexId>,
    /// One for each edge, or nothing if they are not read.
    values: Vec<EdgeValue>,
    /// Whether each edge is deleted, or nothing if none is.
    deleted: Vec<bool>,
}

/// Some of [`SeenEdges`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeenSlice<'e> {
    neighbors: &'e [VertexId],
    values: &'e [EdgeValue],
    deleted: &'e [bool],
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

    /// The values, if they are read; else nothing.
    pub(crate) fn values(&self) -> &[EdgeValue] {
        &self.values
    }

    /// Changes the values of edges from a position on, if they exist, until that fails.
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

    /// Appends what a snapshot at `at` sees of a row, with the values that it has there or without.
    /// O(entries).
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

    /// Appends edges. All lists have values, or none.
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

    /// Makes this all edges of two lists, each of one vertex; of an edge that is in both, the newer one.
    /// Both lists have values, or neither. O(newer · log older), and copying, if there are many more older
    /// ones; else O(edges).
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

    /// Copies the older edges between two newer ones at once.
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

    /// Takes one edge after the other, without branches that depend on which list it comes from: those
    /// would be mispredicted half of the time.
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
