//! The writes of a transaction by vertex id, as its own reads see them.

use super::records::OverlayRecords;
use crate::error::Error;
use crate::records::decoded;
use crate::store::Store;
use hedgerow_encoding::encode_record;
use hedgerow_erased::ErasedView;
use hedgerow_model::{
    Count, Direction, EdgeValue, GraphView, Key, KeyRef, LabelId, Operation, ParallelEdges, Record,
    RecordChange, RecordCursor, Topology, VertexId,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The staged writes of a transaction over a state of the graph.
///
/// Records are decided when they are staged: the state below never changes.
#[derive(Clone, Debug)]
pub struct StagedChanges {
    topology: Topology,
    new_ids: NewIds,
    vertices: BTreeMap<VertexId, StagedVertex>,
    /// True if the stored edges of some vertex are gone.
    any_cleared: bool,
    labels: BTreeMap<LabelId, LabelChanges>,
}

/// The ids of keys without a vertex in the state below.
#[derive(Clone, Debug)]
enum NewIds {
    /// Ids that only this transaction uses, from a bound above all ids of the state on.
    OfTransaction { first: u32, keys: Vec<Key>, ids: HashMap<Key, VertexId> },
    /// The ids that the dictionary has assigned: the keys are locked.
    OfDictionary,
}

/// The staged changes of a vertex.
#[derive(Clone, Debug)]
struct StagedVertex {
    exists: bool,
    /// True if the vertex exists in the state below.
    is_stored: bool,
    /// True if the stored edges and record are gone, even if the vertex exists again.
    is_cleared: bool,
    /// The record, if it differs from the stored one.
    record: Option<Record>,
}

/// The staged edges of a label.
#[derive(Clone, Debug, Default)]
struct LabelChanges {
    /// By canonical ends.
    edges: BTreeMap<(VertexId, VertexId), StagedEdge>,
    /// Owner and neighbor of each entry, by stored direction.
    entries: [BTreeSet<(VertexId, VertexId)>; 2],
}

/// The last change of an edge, or of the edges between two vertices.
#[derive(Clone, Debug)]
pub(super) enum StagedEdge {
    /// An edge with a value, or nothing; `None` if it is deleted.
    Value(Option<EdgeValue>),
    /// An edge with an encoded record; `None` if it is deleted.
    Record(Option<Box<[u8]>>),
    /// Parallel edges.
    Parallel(StagedParallel),
}

/// The staged changes of the parallel edges between two vertices.
#[derive(Clone, Debug)]
pub(super) struct StagedParallel {
    /// True if the stored edges are gone.
    pub(super) is_cleared: bool,
    /// By key: the encoded record of an edge, or `None` if it is deleted.
    pub(super) edges: BTreeMap<u64, Option<Box<[u8]>>>,
    /// Number of edges with these changes.
    pub(super) count: u64,
}

impl StagedEdge {
    /// The value of the edge, or of the pair of vertices; `None` if there is no edge.
    #[inline]
    pub(super) fn value(&self) -> Option<EdgeValue> {
        match self {
            StagedEdge::Value(value) => *value,
            StagedEdge::Record(record) => record.as_ref().map(|_| EdgeValue::default()),
            StagedEdge::Parallel(edges) => (edges.count > 0).then(EdgeValue::default),
        }
    }
}

/// The outcome of an operation on the state that the transaction sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StagedUpdate {
    /// True if the condition of the operation holds, or it has none.
    pub held: bool,
    /// True if an edge with a record changes; also true for operations on anything else.
    pub changed: bool,
}

impl StagedChanges {
    /// No changes of the state of a registered timestamp, whose ids are below `bound`.
    #[must_use]
    pub fn of_snapshot(topology: Topology, bound: u32) -> Self {
        let new_ids = NewIds::OfTransaction { first: bound, keys: Vec::new(), ids: HashMap::new() };
        Self::with(topology, new_ids)
    }

    /// No changes of the newest state of vertices whose keys have ids and are locked.
    #[must_use]
    pub fn of_locked(topology: Topology) -> Self {
        Self::with(topology, NewIds::OfDictionary)
    }

    fn with(topology: Topology, new_ids: NewIds) -> Self {
        let (vertices, labels) = Default::default();
        StagedChanges { topology, new_ids, vertices, any_cleared: false, labels }
    }

