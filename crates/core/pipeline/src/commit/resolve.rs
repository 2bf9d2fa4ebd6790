//! From operations to effects: decides conditions on the newest locked state, keeps the last change
//! of each edge, and writes both stored directions.

use crate::commit::acquire::{OperationIds, for_each_incident};
use crate::commit::pairs::{DecidedPair, Pairs};
use crate::error::Error;
use crate::records::decoded;
use crate::store::Store;
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use hedgerow_encoding::encode_record;
use hedgerow_erased::ErasedView;
use hedgerow_model::{
    Adjacency, AdjacencyEffects, Cursor, Direction, EdgeChange, EdgeChanges, EdgeOutcome, EdgeValue,
    EffectRecords, Effects, GraphView, Key, LabelId, Operation, Record, RecordChange, RecordCursor,
    StoredEdge, Topology, Value, VertexChange, VertexEffect, VertexId,
};
use hedgerow_sequencer::VertexCounts;
use smallvec::SmallVec;
use std::ops::ControlFlow;

/// The decided changes of a commit.
#[derive(Debug, Default)]
pub(crate) struct Resolved {
    pub(crate) effects: Effects,
    /// The created vertices, ascending.
    pub(crate) created: SmallVec<[VertexId; 2]>,
    /// The deleted vertices, ascending.
    pub(crate) deleted: SmallVec<[VertexId; 2]>,
    /// True if the commit puts nothing. Such a commit is exempt from the memory limit, so that a
    /// full graph can be shrunk. It may take memory for rewritten blocks, but only in proportion to
    /// existing data.
    pub(crate) only_deletes: bool,
    /// The treatment of deferred counts in the result of the commit.
    pub(crate) deferred_counts: DeferredCounts,
    /// Parallel edges added and removed, where the engine only sees the pairs that they connect.
    pub(crate) parallel: Vec<EdgeOutcome>,
    /// Changes of records whose condition does not hold.
    pub(crate) conditions_failed: u64,
}

/// The treatment, in the result of a commit, of changes that the engine counts later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DeferredCounts {
    /// Within bounds.
    #[default]
    Bounded,
    /// Exactly, by looking up which edges exist: the commit deletes a single edge.
    LookedUp,
    /// Exactly: the commit only deletes vertices, whose edges were read, so that all of them exist.
    AllExist,
}

impl Resolved {
    /// The changes of a commit of one edge between existing vertices.
    pub(crate) fn edge(edge: &StoredEdge) -> Self {
        let only_deletes = edge.entries().iter().all(|(_, change)| change.value.is_none());
        let deferred_counts = if only_deletes { DeferredCounts::LookedUp } else { DeferredCounts::Bounded };
        let mut resolved = Resolved { only_deletes, deferred_counts, ..Resolved::default() };
        for (direction, change) in edge.entries() {
            push_entry(&mut resolved.effects, 1, edge.label, (*direction, *change));
        }
        for effects in &mut resolved.effects.adjacencies {
            effects.changes.sort(None);
        }
        resolved
    }

    /// The changes of the vertex counts by the commit.
    pub(crate) fn vertex_counts(&self) -> VertexCounts {
        let bound = self.created.last().map_or(0, |id| id.get() + 1);
        VertexCounts { added: self.created.len() as u64, removed: self.deleted.len() as u64, bound }
    }
}

/// A change of one canonical edge.
#[derive(Clone, Copy)]
struct EdgeWord {
    label: LabelId,
    source: VertexId,
    destination: VertexId,
    value: Option<EdgeValue>,
}

/// A canonical edge.
type EdgeId = (LabelId, VertexId, VertexId);

impl EdgeWord {
    fn id(&self) -> EdgeId {
        (self.label, self.source, self.destination)
    }
}

/// The final state of a vertex that the transaction creates, deletes or gives properties.
struct FinalVertex {
    existed: bool,
    exists: bool,
    record: Option<Record>,
    /// Changes of the vertex's edges before this position are void, because the vertex was deleted
    /// after them.
    words_from: usize,
}

/// The final state of an edge of a label with records.
#[derive(Default)]
struct EdgeRecord {
    /// The record, if the edge exists.
    record: Option<Record>,
    /// The encoded record, if it is known to differ from the record in the newest state.
    new_bytes: Option<Vec<u8>>,
}

