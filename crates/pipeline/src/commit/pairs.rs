//! What a commit does to parallel edges: per pair of vertices, what becomes of the edge of each key.

use crate::error::{Error, read_failed};
use crate::records::decoded;
use crate::store::Store;
use hedgerow_encoding::{EdgeListWriter, encode_record, list_as_record};
use hedgerow_model::{
    Direction, EdgeOutcome, EdgeValue, EffectRecords, Engine, LabelId, ParallelEdges, Record, RecordChange,
    RecordCursor, RecordView, VertexId,
};
use std::collections::BTreeMap;

/// A pair of vertices that edges of a label connect, canonical.
pub(super) type PairId = (LabelId, VertexId, VertexId);

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
    /// The number of the record of what changes, if any edge is left.
    pub value: Option<EdgeValue>,
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
    pub(super) fn change<E: Engine, V: RecordView>(
        &mut self,
        (store, latest): (&Store<E>, &V),
        id: PairId,
        key: u64,
        change: &RecordChange,
    ) -> Result<(), Error> {
        let (label, from, to) = id;
        let schema = store.catalog.record_schema(label).ok_or(Error::NoRecords(label))?;
        let pair = self.0.entry(id).or_default();
        let current = match pair.edges.get(&key) {
            Some(said) => said.clone(),
            None if pair.is_cleared => None,
            None => {
                let mut records = latest.edge_records(label, Direction::Out)?;
                let stored = records.find_parallel(from, to).map_err(read_failed)?;
                let stored = stored.map_or(Ok(None), |edges| edges.find(key))?;
                stored.map(decoded).transpose()?
            }
        };
        if let Some(decided) = change.decide(current.as_ref(), schema) {
            decided.as_ref().map_or(Ok(()), |record| schema.check(record))?;
            pair.edges.insert(key, decided);
        }
        Ok(())
    }

    /// The pairs whose edges change, ascending, and how many edges come and go.
    pub(super) fn finish<V: RecordView>(
        self,
        latest: &V,
        changed: &mut EffectRecords,
    ) -> Result<(Vec<DecidedPair>, Vec<EdgeOutcome>), Error> {
        let (mut decided, mut outcome) = (Vec::new(), Vec::<EdgeOutcome>::new());
        for (id, pair) in self.0 {
            let (label, from, to) = id;
            let mut records = latest.edge_records(label, Direction::Out)?;
            let found = records.find_parallel(from, to).map_err(read_failed)?;
            let before = found.map_or(Ok(0), ParallelEdges::count)?;
            let (added, removed, differences) = pair.differences(found)?;
            if differences.is_empty() {
                continue;
            }
            let is_left = before + added > removed;
            let value = is_left.then(|| changed.push(&list_as_record(&list_of(&differences))));
            decided.push(DecidedPair { id, value });
            match outcome.last_mut().filter(|last| last.label == label) {
                Some(last) => (last.added, last.removed) = (last.added + added, last.removed + removed),
                None => outcome.push(EdgeOutcome { label, added, removed }),
            }
        }
        Ok((decided, outcome))
    }
}

/// A change of one of parallel edges: its record from now on, encoded, or that it is no more.
type Difference = (u64, Option<Vec<u8>>);

fn list_of(differences: &[Difference]) -> Vec<u8> {
    let mut list = EdgeListWriter::default();
    differences.iter().for_each(|(key, record)| list.push(*key, record.as_deref()));
    list.into_bytes()
}

impl PairChange {
    /// How many edges come and go, and what changes of those that were found.
    fn differences<'c>(
        self,
        found: Option<impl ParallelEdges<'c>>,
    ) -> Result<(u64, u64, Vec<Difference>), Error> {
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