    // --- keys -----------------------------------------------------------------------------------

    /// The vertex of a key in the state `view`, or with these changes over it: the only id that may
    /// have edges or a record. It may not exist.
    pub(crate) fn vertex_of(
        &self,
        store: &Store,
        view: &impl GraphView,
        key: KeyRef<'_>,
    ) -> Result<Option<VertexId>, Error> {
        let dictionary = &store.dictionary;
        match &self.new_ids {
            NewIds::OfDictionary => Ok(dictionary.current(key)?),
            _ if dictionary.is_dense() => Ok(Some(dictionary.dense(key)?)),
            NewIds::OfTransaction { first, ids, .. } => {
                if !ids.is_empty()
                    && let Some(id) = ids.get(&key.to_key())
                {
                    return Ok(Some(*id));
                }
                // An id from `first` on belongs to a later commit, or to this transaction.
                let is_known = |vertex: VertexId| Ok(vertex.get() < *first && view.contains_vertex(vertex)?);
                dictionary.find(key, is_known)
            }
        }
    }

    /// The key of a vertex that the transaction made.
    #[must_use]
    pub fn key_of_new(&self, vertex: VertexId) -> Option<&Key> {
        match &self.new_ids {
            NewIds::OfTransaction { first, keys, .. } => keys.get(vertex.get().checked_sub(*first)? as usize),
            NewIds::OfDictionary => None,
        }
    }

    /// The vertex of a key, with a new id if it has none.
    fn vertex_or_new(
        &mut self,
        store: &Store,
        view: &ErasedView<'_>,
        key: KeyRef<'_>,
    ) -> Result<VertexId, Error> {
        let known = self.vertex_of(store, view, key)?;
        match (known, &mut self.new_ids) {
            (Some(vertex), _) => Ok(vertex),
            (None, NewIds::OfTransaction { first, keys, ids }) => {
                let vertex = VertexId::try_from(u64::from(*first) + keys.len() as u64)?;
                keys.push(key.to_key());
                ids.insert(key.to_key(), vertex);
                Ok(vertex)
            }
            (None, NewIds::OfDictionary) => Err(Error::NoSuchVertex(key.to_key())),
        }
    }

    // --- what reads see -------------------------------------------------------------------------

    /// Above all ids of vertices that these changes touch.
    pub(super) fn vertex_bound(&self) -> u32 {
        self.vertices.last_key_value().map_or(0, |(last, _)| last.get() + 1)
    }

    /// Number of vertices added less vertices removed. O(vertices changed).
    pub(super) fn vertices_added(&self) -> i64 {
        self.vertices.values().map(|vertex| i64::from(vertex.exists) - i64::from(vertex.is_stored)).sum()
    }

    /// The existence of a vertex, if these changes decide it.
    pub(super) fn existence(&self, vertex: VertexId) -> Option<bool> {
        self.vertices.get(&vertex).map(|staged| staged.exists)
    }

    /// The vertices in a range that exist only with these changes, ascending.
    pub(super) fn new_vertices(&self, range: std::ops::Range<u32>) -> impl Iterator<Item = VertexId> {
        let first = VertexId::try_from(u64::from(range.start)).ok();
        let staged = first.into_iter().flat_map(|first| self.vertices.range(first..));
        let staged = staged.take_while(move |(vertex, _)| vertex.get() < range.end);
        staged.filter(|(_, staged)| staged.exists && !staged.is_stored).map(|(vertex, _)| *vertex)
    }

    /// The record of a vertex, if these changes replace it.
    pub(super) fn record(&self, vertex: VertexId) -> Option<Option<&Record>> {
        let staged = self.vertices.get(&vertex)?;
        match (&staged.record, staged.exists) {
            (_, false) => Some(None),
            (Some(record), true) => Some(Some(record)),
            (None, true) if staged.is_cleared || !staged.is_stored => Some(Some(&Record::EMPTY)),
            (None, true) => None,
        }
    }

    /// Returns true if the stored edges of some vertex are gone.
    #[inline]
    pub(super) fn any_cleared(&self) -> bool {
        self.any_cleared
    }

