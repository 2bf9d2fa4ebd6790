//! The staged operations of a transaction, and its reads on top of a state of the graph.

use crate::label::Hop;
use crate::reads::EdgeOfVertex;
use crate::write_graph::RecordUpdate;
use hedgerow_model::{
    Direction, EdgeValue, GrowingCatalog, Key, KeyRef, LabelId, Operation, Record, RecordChange,
    RecordSchema, Topology, Value,
};
use hedgerow_pipeline::{Error as Cause, StateReads, decoded};
use hedgerow_sync::Arc;
use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;

/// Staged operations, in order, with an index of their outcome for the transaction's own reads. A
/// transaction that never reads builds no index.
#[derive(Debug)]
pub(crate) struct Staged {
    operations: Vec<Operation>,
    /// The number of operations in the index.
    indexed: usize,
    topology: Topology,
    /// The last put or deletion of each edge, by canonical keys.
    edges: HashMap<EdgeKey, Option<EdgeValue>>,
    /// Changes of edges with records, by canonical keys. They follow the deletion in `edges`, if
    /// there is one.
    records: HashMap<EdgeKey, StagedRecord>,
    /// Changes of parallel edges, by the canonical keys of the ends, then by their own keys.
    parallel: HashMap<EdgeKey, BTreeMap<u64, StagedRecord>>,
    catalog: Arc<GrowingCatalog>,
    vertices: HashMap<Key, StagedVertex>,
}

/// The canonical keys of the ends of an edge.
type EdgeKey = (LabelId, Key, Key);

/// The staged changes to an edge with a record.
#[derive(Clone, Debug, Default)]
struct StagedRecord {
    /// The record, or `None` if the edge does not exist, after the changes that were decided when
    /// they were staged.
    decided: Option<Option<Record>>,
    /// Later changes, in order.
    changes: Vec<RecordChange>,
}

impl StagedRecord {
    /// Applies all changes to the `stored` record.
    fn record(&self, stored: Option<Record>, schema: &RecordSchema) -> Option<Record> {
        let before = self.decided.clone().unwrap_or(stored);
        self.changes
            .iter()
            .fold(before, |record, change| change.decide(record.as_ref(), schema).unwrap_or(record))
    }
}

/// The effect of an update on the edge as the transaction sees it.
pub(crate) struct Decided {
    /// True if the condition holds.
    pub(crate) held: bool,
    /// True if the update changes the edge.
    pub(crate) changed: bool,
    /// The record after the update, if the edge exists.
    record: Option<Record>,
}

/// The staged changes to a vertex.
#[derive(Clone, Debug, Default)]
struct StagedVertex {
    exists: bool,
    /// True if the stored edges and record are gone, even if the vertex exists again.
    cleared: bool,
    properties: Vec<(usize, Value)>,
}

impl Staged {
    pub(crate) fn new(topology: Topology, catalog: Arc<GrowingCatalog>) -> Self {
        let (operations, indexed, edges, records, parallel, vertices) = Default::default();
        Staged { operations, indexed, topology, edges, records, parallel, catalog, vertices }
    }

    /// Returns the operations, in the order in which they were staged.
    pub(crate) fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// Gives up the index and returns the operations.
    pub(crate) fn into_operations(self) -> Vec<Operation> {
        self.operations
    }

    /// Stages a checked operation. Reads see it after the next [look](Staged::look).
    pub(crate) fn push(&mut self, operation: Operation) {
        self.operations.push(operation);
    }

    /// Stages an update that was [decided](Staged::decide), so that later reads do not decide it
    /// again.
    pub(crate) fn push_decided(&mut self, update: RecordUpdate, decided: Decided) {
        let edge = self.edge_key(update.label, update.source.as_ref(), update.destination.as_ref());
        let key = update.key;
        self.push(update.into());
        self.look();
        let record = StagedRecord { decided: Some(decided.record), changes: Vec::new() };
        match key {
            None => drop(self.records.insert(edge, record)),
            Some(key) => drop(self.parallel.entry(edge).or_default().insert(key, record)),
        }
    }

