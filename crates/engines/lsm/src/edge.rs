//! Commits of one edge each, without reading whether the edges exist.

use crate::adjacency::number_of;
use crate::graph::{LsmEngine, check_lock};
use crate::mem_graph::MemContent;
use hedgerow_model::token::{HeldLocks, Stamp, Stamps};
use hedgerow_model::{ColumnType, Direction, EdgeChange, Outcome, Staged, StoredEdge, first_bits};

impl LsmEngine {
    /// Checks the first edges, up to the first that lacks an end or that is in a label with
    /// records. The edges themselves are the plan.
    pub(crate) fn stage_edges<'l>(
        &self,
        locks: &HeldLocks<'_>,
        edges: &'l [StoredEdge],
    ) -> Staged<&'l [StoredEdge]> {
        let is_staged = |edge: &&StoredEdge| {
            let (source, destination) = edge.ends();
            // The column is the same in both directions.
            let column = self.columns.get(number_of(edge.label, Direction::Out) as usize);
            column.is_some_and(|column| *column != ColumnType::Record)
                && self.vertices.contains(source)
                && self.vertices.contains(destination)
        };
        let edges = &edges[..edges.iter().take_while(is_staged).count()];
        let changes = edges.iter().flat_map(StoredEdge::entries);
        changes.for_each(|(_, change)| check_lock(locks, change.owner(), "changed"));
        let (commits, mut outcome) = (edges.len(), Outcome::default());
        if let Some(first) = edges.first() {
            self.prefetch(edges);
            let puts = edges.iter().filter(|edge| !edge.deletes()).count();
            outcome.defer(first.label, puts as u64, (commits - puts) as u64);
        }
        Staged { changes: edges, commits, changing: first_bits(commits), outcome }
    }

    /// Prefetches the buckets of all ends, then the nodes behind them, then the ends of their rows.
    fn prefetch(&self, edges: &[StoredEdge]) {
        let sources = self.sources.read();
        let active = sources.active();
        let rows = || {
            edges.iter().flat_map(|edge| {
                let row =
                    |(stored, change): &(_, EdgeChange)| (number_of(edge.label, *stored), change.owner());
                edge.entries().iter().map(row)
            })
        };
        rows().for_each(|(adjacency, owner)| active.prefetch_bucket(adjacency, owner));
        rows().for_each(|(adjacency, owner)| active.prefetch_node(adjacency, owner));
        rows().for_each(|(adjacency, owner)| active.prefetch_end(adjacency, owner));
    }

    pub(crate) fn apply_edges(&self, stamps: Stamps, edges: &[StoredEdge]) {
        edges.iter().zip(stamps.iter()).for_each(|(edge, stamp)| self.apply_edge(stamp, edge));
    }

    #[inline]
    fn apply_edge(&self, stamp: Stamp, edge: &StoredEdge) {
        let (at, editable_from) = (stamp.at(), stamp.editable_from());
        self.with_active(at, |active| {
            for (stored, change) in edge.entries() {
                let (adjacency, content) =
                    (number_of(edge.label, *stored), change.value.map(MemContent::Value));
                active.push(adjacency, change.owner(), change.neighbor(), at, editable_from, content);
            }
        });
    }
}