    /// Returns true if the stored edges of a vertex are gone.
    #[inline]
    pub(super) fn is_cleared(&self, vertex: VertexId) -> bool {
        self.any_cleared && self.vertices.get(&vertex).is_some_and(|staged| staged.is_cleared)
    }

    /// Bounds on the edges of a label, of which the state below has `stored`. O(edges changed).
    pub(super) fn edge_count(&self, label: LabelId, stored: Count) -> Count {
        let edges = self.labels.get(&label).into_iter().flat_map(|changes| changes.edges.values());
        let (put, deleted) = edges.fold((0, 0), |(put, deleted), edge| match edge.value() {
            Some(_) => (put + 1, deleted),
            None => (put, deleted + 1),
        });
        let kept = if self.any_cleared { 0 } else { stored.at_least().saturating_sub(deleted) };
        Count::between(kept.max(put), stored.at_most() + put)
    }

    /// Bounds on the parallel edges of a label, of which the state below has `stored`. O(edges
    /// changed).
    pub(super) fn parallel_count(&self, label: LabelId, stored: Count) -> Count {
        let edges = self.labels.get(&label).into_iter().flat_map(|changes| changes.edges.values());
        let changed = edges.map(|edge| if let StagedEdge::Parallel(edges) = edge { edges.count } else { 0 });
        let (least, put) = match changed.clone().next().is_some() || self.any_cleared {
            true => (0, changed.sum::<u64>()),
            false => (stored.at_least(), 0),
        };
        Count::between(least.max(put), stored.at_most() + put)
    }

    // --- staging --------------------------------------------------------------------------------

    /// Adds an operation to the changes of the state `view`. Decides changes of records.
    ///
    /// # Errors
    /// A new record does not fit its label, and nothing is staged; or the state could not be read,
    /// or vertex ids are used up, and some vertices of the operation may be staged.
    pub fn stage(
        &mut self,
        store: &Store,
        view: &ErasedView<'_>,
        operation: &Operation,
    ) -> Result<StagedUpdate, Error> {
        match operation {
            Operation::AddVertex { key } => drop(self.create(store, view, key)?),
            Operation::SetProperties { key, properties } => {
                let vertex = self.create(store, view, key)?;
                let stored = match self.record(vertex) {
                    Some(record) => record.cloned(),
                    None => view.vertex_record(vertex)?,
                };
                let stored = stored.filter(|record| !record.is_empty());
                let mut values = stored.unwrap_or_else(|| store.catalog.vertices().nulls()).values().to_vec();
                properties.iter().for_each(|(position, value)| values[*position].clone_from(value));
                let unchanged =
                    StagedVertex { exists: true, is_stored: true, is_cleared: false, record: None };
                self.vertices.entry(vertex).or_insert(unchanged).record = Some(Record::new(values));
            }
            Operation::DeleteVertex { key } => {
                if let Some(vertex) = self.vertex_of(store, view, key.as_ref())? {
                    self.delete_vertex(view, vertex)?;
                }
            }
            Operation::PutEdge { label, source, destination, value } => {
                let source = self.create(store, view, source)?;
                let destination = self.create(store, view, destination)?;
                self.set(*label, source, destination, StagedEdge::Value(Some(*value)));
            }
            Operation::DeleteEdge { label, source, destination } => {
                let source = self.vertex_of(store, view, source.as_ref())?;
                let destination = self.vertex_of(store, view, destination.as_ref())?;
                if let (Some(source), Some(destination)) = (source, destination) {
                    self.set(*label, source, destination, deletion(store, *label));
                }
            }
            Operation::ChangeRecord { label, source, destination, key, change } => {
                let ends = (source.as_ref(), destination.as_ref());
                return self.change_record(store, view, *label, ends, *key, change);
            }
        }
        Ok(StagedUpdate { held: true, changed: true })
    }