    /// Lets reads see all operations staged so far. O(operations staged since the last look).
    pub(crate) fn look(&mut self) {
        let operations = std::mem::take(&mut self.operations);
        operations[self.indexed..].iter().for_each(|operation| self.index(operation));
        self.indexed = operations.len();
        self.operations = operations;
    }

    fn index(&mut self, operation: &Operation) {
        match operation {
            Operation::AddVertex { key } => self.vertex(key).exists = true,
            Operation::DeleteVertex { key } => self.delete_vertex(key),
            Operation::SetProperties { key, properties } => {
                let vertex = self.vertex(key);
                vertex.exists = true;
                vertex.properties.extend_from_slice(properties);
            }
            Operation::PutEdge { label, source, destination, value } => {
                self.vertex(source).exists = true;
                self.vertex(destination).exists = true;
                let edge = self.edge_key(*label, source.as_ref(), destination.as_ref());
                self.edges.insert(edge, Some(*value));
            }
            Operation::DeleteEdge { label, source, destination } => {
                let edge = self.edge_key(*label, source.as_ref(), destination.as_ref());
                self.records.remove(&edge);
                self.parallel.remove(&edge);
                self.edges.insert(edge, None);
            }
            Operation::ChangeRecord { label, source, destination, key, change } => {
                if change.may_create() {
                    self.vertex(source).exists = true;
                    self.vertex(destination).exists = true;
                }
                let edge = self.edge_key(*label, source.as_ref(), destination.as_ref());
                match key {
                    None => self.records.entry(edge).or_default().changes.push(change.clone()),
                    Some(key) => {
                        let edges = self.parallel.entry(edge).or_default();
                        edges.entry(*key).or_default().changes.push(change.clone());
                    }
                }
            }
        }
    }

    fn vertex(&mut self, key: &Key) -> &mut StagedVertex {
        self.vertices.entry(key.clone()).or_default()
    }

    fn delete_vertex(&mut self, key: &Key) {
        self.edges.retain(|(_, source, destination), _| source != key && destination != key);
        self.records.retain(|(_, source, destination), _| source != key && destination != key);
        self.parallel.retain(|(_, source, destination), _| source != key && destination != key);
        *self.vertex(key) = StagedVertex { exists: false, cleared: true, properties: Vec::new() };
    }

    fn edge_key(&self, label: LabelId, source: KeyRef<'_>, destination: KeyRef<'_>) -> EdgeKey {
        let swap = self.topology.is_undirected() && destination < source;
        let (source, destination) = if swap { (destination, source) } else { (source, destination) };
        (label, source.to_key(), destination.to_key())
    }

    fn is_cleared(&self, key: &Key) -> bool {
        self.vertices.get(key).is_some_and(|vertex| vertex.cleared)
    }

    /// Returns true if a vertex exists, with all staged operations.
    pub(crate) fn contains_vertex(&self, state: &dyn StateReads, key: KeyRef<'_>) -> Result<bool, Cause> {
        match self.vertices.get(&key.to_key()) {
            Some(vertex) => Ok(vertex.exists),
            None => Ok(state.vertex(key)?.is_some()),
        }
    }

    /// Returns the value of an edge, with all staged operations.
    pub(crate) fn edge(
        &self,
        state: &dyn StateReads,
        label: LabelId,
        source: KeyRef<'_>,
        destination: KeyRef<'_>,
    ) -> Result<Option<EdgeValue>, Cause> {
        if self.are_parallel(label) {
            let edges = self.parallel_edges(state, label, source, destination, 0..=u64::MAX)?;
            return Ok((!edges.is_empty()).then(EdgeValue::default));
        }
        if self.has_records(label) {
            let record = self.edge_record(state, label, source, destination)?;
            return Ok(record.map(|_| EdgeValue::default()));
        }
        let edge = self.edge_key(label, source, destination);
        if let Some(value) = self.edges.get(&edge) {
            return Ok(*value);
        }
        if self.is_cleared(&edge.1) || self.is_cleared(&edge.2) {
            return Ok(None);
        }
        edge_by_key(state, label, source, destination)
    }