/// The final states of edges of labels with records, by canonical edge. Most transactions change a
/// single edge, which needs no map.
#[derive(Default)]
struct EdgeRecords {
    first: Option<(EdgeId, EdgeRecord)>,
    others: HashMap<EdgeId, EdgeRecord, FixedState>,
}

impl EdgeRecords {
    fn get(&self, id: EdgeId) -> Option<&EdgeRecord> {
        let first = self.first.as_ref().filter(|(first, _)| *first == id);
        first.map(|(_, record)| record).or_else(|| self.others.get(&id))
    }

    fn insert(&mut self, id: EdgeId, record: EdgeRecord) {
        match &mut self.first {
            Some((first, _)) if *first != id => drop(self.others.insert(id, record)),
            first => *first = Some((id, record)),
        }
    }

    /// Removes an edge. No insertion may follow.
    fn remove(&mut self, id: EdgeId) -> Option<EdgeRecord> {
        let first = self.first.take_if(|(first, _)| *first == id);
        first.map(|(_, record)| record).or_else(|| self.others.remove(&id))
    }

    /// Deletes the edges of a vertex.
    fn clear_vertex(&mut self, vertex: VertexId) {
        let first = self.first.iter_mut().map(|(id, record)| (&*id, record));
        for ((_, one, other), record) in first.chain(&mut self.others) {
            if vertex == *one || vertex == *other {
                *record = EdgeRecord::default();
            }
        }
    }
}

/// Resolves operations one by one.
struct Resolver<'r> {
    store: &'r Store,
    latest: &'r ErasedView<'r>,
    /// Changes in the order of the operations; a later change of an edge overrides an earlier one.
    edges: SmallVec<[EdgeWord; 1]>,
    vertices: HashMap<VertexId, FinalVertex, FixedState>,
    /// The final states of edges of labels with records.
    records: EdgeRecords,
    /// The changes of parallel edges.
    pairs: Pairs,
    /// The sources of the edges that end at a deleted vertex, if only a scan finds them.
    incoming: HashMap<VertexId, Vec<(LabelId, VertexId)>, FixedState>,
    /// Changes of records whose condition does not hold.
    conditions_failed: u64,
}

/// Decides `operations` on the newest locked state.
pub(crate) fn resolve(
    store: &Store,
    latest: &ErasedView<'_>,
    operations: &[Operation],
    ids: &[OperationIds],
) -> Result<Resolved, Error> {
    let mut resolver = Resolver {
        store,
        latest,
        edges: SmallVec::new(),
        vertices: HashMap::with_hasher(FixedState::default()),
        records: EdgeRecords::default(),
        pairs: Pairs::default(),
        incoming: HashMap::with_hasher(FixedState::default()),
        conditions_failed: 0,
    };
    resolver.scan_for_sources(operations, ids)?;
    for (operation, ids) in operations.iter().zip(ids) {
        resolver.operation(operation, *ids)?;
    }
    let only_deletes = operations.iter().all(Operation::deletes);
    let deletes_vertex = |operation: &Operation| matches!(operation, Operation::DeleteVertex { .. });
    let deferred_counts = match operations {
        _ if operations.iter().all(deletes_vertex) => DeferredCounts::AllExist,
        [operation] if operation.deletes() => DeferredCounts::LookedUp,
        _ => DeferredCounts::Bounded,
    };
    let mut resolved = Resolved { only_deletes, deferred_counts, ..resolver.finish()? };
    store.add_keys(&mut resolved.effects);
    Ok(resolved)
}