    fn change_record(
        &mut self,
        store: &Store,
        view: &ErasedView<'_>,
        label: LabelId,
        (source, destination): (KeyRef<'_>, KeyRef<'_>),
        key: Option<u64>,
        change: &RecordChange,
    ) -> Result<StagedUpdate, Error> {
        let schema = store.catalog.record_schema(label).ok_or(Error::NoRecords(label))?;
        let ends = (self.vertex_of(store, view, source)?, self.vertex_of(store, view, destination)?);
        let current = match ends {
            (Some(source), Some(destination)) => {
                self.current_record(view, (label, source, destination), key)?
            }
            _ => None,
        };
        let decided = change.decide(current.as_ref(), schema);
        if let Some(Some(record)) = &decided {
            schema.check(record)?;
        }
        let update = StagedUpdate { held: change.holds(current.as_ref()), changed: decided.is_some() };
        let ends = match change.may_create() {
            true => (
                Some(self.create(store, view, &source.to_key())?),
                Some(self.create(store, view, &destination.to_key())?),
            ),
            false => ends,
        };
        if let (Some(new), (Some(source), Some(destination))) = (decided, ends) {
            let bytes = new.map(|record| encode_record(&record).into_boxed_slice());
            match key {
                None => self.set(label, source, destination, StagedEdge::Record(bytes)),
                Some(key) => {
                    let edges = self.parallel_edges(view, (label, source, destination))?;
                    edges.count += u64::from(bytes.is_some());
                    edges.count -= u64::from(current.is_some());
                    edges.edges.insert(key, bytes);
                }
            }
        }
        Ok(update)
    }

    /// The record of an edge with these changes.
    fn current_record(
        &self,
        view: &ErasedView<'_>,
        (label, source, destination): (LabelId, VertexId, VertexId),
        key: Option<u64>,
    ) -> Result<Option<Record>, Error> {
        let rows = StagedRows::new(self, label, Direction::Out);
        if let (Some(key), Some(StagedEdge::Parallel(edges))) = (key, rows.find(source, destination))
            && let Some(staged) = edges.edges.get(&key)
        {
            return staged.as_deref().map(decoded).transpose();
        }
        let mut records = OverlayRecords::new(view.edge_records(label, Direction::Out)?, rows);
        match key {
            None => records.find(source, destination)?.map(decoded).transpose(),
            Some(key) => {
                let edges = records.find_parallel(source, destination)?;
                edges.map_or(Ok(None), |edges| edges.find(key))?.map(decoded).transpose()
            }
        }
    }

    /// The staged changes of the parallel edges between two vertices. The first call for a pair
    /// counts its stored edges.
    fn parallel_edges(
        &mut self,
        view: &ErasedView<'_>,
        (label, source, destination): (LabelId, VertexId, VertexId),
    ) -> Result<&mut StagedParallel, Error> {
        let pair = self.topology.canonical(source, destination);
        let rows = StagedRows::new(self, label, Direction::Out);
        if rows.find(source, destination).is_none() {
            let mut records = OverlayRecords::new(view.edge_records(label, Direction::Out)?, rows);
            let stored = records.find_parallel(source, destination)?;
            let count = stored.map_or(Ok(0), ParallelEdges::count)?;
            let edges = StagedParallel { is_cleared: false, edges: BTreeMap::new(), count };
            self.set(label, source, destination, StagedEdge::Parallel(edges));
        }
        match self.labels.get_mut(&label).and_then(|changes| changes.edges.get_mut(&pair)) {
            Some(StagedEdge::Parallel(edges)) => Ok(edges),
            _ => unreachable!("the label has parallel edges, and the pair was staged"),
        }
    }

    /// The vertex of a key, which exists from now on.
    fn create(&mut self, store: &Store, view: &ErasedView<'_>, key: &Key) -> Result<VertexId, Error> {
        let vertex = self.vertex_or_new(store, view, key.as_ref())?;
        if let Some(staged) = self.vertices.get_mut(&vertex) {
            staged.exists = true;
        } else if !self.is_stored(view, vertex)? {
            let new = StagedVertex { exists: true, is_stored: false, is_cleared: false, record: None };
            self.vertices.insert(vertex, new);
        }
        Ok(vertex)
    }

    fn is_stored(&self, view: &ErasedView<'_>, vertex: VertexId) -> Result<bool, Error> {
        match self.key_of_new(vertex) {
            Some(_) => Ok(false),
            None => Ok(view.contains_vertex(vertex)?),
        }
    }

