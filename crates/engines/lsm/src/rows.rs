//! The rows of one adjacency in a view, each edge with its content as bytes.

use crate::graph::{LsmEngine, check_lock};
use crate::kept_rows::KeptRows;
use crate::levels::{RowContent, SeenRow};
use crate::reader::{Keeper, RowReader};
use crate::sources::RowSources;
use hedgerow_encoding::{EntryKey, ReadRows};
use hedgerow_model::{ColumnType, EdgeValue, ReadError, VertexId, ViewState, cuts_by_work};
use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};

/// The rows of one adjacency in a view.
#[derive(Clone, Copy)]
pub struct LsmRows<'v> {
    pub(crate) engine: &'v LsmEngine,
    pub(crate) sources: &'v RowSources,
    pub(crate) kept: Option<&'v KeptRows>,
    pub(crate) state: ViewState<'v>,
    pub(crate) adjacency: u32,
    pub(crate) column: ColumnType,
}

impl<'v> LsmRows<'v> {
    /// Creates a reader of rows with this content of their edges.
    pub(crate) fn reader(&self, content: RowContent) -> RowReader<'v> {
        let reader = RowReader::new(self.sources, self.adjacency, self.state.timestamp(), content);
        let (engine, adjacencies) = (self.engine, self.engine.adjacencies());
        let table = self.kept.and_then(|kept| {
            kept.table((self.adjacency, adjacencies), content, self.state.vertex_bound(), &engine.kept)
        });
        reader.keeping(table.map(|table| Keeper { table, engine }))
    }

    /// Panics if the view reads only locked vertices, and the owner is not locked.
    pub(crate) fn check_lock(&self, owner: VertexId) {
        if let ViewState::Locked(locks) = self.state {
            check_lock(locks, owner, "read");
        }
    }

    /// Returns ranges of about equal work, by the sizes of blocks.
    pub(crate) fn cut(&self, parts: usize) -> Vec<Range<u32>> {
        let mut work = BTreeMap::<u32, u64>::new();
        for file in self.sources.levels.levels(self.adjacency).iter().flatten() {
            for (last_owner, bytes) in file.edges().block_sizes() {
                *work.entry(last_owner.get() + 1).or_default() += bytes;
            }
        }
        let bound = self.state.vertex_bound();
        if work.is_empty() {
            // Of the MemGraphs, only the owners are known.
            let pieces = parts.clamp(1, 256) as u64;
            let ends = (1..=pieces).map(|piece| (u64::from(bound) * piece / pieces) as u32);
            ends.filter(|end| *end > 0).for_each(|end| *work.entry(end).or_default() += 1);
        }
        cuts_by_work(bound, parts, &work.into_iter().collect::<Vec<_>>())
    }

    /// Visits the edges of a row to a range of neighbors, each with its content.
    fn visit_row<B>(
        &self,
        owner: VertexId,
        row: SeenRow<'_>,
        neighbors: &Range<u32>,
        visit: &mut impl FnMut(EntryKey, &[u8]) -> Result<ControlFlow<B>, ReadError>,
    ) -> Result<ControlFlow<B>, ReadError> {
        self.check_lock(owner);
        for (neighbor, value) in row.edges().filter(|(neighbor, _)| neighbors.contains(&neighbor.get())) {
            let EdgeValue(bits) = value;
            let bits = bits.to_le_bytes();
            let content = match self.column {
                ColumnType::Record => row.record(value),
                column => &bits[..column.width()],
            };
            let flow = visit(EntryKey::new(owner, neighbor), content)?;
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

impl ReadRows for LsmRows<'_> {
    fn visit<B>(
        &self,
        keys: Range<EntryKey>,
        mut visit: impl FnMut(EntryKey, &[u8]) -> Result<ControlFlow<B>, ReadError>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let mut reader = self.reader(match self.column {
            ColumnType::Record => RowContent::Records,
            _ => RowContent::Values,
        });
        let Range { start, end } = keys;
        let all = 0..u32::MAX;
        if start.owner == end.owner && start.neighbor + 1 == end.neighbor {
            let (owner, neighbor) = (VertexId::new(start.owner), VertexId::new(start.neighbor));
            self.check_lock(owner);
            return self.visit_row(owner, reader.read_edge(owner, neighbor)?, &all, &mut visit);
        }
        if start.owner.checked_add(1) == Some(end.owner) && end.neighbor == 0 {
            let owner = VertexId::new(start.owner);
            self.check_lock(owner);
            let neighbors = start.neighbor..u32::MAX;
            return self.visit_row(owner, reader.read_row(owner)?, &neighbors, &mut visit);
        }
        let owners = start.owner..end.owner.saturating_add(u32::from(end.neighbor > 0));
        reader.scan(owners, |owner, row| {
            let begin = if owner.get() == start.owner { start.neighbor } else { 0 };
            let end = if owner.get() == end.owner { end.neighbor } else { u32::MAX };
            self.visit_row(owner, row, &(begin..end), &mut visit)
        })
    }

    fn cuts(&self, parts: usize) -> Result<Vec<Range<u32>>, ReadError> {
        Ok(self.cut(parts))
    }
}