    fn are_parallel(&self, label: LabelId) -> bool {
        self.catalog.label(label).is_some_and(|label| label.edges.key().is_some())
    }

    fn has_records(&self, label: LabelId) -> bool {
        self.catalog.label(label).is_some_and(|label| label.edges.record().is_some())
    }

    /// Returns the record of an edge, with all staged operations; `None` if the edge does not
    /// exist.
    pub(crate) fn edge_record(
        &self,
        state: &dyn StateReads,
        label: LabelId,
        source: KeyRef<'_>,
        destination: KeyRef<'_>,
    ) -> Result<Option<Record>, Cause> {
        let edge = self.edge_key(label, source, destination);
        let staged = self.records.get(&edge);
        let is_gone = self.edges.contains_key(&edge) || self.is_cleared(&edge.1) || self.is_cleared(&edge.2);
        let stored = match is_gone || staged.is_some_and(|staged| staged.decided.is_some()) {
            true => None,
            false => match (state.owner(source)?, state.owner(destination)?) {
                (Some(source), Some(destination)) => state.edge_record(label, source, destination)?,
                _ => None,
            },
        };
        let schema = self.catalog.label(label).and_then(|label| label.edges.record());
        Ok(match staged.zip(schema) {
            Some((staged, schema)) => staged.record(stored, schema),
            None => stored,
        })
    }

    /// Decides an update of an edge, or of the parallel edge with `key`, with all staged
    /// operations.
    pub(crate) fn decide(
        &self,
        state: &dyn StateReads,
        (label, source, destination): (LabelId, KeyRef<'_>, KeyRef<'_>),
        key: Option<u64>,
        change: &RecordChange,
    ) -> Result<Decided, Cause> {
        let current = match key {
            None => self.edge_record(state, label, source, destination)?,
            Some(key) => {
                let edges = self.parallel_edges(state, label, source, destination, key..=key)?;
                edges.into_iter().next().map(|(_, record)| record)
            }
        };
        let schema = self.catalog.label(label).and_then(|label| label.edges.record());
        let schema = schema.ok_or(Cause::NoRecords(label))?;
        let held = change.holds(current.as_ref());
        Ok(match change.decide(current.as_ref(), schema) {
            Some(record) => {
                record.as_ref().map_or(Ok(()), |record| schema.check(record))?;
                Decided { held, changed: true, record }
            }
            None => Decided { held, changed: false, record: current },
        })
    }

    /// Returns the neighbors of a vertex over a label with records, with their records, in the
    /// order of [`Staged::neighbors`].
    pub(crate) fn neighbor_records(
        &self,
        state: &dyn StateReads,
        hop: Hop,
        key: KeyRef<'_>,
    ) -> Result<Vec<(Key, Record)>, Cause> {
        if self.are_parallel(hop.label) {
            let edges = self.parallel_neighbors(state, hop, key, 0..=u64::MAX)?;
            return Ok(edges.into_iter().map(|edge| (edge.neighbor, edge.record)).collect());
        }
        let owner = key.to_key();
        let touched = self.edges.keys().chain(self.records.keys());
        let mut staged = HashMap::new();
        for (neighbor, (source, destination)) in self.seen_from(touched, hop, &owner) {
            let record = self.edge_record(state, hop.label, source.as_ref(), destination.as_ref())?;
            staged.insert(neighbor.clone(), record);
        }
        let (mut neighbors, mut failed) = (Vec::new(), None);
        if !self.is_cleared(&owner)
            && let Some(vertex) = state.owner(key)?
        {
            state.neighbor_records(hop.label, hop.direction, vertex, &mut |neighbor, stored| {
                let neighbor = state.key(neighbor);
                match staged.remove(&neighbor) {
                    Some(record) => neighbors.extend(record.map(|record| (neighbor, record))),
                    None if self.is_cleared(&neighbor) => {}
                    None => match decoded(stored) {
                        Ok(record) => neighbors.push((neighbor, record)),
                        Err(error) => failed = Some(error),
                    },
                }
            })?;
        }
        neighbors.extend(new_ones(staged));
        failed.map_or(Ok(neighbors), Err)
    }