    fn delete_vertex(&mut self, view: &ErasedView<'_>, vertex: VertexId) -> Result<(), Error> {
        let is_stored = self.is_stored(view, vertex)?;
        if !is_stored && !self.vertices.contains_key(&vertex) {
            return Ok(());
        }
        let deleted = StagedVertex { exists: false, is_stored, is_cleared: is_stored, record: None };
        self.vertices.insert(vertex, deleted);
        self.any_cleared |= is_stored;
        let is_kept = |(one, other): &(VertexId, VertexId)| *one != vertex && *other != vertex;
        for changes in self.labels.values_mut() {
            changes.edges.retain(|ends, _| is_kept(ends));
            changes.entries.iter_mut().for_each(|entries| entries.retain(is_kept));
        }
        Ok(())
    }

    fn set(&mut self, label: LabelId, source: VertexId, destination: VertexId, edge: StagedEdge) {
        let (source, destination) = self.topology.canonical(source, destination);
        let changes = self.labels.entry(label).or_default();
        for (direction, owner, neighbor) in self.topology.entries(source, destination) {
            changes.entries[direction as usize].insert((owner, neighbor));
        }
        changes.edges.insert((source, destination), edge);
    }
}

/// The change that deletes an edge of a label, or all edges between two vertices.
fn deletion(store: &Store, label: LabelId) -> StagedEdge {
    if store.catalog.are_parallel(label) {
        return StagedEdge::Parallel(StagedParallel { is_cleared: true, edges: BTreeMap::new(), count: 0 });
    }
    match store.catalog.record_schema(label) {
        Some(_) => StagedEdge::Record(None),
        None => StagedEdge::Value(None),
    }
}

/// The staged edges of a label in a stored direction.
#[derive(Clone, Copy)]
pub(super) struct StagedRows<'t> {
    pub(super) changes: &'t StagedChanges,
    label: Option<&'t LabelChanges>,
    direction: Direction,
}

impl<'t> StagedRows<'t> {
    /// `direction` can be read in the graph.
    pub(super) fn new(changes: &'t StagedChanges, label: LabelId, direction: Direction) -> Self {
        let direction = changes.topology.stored(direction).unwrap_or(direction);
        StagedRows { changes, label: changes.labels.get(&label), direction }
    }

    /// The change of the edge from an owner to a neighbor.
    pub(super) fn find(self, owner: VertexId, neighbor: VertexId) -> Option<&'t StagedEdge> {
        let (source, destination) = match self.direction {
            Direction::Out => (owner, neighbor),
            Direction::In => (neighbor, owner),
        };
        self.label?.edges.get(&self.changes.topology.canonical(source, destination))
    }

    /// The changes of an owner's edges, ascending by neighbor.
    pub(super) fn row(self, owner: VertexId) -> impl Iterator<Item = (VertexId, &'t StagedEdge)> {
        self.entries_of(owner)
            .filter_map(move |(_, neighbor)| Some((*neighbor, self.find(owner, *neighbor)?)))
    }

    /// The first owner of a changed edge in a range.
    pub(super) fn next_owner(self, range: std::ops::Range<u32>) -> Option<VertexId> {
        let last = range.end.checked_sub(1).filter(|last| *last >= range.start)?;
        let first = (VertexId::new(range.start), VertexId::new(0));
        self.entries(first, (VertexId::new(last), VertexId::MAX)).next().map(|(owner, _)| *owner)
    }

    /// Returns true if the row of a vertex is as it is in the state below.
    #[inline]
    pub(super) fn is_unchanged(self, owner: VertexId) -> bool {
        !self.changes.any_cleared && self.entries_of(owner).next().is_none()
    }

    /// Returns true if the stored edge between two vertices is gone, unless it is staged again.
    #[inline]
    pub(super) fn hides(self, owner: VertexId, neighbor: VertexId) -> bool {
        self.changes.is_cleared(owner) || self.changes.is_cleared(neighbor)
    }

    fn entries_of(self, owner: VertexId) -> impl Iterator<Item = &'t (VertexId, VertexId)> {
        self.entries((owner, VertexId::new(0)), (owner, VertexId::MAX))
    }

    fn entries(
        self,
        first: (VertexId, VertexId),
        last: (VertexId, VertexId),
    ) -> impl Iterator<Item = &'t (VertexId, VertexId)> {
        self.label
            .into_iter()
            .flat_map(move |label| label.entries[self.direction as usize].range(first..=last))
    }
}