impl Resolver<'_> {
    fn operation(&mut self, operation: &Operation, ids: OperationIds) -> Result<(), Error> {
        match operation {
            Operation::AddVertex { .. } => {
                ids.first.into_iter().try_for_each(|vertex| self.create(vertex))?;
            }
            Operation::SetProperties { properties, .. } => {
                ids.first.into_iter().try_for_each(|vertex| self.set_properties(vertex, properties))?;
            }
            Operation::DeleteVertex { .. } => {
                ids.first.into_iter().try_for_each(|vertex| self.delete_vertex(vertex))?;
            }
            Operation::PutEdge { label, source, destination, value } => {
                let (source, destination) =
                    (self.end(ids.first, source)?, self.end(ids.second, destination)?);
                self.edge(*label, source, destination, Some(*value));
            }
            Operation::ChangeRecord { label, source, destination, key, change } if change.may_create() => {
                let (source, destination) =
                    (self.end(ids.first, source)?, self.end(ids.second, destination)?);
                self.change_edge(*label, source, destination, *key, change)?;
            }
            Operation::ChangeRecord { label, key, change, .. } => match (ids.first, ids.second) {
                (Some(source), Some(destination)) => {
                    self.change_edge(*label, source, destination, *key, change)?;
                }
                _ => self.conditions_failed += u64::from(!change.holds(None)),
            },
            Operation::DeleteEdge { label, .. } => {
                if let (Some(source), Some(destination)) = (ids.first, ids.second) {
                    self.edge(*label, source, destination, None);
                }
            }
        }
        Ok(())
    }

    /// An endpoint of an edge to put, which exists from now on.
    fn end(&mut self, id: Option<VertexId>, key: &Key) -> Result<VertexId, Error> {
        match id {
            Some(vertex) if !self.store.strict || self.exists(vertex)? => {
                self.create(vertex)?;
                Ok(vertex)
            }
            _ => Err(Error::NoSuchVertex(key.clone())),
        }
    }

    fn exists(&self, vertex: VertexId) -> Result<bool, Error> {
        match self.vertices.get(&vertex) {
            Some(state) => Ok(state.exists),
            None => Ok(self.latest.contains_vertex(vertex)?),
        }
    }

    fn create(&mut self, vertex: VertexId) -> Result<(), Error> {
        if !self.exists(vertex)? {
            self.state(vertex)?.exists = true;
        }
        Ok(())
    }

    fn state(&mut self, vertex: VertexId) -> Result<&mut FinalVertex, Error> {
        Ok(match self.vertices.entry(vertex) {
            Entry::Occupied(state) => state.into_mut(),
            Entry::Vacant(vacant) => {
                let existed = self.latest.contains_vertex(vertex)?;
                vacant.insert(FinalVertex { existed, exists: existed, record: None, words_from: 0 })
            }
        })
    }

    fn set_properties(&mut self, vertex: VertexId, properties: &[(usize, Value)]) -> Result<(), Error> {
        self.create(vertex)?;
        let stored = self.latest.vertex_record(vertex)?;
        let nulls = self.store.catalog.vertices().nulls();
        let state = self.state(vertex)?;
        let before = state.record.take().or(stored).filter(|record| !record.is_empty()).unwrap_or(nulls);
        let mut values = before.values().to_vec();
        for (position, value) in properties {
            values[*position] = value.clone();
        }
        state.record = Some(Record::new(values));
        Ok(())
    }

    fn delete_vertex(&mut self, vertex: VertexId) -> Result<(), Error> {
        if !self.exists(vertex)? {
            return Ok(());
        }
        self.state(vertex)?.words_from = self.edges.len();
        let mut stored: Vec<EdgeWord> = Vec::new();
        for_each_incident(self.store, self.latest, &[vertex], |label, direction, vertex, neighbor| {
            let (source, destination) = match direction {
                Direction::Out => (vertex, neighbor),
                Direction::In => (neighbor, vertex),
            };
            stored.push(EdgeWord { label, source, destination, value: None });
        })?;
        for (label, source) in self.incoming.remove(&vertex).unwrap_or_default() {
            stored.push(EdgeWord { label, source, destination: vertex, value: None });
        }
        for edge in stored {
            self.edge(edge.label, edge.source, edge.destination, None);
        }
        self.records.clear_vertex(vertex);
        self.pairs.clear_vertex(vertex);
        let state = self.state(vertex)?;
        state.exists = false;
        state.record = Some(Record::EMPTY);
        Ok(())
    }

    /// Finds the edges that end at deleted vertices of a directed graph that keeps no reverse
    /// adjacency: one scan of all edges, O(edges), shared by all deletions of the transaction.
    fn scan_for_sources(&mut self, operations: &[Operation], ids: &[OperationIds]) -> Result<(), Error> {
        if self.store.topology != Topology::Directed {
            return Ok(());
        }
        let deletions = operations.iter().zip(ids);
        let deletions =
            deletions.filter(|(operation, _)| matches!(operation, Operation::DeleteVertex { .. }));
        self.incoming.extend(deletions.filter_map(|(_, ids)| Some((ids.first?, Vec::new()))));
        if self.incoming.is_empty() {
            return Ok(());
        }
        for label in self.store.labels() {
            let adjacency = self.latest.adjacency::<()>(label, Direction::Out)?;
            let incoming = &mut self.incoming;
            let scanned = adjacency.cursor().scan(0..self.latest.vertex_bound(), |source, run, _| {
                for neighbor in run {
                    if let Some(sources) = incoming.get_mut(neighbor) {
                        sources.push((label, source));
                    }
                }
                ControlFlow::<()>::Continue(())
            });
            scanned?.is_continue();
        }
        Ok(())
    }

    fn edge(&mut self, label: LabelId, source: VertexId, destination: VertexId, value: Option<EdgeValue>) {
        let (source, destination) = self.store.topology.canonical(source, destination);
        if self.store.catalog.are_parallel(label) {
            // Parallel edges are deleted together, and never put this way.
            return self.pairs.clear((label, source, destination));
        }
        let word = EdgeWord { label, source, destination, value };
        if value.is_none() && self.store.catalog.record_schema(label).is_some() {
            self.records.insert(word.id(), EdgeRecord::default());
        }
        self.edges.push(word);
    }

    /// Decides a change of an edge with a record: the single edge between two vertices, or the
    /// parallel edge with a key.
    fn change_edge(
        &mut self,
        label: LabelId,
        source: VertexId,
        destination: VertexId,
        key: Option<u64>,
        change: &RecordChange,
    ) -> Result<(), Error> {
        match key {
            None => self.change_record(label, source, destination, change),
            Some(key) => {
                let (source, destination) = self.store.topology.canonical(source, destination);
                let pair = (label, source, destination);
                let held = self.pairs.change((self.store, self.latest), pair, key, change)?;
                self.conditions_failed += u64::from(!held);
                Ok(())
            }
        }
    }

    /// Decides a change of an edge, given its record after all earlier operations.
    fn change_record(
        &mut self,
        label: LabelId,
        source: VertexId,
        destination: VertexId,
        change: &RecordChange,
    ) -> Result<(), Error> {
        let schema = self.store.catalog.record_schema(label).ok_or(Error::NoRecords(label))?;
        let (source, destination) = self.store.topology.canonical(source, destination);
        let id = (label, source, destination);
        let (held, decided, new_bytes) = match self.records.get(id) {
            Some(said) => {
                let current = said.record.as_ref();
                (change.holds(current), change.decide(current, schema), None)
            }
            None => {
                let mut records = self.latest.edge_records(label, Direction::Out)?;
                let stored = records.find(source, destination)?;
                let current = stored.map(decoded).transpose()?;
                let decided = change.decide(current.as_ref(), schema);
                let bytes = decided.as_ref().and_then(Option::as_ref).map(encode_record);
                // A record with a NaN is unequal to itself, though its bytes may be the same.
                let new_bytes = bytes.filter(|bytes| stored != Some(bytes));
                (change.holds(current.as_ref()), decided, new_bytes)
            }
        };
        self.conditions_failed += u64::from(!held);
        let Some(record) = decided else { return Ok(()) };
        record.as_ref().map_or(Ok(()), |record| schema.check(record))?;
        // The record is set at the end.
        let value = record.as_ref().map(|_| EdgeValue(0));
        self.edges.push(EdgeWord { label, source, destination, value });
        self.records.insert(id, EdgeRecord { record, new_bytes });
        Ok(())
    }

    /// The value of an edge of a label with records whose last change is `word`: the number of its
    /// record in the effects; `None` if nothing changes.
    fn record_value(
        &mut self,
        word: &EdgeWord,
        changed: &mut EffectRecords,
    ) -> Result<Option<Option<EdgeValue>>, Error> {
        let EdgeWord { label, source, destination, value } = *word;
        let EdgeRecord { record, new_bytes } =
            value.and_then(|_| self.records.remove(word.id())).unwrap_or_default();
        if let Some(bytes) = new_bytes {
            return Ok(Some(Some(changed.push_owned(bytes))));
        }
        let mut records = self.latest.edge_records(label, Direction::Out)?;
        let found = records.find(source, destination)?;
        let bytes = record.as_ref().map(encode_record);
        let is_same = found == bytes.as_deref();
        Ok((!is_same).then(|| bytes.map(|bytes| changed.push_owned(bytes))))
    }

    fn finish(mut self) -> Result<Resolved, Error> {
        self.void_words();
        // Stable, so that the last change of an edge stays last.
        let mut edges = std::mem::take(&mut self.edges);
        edges.sort_by_key(EdgeWord::id);
        let mut resolved = Resolved::default();
        let mut words = edges.iter().peekable();
        while let Some(edge) = words.next() {
            let overridden = words.peek().is_some_and(|next| next.id() == edge.id());
            if !overridden {
                let EdgeWord { label, source, destination, mut value } = *edge;
                if self.store.catalog.record_schema(label).is_some() {
                    match self.record_value(edge, &mut resolved.effects.records)? {
                        Some(decided) => value = decided,
                        None => continue,
                    }
                }
                let stored = StoredEdge::new(self.store.topology, label, source, destination, value);
                for (direction, change) in stored.entries() {
                    push_entry(&mut resolved.effects, edges.len(), label, (*direction, *change));
                }
            }
        }
        let pairs = std::mem::take(&mut self.pairs);
        let (pairs, outcome) = pairs.finish(self.latest, &mut resolved.effects.records)?;
        resolved.parallel = outcome;
        for DecidedPair { id: (label, source, destination), value } in pairs {
            let stored = StoredEdge::new(self.store.topology, label, source, destination, value);
            for (direction, change) in stored.entries() {
                push_entry(&mut resolved.effects, 1, label, (*direction, *change));
            }
        }
        for effects in &mut resolved.effects.adjacencies {
            effects.changes.sort(None);
        }
        resolved.effects.adjacencies.sort_unstable_by_key(|effects| (effects.label, effects.direction));
        resolved.conditions_failed = self.conditions_failed;
        self.finish_vertices(&mut resolved)?;
        debug_assert!(resolved.effects.is_sorted());
        Ok(resolved)
    }

    /// Turns earlier changes of the edges of a deleted vertex into deletions, and drops those of a
    /// vertex that the transaction itself created: its id goes back, and the log must not name it.
    fn void_words(&mut self) {
        for (position, edge) in self.edges.iter_mut().enumerate() {
            let voids = |end| self.vertices.get(&end).is_some_and(|state| position < state.words_from);
            if voids(edge.source) || voids(edge.destination) {
                edge.value = None;
            }
        }
        let never_was = |state: &FinalVertex| !state.existed && !state.exists;
        if self.vertices.values().any(never_was) {
            let has_been = |end: VertexId| !self.vertices.get(&end).is_some_and(never_was);
            self.edges.retain(|edge| has_been(edge.source) && has_been(edge.destination));
        }
    }

    fn finish_vertices(self, resolved: &mut Resolved) -> Result<(), Error> {
        for (vertex, state) in self.vertices {
            let change = match (state.existed, state.exists) {
                (true, false) => {
                    resolved.deleted.push(vertex);
                    VertexChange::Delete
                }
                (false, true) => {
                    resolved.created.push(vertex);
                    VertexChange::Put(state.record.unwrap_or_default())
                }
                (true, true) => match state.record {
                    Some(record) if !has_record(self.latest, vertex, &record)? => VertexChange::Put(record),
                    _ => continue,
                },
                (false, false) => continue,
            };
            resolved.effects.vertices.push(VertexEffect { vertex, change });
        }
        resolved.effects.vertices.sort_unstable_by_key(|effect| effect.vertex);
        resolved.created.sort_unstable();
        resolved.deleted.sort_unstable();
        Ok(())
    }
}

/// Returns true if a vertex has this record. Records with a NaN are equal if their bytes are equal.
fn has_record(view: &ErasedView<'_>, vertex: VertexId, record: &Record) -> Result<bool, Error> {
    let stored = view.vertex_record(vertex)?;
    Ok(stored.is_some_and(|stored| encode_record(&stored) == encode_record(record)))
}

/// Adds an entry of one of about `edges` edges.
fn push_entry(
    effects: &mut Effects,
    edges: usize,
    label: LabelId,
    (direction, change): (Direction, EdgeChange),
) {
    let same = |effects: &&mut AdjacencyEffects| effects.label == label && effects.direction == direction;
    match effects.adjacencies.iter_mut().find(same) {
        Some(found) => found.changes.push(change),
        None => {
            // At most two entries of an edge are in one adjacency.
            let mut changes = EdgeChanges::with_capacity(2 * edges);
            changes.push(change);
            effects.adjacencies.push(AdjacencyEffects { label, direction, changes });
        }
    }
}