    /// Returns the parallel edges between two vertices with keys in a range, with all staged
    /// operations, ascending.
    pub(crate) fn parallel_edges(
        &self,
        state: &dyn StateReads,
        label: LabelId,
        source: KeyRef<'_>,
        destination: KeyRef<'_>,
        keys: RangeInclusive<u64>,
    ) -> Result<Vec<(u64, Record)>, Cause> {
        let edge = self.edge_key(label, source, destination);
        let mut edges = BTreeMap::new();
        let is_gone = self.edges.contains_key(&edge) || self.is_cleared(&edge.1) || self.is_cleared(&edge.2);
        if let (false, Some(from), Some(to)) = (is_gone, state.owner(source)?, state.owner(destination)?) {
            state.parallel_edges(label, from, to, keys.clone(), &mut |key, record| {
                edges.insert(key, decoded(record)?);
                Ok(())
            })?;
        }
        let schema = self.catalog.label(label).and_then(|label| label.edges.record());
        let staged = self.parallel.get(&edge).into_iter().filter(|_| !keys.is_empty());
        let staged = staged.flat_map(|edges| edges.range(keys.clone()));
        for ((key, staged), schema) in staged.zip(schema.into_iter().cycle()) {
            if let Some(record) = staged.record(edges.remove(key), schema) {
                edges.insert(*key, record);
            }
        }
        Ok(edges.into_iter().collect())
    }

    /// Returns the parallel edges of a vertex with keys in a range, in the order of
    /// [`Staged::neighbors`].
    pub(crate) fn parallel_neighbors(
        &self,
        state: &dyn StateReads,
        hop: Hop,
        key: KeyRef<'_>,
        keys: RangeInclusive<u64>,
    ) -> Result<Vec<EdgeOfVertex>, Cause> {
        let owner = key.to_key();
        let touched = self.edges.keys().chain(self.parallel.keys());
        let mut staged = HashMap::new();
        for (neighbor, (source, destination)) in self.seen_from(touched, hop, &owner) {
            let (source, destination) = (source.as_ref(), destination.as_ref());
            let edges = self.parallel_edges(state, hop.label, source, destination, keys.clone())?;
            staged.insert(neighbor.clone(), Some(edges));
        }
        let mut neighbors: Vec<(Key, Vec<(u64, Record)>)> = Vec::new();
        if !self.is_cleared(&owner)
            && let Some(vertex) = state.owner(key)?
        {
            state.parallel_neighbors(
                hop.label,
                hop.direction,
                vertex,
                keys,
                &mut |neighbor, key, record| {
                    let neighbor = state.key(neighbor);
                    if let Some(edges) = staged.get_mut(&neighbor) {
                        neighbors.extend(edges.take().map(|edges| (neighbor, edges)));
                    } else if !self.is_cleared(&neighbor) {
                        neighbors.push((neighbor, vec![(key, decoded(record)?)]));
                    }
                    Ok(())
                },
            )?;
        }
        neighbors.extend(new_ones(staged));
        let edges = neighbors.into_iter().flat_map(|(neighbor, edges)| {
            let edge =
                move |(number, record)| EdgeOfVertex { number, record, ..EdgeOfVertex::to(neighbor.clone()) };
            edges.into_iter().map(edge)
        });
        Ok(edges.collect())
    }

