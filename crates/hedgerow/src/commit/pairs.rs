//! What a commit does to parallel edges: per pair of vertices, what becomes of the edge of each key.

use crate::error::Reason;
use crate::records::{Difference, PairId, ParallelEdges, RecordChanges};
use crate::storage::Store;
use hedgerow_encoding::encode_record;
use hedgerow_model::{EdgeOutcome, EdgeValue, Engine, GraphView, Record, RecordChange, VertexId};
use std::collections::BTreeMap;

/// What becomes of the edges of all pairs that a transaction changes.
#[derive(Default)]
pub(super) struct Pairs(BTreeMap<PairId, PairChange>);

/// What becomes of the edges of one pair.
#[derive(Default)]
struct PairChange {
    /// Those that were there before are no more.
    is_cleared: bool,
    /// By key, edges from now on, and those that are no more.
    edges: BTreeMap<u64, Option<Record>>,
}

impl PairChange {
    fn clear(&mut self) {
        self.is_cleared = true;
        self.edges.clear();
    }
}

/// What becomes of a pair, decided.
pub(super) struct DecidedPair {
    pub(super) id: PairId,
    /// What stands for its edges from now on, if there are any.
    pub(super) value: Option<EdgeValue>,
}

impl Pairs {
    /// All edges of a pair are no more.
    pub(super) fn clear(&mut self, pair: PairId) {
        self.0.entry(pair).or_default().clear();
    }

    /// All edges of a vertex that were changed are no more.
    pub(super) fn clear_vertex(&mut self, vertex: VertexId) {
        let incident = self.0.iter_mut().filter(|((_, one, other), _)| vertex == *one || vertex == *other);
        incident.for_each(|(_, pair)| pair.clear());
    }

    /// Decides a change on the record that the edge of a key has after all that was said of it before.
    pub(super) fn change<E: Engine, V: GraphView>(
        &mut self,
        (store, latest): (&Store<E>, &V),
        id: PairId,
        key: u64,
        change: &RecordChange,
    ) -> Result<(), Reason> {
        let (label, from, to) = id;
        let schema = store.records.schema(label).ok_or(Reason::NoRecords(label))?;
        let pair = self.0.entry(id).or_default();
        let current = match pair.edges.get(&key) {
            Some(said) => said.clone(),
            None if pair.is_cleared => None,
            None => {
                let stored = store.records.find_parallel(latest, label, from, to)?;
                let stored = stored.map_or(Ok(None), |edges| edges.find(key))?;
                stored.map(crate::records::decoded).transpose()?
            }
        };
        if let Some(decided) = change.decide(current.as_ref(), schema) {
            decided.as_ref().map_or(Ok(()), |record| schema.check(record))?;
            pair.edges.insert(key, decided);
        }
        Ok(())
    }

    /// The pairs whose edges change, ascending, and how many edges come and go.
    pub(super) fn finish<E: Engine, V: GraphView>(
        self,
        (store, latest): (&Store<E>, &V),
        changes: &mut RecordChanges,
    ) -> Result<(Vec<DecidedPair>, Vec<EdgeOutcome>), Reason> {
        let (mut decided, mut outcome) = (Vec::new(), Vec::<EdgeOutcome>::new());
        for (id, pair) in self.0 {
            let (label, from, to) = id;
            let found = store.records.find_parallel(latest, label, from, to)?;
            let (added, removed, differences) = pair.differences(found)?;
            if differences.is_empty() {
                continue;
            }
            let value = changes.change_parallel(id, found, &differences)?;
            value.into_iter().for_each(|value| changes.log_parallel(value, &differences));
            decided.push(DecidedPair { id, value });
            match outcome.last_mut().filter(|last| last.label == label) {
                Some(last) => (last.added, last.removed) = (last.added + added, last.removed + removed),
                None => outcome.push(EdgeOutcome { label, added, removed }),
            }
        }
        Ok((decided, outcome))
    }
}

impl PairChange {
    /// How many edges come and go, and what changes of those that were found.
    fn differences(self, found: Option<ParallelEdges<'_>>) -> Result<(u64, u64, Vec<Difference>), Reason> {
        let mut differences = BTreeMap::new();
        let (mut added, mut removed) = (0, 0);
        if let (true, Some(found)) = (self.is_cleared, found) {
            for edge in found.edges(0..=u64::MAX) {
                differences.insert(edge?.0, None);
                removed += 1;
            }
        }
        for (key, record) in self.edges {
            let stored = found.map_or(Ok(None), |edges| edges.find(key))?;
            let record = record.as_ref().map(encode_record);
            if differences.remove(&key).is_some() {
                removed -= 1;
            }
            added += u64::from(stored.is_none() && record.is_some());
            removed += u64::from(stored.is_some() && record.is_none());
            if stored != record.as_deref() {
                differences.insert(key, record);
            }
        }
        Ok((added, removed, differences.into_iter().collect()))
    }
}
