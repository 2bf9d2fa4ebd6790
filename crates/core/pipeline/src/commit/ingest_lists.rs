//! Bulk ingest of parallel edges: like other bulk ingests, plus a list of new edges for each pair
//! of vertices that is left after sorting.

use super::ingest::Bulk;
use super::ingest_records::RecordEncoder;
use super::resolve::Resolved;
use crate::error::Error;
use crate::store::Store;
use hedgerow_encoding::{EdgeListWriter, list_as_record};
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{
    Direction, EdgeChange, EdgeOutcome, EdgeValue, Effects, GraphView, ParallelEdges, Record, RecordCursor,
    VertexId,
};
use rayon::slice::ParallelSliceMut;

impl Store {
    /// Adds the lists of the entries to put, whose values are the number of the last edge of their
    /// pair. Each pair is looked up once; of several edges with one number, the last wins. Drops
    /// entries whose edges have these records already. The caller holds all locks.
    pub(super) fn lay_lists(
        &self,
        held: &HeldLocks<'_>,
        bulk: &Bulk<'_>,
        new: &[Record],
        ends: &[u64],
        resolved: &mut Resolved,
    ) -> Result<(), Error> {
        let Bulk { label, edges, .. } = *bulk;
        let (latest, encoder) = (self.latest(held)?, RecordEncoder::new(self, label)?);
        let mut stored = latest.edge_records(label, Direction::Out)?;
        let Effects { adjacencies, records, .. } = &mut resolved.effects;
        let mut outcome = EdgeOutcome { label, added: 0, removed: 0 };
        let mut lists: Vec<Option<EdgeValue>> = vec![None; ends.len()];
        for pair in self.by_pair(bulk, ends).chunk_by(|one, other| one.pair == other.pair) {
            let found = match encoder.is_first {
                true => None,
                false => stored.find_parallel(pair[0].pair.0, pair[0].pair.1)?,
            };
            let (mut list, mut is_changed, mut last) = (EdgeListWriter::default(), false, 0);
            for same in pair.chunk_by(|one, other| one.number == other.number) {
                let NumberedEdge { number, edge, .. } = same[same.len() - 1];
                last = last.max(edge);
                let before = found.map_or(Ok(None), |edges| edges.find(number))?;
                if let Some(record) = encoder.encode(before, &new[edge])? {
                    outcome.added += u64::from(before.is_none());
                    list.push(number, Some(&record));
                    is_changed = true;
                }
            }
            lists[last] = is_changed.then(|| records.push(&list_as_record(&list.into_bytes())));
        }
        debug_assert_eq!(edges.count(), ends.len());
        for adjacency in adjacencies {
            let changed = adjacency.changes.iter().filter_map(|change| {
                let list = change.value.and_then(|last| lists[last.0 as usize])?;
                Some(EdgeChange::at(change.position(), Some(list)))
            });
            adjacency.changes = changed.collect();
        }
        resolved.parallel.push(outcome);
        Ok(())
    }

    /// The edges by pair and number, then in the order in which they came.
    fn by_pair(&self, bulk: &Bulk<'_>, ends: &[u64]) -> Vec<NumberedEdge> {
        let numbered = |(edge, ends): (usize, &u64)| {
            let ends = EdgeChange::at(*ends, None);
            NumberedEdge {
                pair: self.topology.canonical(ends.owner(), ends.neighbor()),
                number: bulk.edges.number(edge).unwrap_or_default(),
                edge,
            }
        };
        let mut numbered: Vec<_> = ends.iter().enumerate().map(numbered).collect();
        match self.pool_for(ends.len()) {
            Some(pool) => pool.install(|| numbered.par_sort_unstable()),
            None => numbered.sort_unstable(),
        }
        numbered
    }
}

/// An edge of a bulk ingest. Ordered by its fields.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct NumberedEdge {
    /// The canonical ends.
    pair: (VertexId, VertexId),
    number: u64,
    /// Its place in the bulk write.
    edge: usize,
}