    /// Selects the edges of a label that are seen from `owner` in a direction: returns the other
    /// end, and both ends.
    fn seen_from<'e>(
        &self,
        edges: impl Iterator<Item = &'e EdgeKey>,
        hop: Hop,
        owner: &Key,
    ) -> impl Iterator<Item = (&'e Key, (&'e Key, &'e Key))> {
        let Hop { label, direction } = hop;
        let outgoing = direction == Direction::Out || self.topology.is_undirected();
        let incoming = direction == Direction::In || self.topology.is_undirected();
        edges.filter(move |(of, _, _)| *of == label).filter_map(move |(_, source, destination)| match () {
            () if outgoing && source == owner => Some((destination, (source, destination))),
            () if incoming && destination == owner => Some((source, (source, destination))),
            () => None,
        })
    }

    /// Returns the neighbors of a vertex, with all staged operations: the stored ones first, then
    /// the new ones.
    pub(crate) fn neighbors(
        &self,
        state: &dyn StateReads,
        hop: Hop,
        key: KeyRef<'_>,
    ) -> Result<Vec<(Key, EdgeValue)>, Cause> {
        if self.are_parallel(hop.label) {
            let edges = self.parallel_neighbors(state, hop, key, 0..=u64::MAX)?;
            let mut neighbors: Vec<_> =
                edges.into_iter().map(|edge| (edge.neighbor, EdgeValue::default())).collect();
            neighbors.dedup();
            return Ok(neighbors);
        }
        if self.has_records(hop.label) {
            let records = self.neighbor_records(state, hop, key)?;
            return Ok(records.into_iter().map(|(neighbor, _)| (neighbor, EdgeValue::default())).collect());
        }
        let owner = key.to_key();
        let mut staged = self.staged_neighbors(hop, &owner);
        let mut neighbors = Vec::new();
        if !self.is_cleared(&owner)
            && let Some(vertex) = state.owner(key)?
        {
            state.neighbors(hop.label, hop.direction, vertex, &mut |neighbor, stored| {
                let neighbor = state.key(neighbor);
                match staged.remove(&neighbor) {
                    Some(value) => neighbors.extend(value.map(|value| (neighbor, value))),
                    None if self.is_cleared(&neighbor) => {}
                    None => neighbors.push((neighbor, stored)),
                }
            })?;
        }
        neighbors.extend(new_ones(staged));
        Ok(neighbors)
    }

    /// Returns the staged values and deletions of the edges of one vertex.
    fn staged_neighbors(&self, hop: Hop, owner: &Key) -> HashMap<Key, Option<EdgeValue>> {
        let neighbors = self.seen_from(self.edges.keys(), hop, owner);
        let neighbors = neighbors.map(|(neighbor, (source, destination))| {
            let value = self.edges.get(&(hop.label, source.clone(), destination.clone()));
            (neighbor.clone(), value.copied().flatten())
        });
        neighbors.collect()
    }

    /// Returns the record of a vertex, with all staged operations; `None` if it does not exist.
    pub(crate) fn record(
        &self,
        state: &dyn StateReads,
        schema: &RecordSchema,
        key: KeyRef<'_>,
    ) -> Result<Option<Record>, Cause> {
        let owned = key.to_key();
        let staged = self.vertices.get(&owned).cloned();
        let stored = if self.is_cleared(&owned) { None } else { state.owner(key)? };
        let stored = stored.map_or(Ok(None), |vertex| state.record(vertex))?;
        if !staged.as_ref().map_or(stored.is_some(), |vertex| vertex.exists) {
            return Ok(None);
        }
        let record = stored.filter(|record| !record.is_empty()).unwrap_or_else(|| schema.nulls());
        let mut values = record.values().to_vec();
        for (position, value) in staged.into_iter().flat_map(|vertex| vertex.properties) {
            values[position] = value;
        }
        Ok(Some(Record::new(values)))
    }
}

/// Returns the staged neighbors that are not stored, ascending by key.
fn new_ones<V>(staged: HashMap<Key, Option<V>>) -> Vec<(Key, V)> {
    let mut new: Vec<_> =
        staged.into_iter().filter_map(|(neighbor, value)| Some((neighbor, value?))).collect();
    new.sort_by(|one, other| one.0.cmp(&other.0));
    new
}

/// Returns the value of an edge between two keys.
fn edge_by_key(
    state: &dyn StateReads,
    label: LabelId,
    source: KeyRef<'_>,
    destination: KeyRef<'_>,
) -> Result<Option<EdgeValue>, Cause> {
    match (state.owner(source)?, state.owner(destination)?) {
        (Some(source), Some(destination)) => state.edge(label, source, destination),
        _ => Ok(None),
    }
}
