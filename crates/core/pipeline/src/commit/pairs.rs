//! The changes of parallel edges by a commit, per pair of vertices and edge key.

use crate::error::Error;
use crate::records::decoded;
use crate::store::Store;
use hedgerow_encoding::{EdgeListWriter, encode_record, list_as_record};
use hedgerow_erased::ErasedView;
use hedgerow_model::{
    Direction, EdgeOutcome, EdgeValue, EffectRecords, GraphView, LabelId, ParallelEdges, Record,
    RecordChange, RecordCursor, VertexId,
};
use std::collections::BTreeMap;

/// A canonical pair of vertices that edges of a label connect.
pub(super) type PairId = (LabelId, VertexId, VertexId);

/// The changes of all pairs that a transaction touches.
#[derive(Default)]
pub(super) struct Pairs(BTreeMap<PairId, PairChange>);

/// The changes of one pair.
#[derive(Default)]
struct PairChange {
    /// True if the edges that existed before are deleted.
    is_cleared: bool,
    /// By key: the new record of an edge, or `None` if it is deleted.
    edges: BTreeMap<u64, Option<Record>>,
}

impl PairChange {
    fn clear(&mut self) {
        self.is_cleared = true;
        self.edges.clear();
    }
}

/// A pair whose change is decided.
pub(super) struct DecidedPair {
    pub(super) id: PairId,
    /// The number of the encoded changes in the effects, if any edge is left.
    pub value: Option<EdgeValue>,
}

impl Pairs {
    /// Deletes all edges of a pair.
    pub(super) fn clear(&mut self, pair: PairId) {
        self.0.entry(pair).or_default().clear();
    }

    /// Deletes all changed edges of a vertex.
    pub(super) fn clear_vertex(&mut self, vertex: VertexId) {
        let incident = self.0.iter_mut().filter(|((_, one, other), _)| vertex == *one || vertex == *other);
        incident.for_each(|(_, pair)| pair.clear());
    }

    /// Decides a change of an edge, given its record after all earlier operations. Returns true if
    /// the condition of the change holds.
    pub(super) fn change(
        &mut self,
        (store, latest): (&Store, &ErasedView<'_>),
        id: PairId,
        key: u64,
        change: &RecordChange,
    ) -> Result<bool, Error> {
        let (label, from, to) = id;
        let schema = store.catalog.record_schema(label).ok_or(Error::NoRecords(label))?;
        let pair = self.0.entry(id).or_default();
        let current = match pair.edges.get(&key) {
            Some(said) => said.clone(),
            // The stored edges decide at the end if this is a change.
            None if pair.is_cleared || change.ignores_current(schema) => None,
            None => {
                let mut records = latest.edge_records(label, Direction::Out)?;
                let stored = records.find_parallel(from, to)?;
                let stored = stored.map_or(Ok(None), |edges| edges.find(key))?;
                stored.map(decoded).transpose()?
            }
        };
        if let Some(decided) = change.decide(current.as_ref(), schema) {
            decided.as_ref().map_or(Ok(()), |record| schema.check(record))?;
            pair.edges.insert(key, decided);
        }
        Ok(change.holds(current.as_ref()))
    }

    /// Returns the pairs whose edges change, ascending, and the numbers of edges added and removed.
    pub(super) fn finish(
        self,
        latest: &ErasedView<'_>,
        changed: &mut EffectRecords,
    ) -> Result<(Vec<DecidedPair>, Vec<EdgeOutcome>), Error> {
        let (mut decided, mut outcome) = (Vec::new(), Vec::<EdgeOutcome>::new());
        for (id, pair) in self.0 {
            let (label, from, to) = id;
            let mut records = latest.edge_records(label, Direction::Out)?;
            let found = records.find_parallel(from, to)?;
            let (added, removed, differences) = pair.differences(found)?;
            if differences.is_empty() {
                continue;
            }
            // Counting reads the whole list.
            let is_left = removed == 0 || found.map_or(Ok(0), ParallelEdges::count)? + added > removed;
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

/// A change of one parallel edge: its new record, encoded, or `None` if it is deleted.
type Difference = (u64, Option<Vec<u8>>);

fn list_of(differences: &[Difference]) -> Vec<u8> {
    let mut list = EdgeListWriter::default();
    differences.iter().for_each(|(key, record)| list.push(*key, record.as_deref()));
    list.into_bytes()
}

impl PairChange {
    /// The numbers of edges added and removed, and the changes of the existing ones.
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
