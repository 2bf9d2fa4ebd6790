//! The growing phase of a commit: from operations by key to vertex ids under locks.
//!
//! Locks are taken in one global order, so that commits do not deadlock: first the stripes of keys,
//! then the stripes of units, each in ascending order. A commit that finds under its locks that it
//! needs more releases the units and takes the larger set.

use crate::commit::holdings::{AssignedIds, Holdings};
use crate::conflicts::Touched;
use crate::error::Error;
use crate::store::Store;
use hedgerow_erased::ErasedView;
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{
    Adjacency, Cursor, Direction, Engine, GraphView, Key, KeyRef, LabelId, Operation, Topology, VertexId,
};
use hedgerow_sequencer::{LockGuard, LockTable, Stripes};
use smallvec::SmallVec;
use std::collections::HashSet;
use std::ops::ControlFlow;

/// The ids of an operation's keys. `None`: no such vertex exists, and the operation does not create
/// it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OperationIds {
    /// The vertex, or the source of the edge.
    pub(crate) first: Option<VertexId>,
    /// The destination of the edge.
    pub(crate) second: Option<VertexId>,
}

/// The reads of a serializable transaction.
#[derive(Debug, Default)]
pub struct ReadSet {
    /// The items that must be unchanged.
    pub touched: HashSet<Touched>,
    /// The vertices to lock while the items are checked.
    pub vertices: HashSet<VertexId>,
    /// Keys that had no vertex.
    pub absent: HashSet<Key>,
    /// True if the whole graph was read: nothing may have changed.
    pub(crate) everything: bool,
}

impl ReadSet {
    /// Records a lookup of `key`, which found `vertex`, and the item that was read of the vertex.
    pub fn track(
        &mut self,
        store: &Store,
        key: KeyRef<'_>,
        vertex: Option<VertexId>,
        what: impl Fn(VertexId) -> Option<Touched>,
    ) {
        if self.everything {
            return;
        }
        let hash = store.dictionary.hash(key);
        match vertex {
            Some(vertex) => {
                self.touched.insert(Touched::Deleted(hash));
                self.touched.extend(what(vertex));
                self.vertices.insert(vertex);
            }
            None => {
                self.touched.insert(Touched::Created(hash));
                if store.dictionary.is_dense() {
                    self.vertices.extend(store.dictionary.current(key).ok().flatten());
                } else {
                    self.absent.insert(key.to_key());
                }
            }
        }
    }

    /// Records a read of the whole graph, which includes all others.
    pub fn track_everything(&mut self) {
        *self = ReadSet { everything: true, ..ReadSet::default() };
    }
}

/// All locks of a commit, and the ids of its keys.
pub struct Acquired<'s> {
    holdings: Holdings<'s>,
    ids: SmallVec<[OperationIds; 1]>,
}

/// Maximum number of attempts to extend the locks of a commit before it takes all locks.
const LOCK_ATTEMPTS: usize = 3;

impl<'s> Acquired<'s> {
    /// Resolves the keys of `operations`, and takes all locks for the operations and for `reads`.
    pub fn new(store: &'s Store, operations: &[Operation], reads: Option<&ReadSet>) -> Result<Self, Error> {
        if let Some(acquired) = Self::without_key_locks(store, operations, reads)? {
            return Ok(acquired);
        }
        let absent = reads.iter().flat_map(|reads| &reads.absent).map(Key::as_ref);
        let mut holdings = Holdings::new(store);
        let keys = operations.iter().flat_map(operation_keys).chain(absent);
        holdings.keys = Some(store.dictionary.lock(keys));
        let mut ids = SmallVec::with_capacity(operations.len());
        for operation in operations {
            ids.push(resolve_keys(&mut holdings.assigned, operation)?);
        }
        holdings.hold_units(lock_units(store, operations, &ids, reads)?);
        Ok(Acquired { holdings, ids })
    }

    /// The common case: every key has a vertex and none is deleted, so locking the units suffices.
    ///
    /// `None` in all other cases.
    fn without_key_locks(
        store: &'s Store,
        operations: &[Operation],
        reads: Option<&ReadSet>,
    ) -> Result<Option<Self>, Error> {
        let generation = store.dictionary.generation();
        let Some(ids) = find_existing(store, operations)? else { return Ok(None) };
        if !store.dictionary.is_dense() && reads.is_some_and(|reads| !reads.absent.is_empty()) {
            return Ok(None);
        }
        let units = lock_units(store, operations, &ids, reads)?;
        if store.dictionary.generation() != generation {
            return Ok(None);
        }
        let mut holdings = Holdings::new(store);
        holdings.hold_units(units);
        let acquired = Acquired { holdings, ids };
        Ok((store.dictionary.is_dense() || acquired.all_exist(store)).then_some(acquired))
    }

    /// Returns true if every id is an existing vertex. If not, another commit has assigned the id,
    /// has not created the vertex yet, and may still fail.
    fn all_exist(&self, store: &Store) -> bool {
        let mut ids = self.ids.iter().flat_map(|ids| ids.first.into_iter().chain(ids.second));
        ids.all(|id| store.engine.exists(id))
    }

    /// The proof for the engine that the units are locked.
    pub fn held(&mut self) -> HeldLocks<'_> {
        self.holdings.held()
    }

    /// The ids of each operation's keys.
    pub(crate) fn ids(&self) -> &[OperationIds] {
        &self.ids
    }

    /// The proof that the units are locked, with the ids of each operation's keys.
    pub(crate) fn held_and_ids(&mut self) -> (HeldLocks<'_>, &[OperationIds]) {
        (self.holdings.held(), &self.ids)
    }

    /// Resolves other operations on the locked keys, which all have ids.
    pub fn look_up_again(&mut self, operations: &[Operation]) -> Result<(), Error> {
        self.ids.clear();
        for operation in operations {
            self.ids.push(resolve_keys(&mut self.holdings.assigned, operation)?);
        }
        Ok(())
    }

    /// The ids assigned to new keys.
    pub(crate) fn assigned(&mut self) -> &mut AssignedIds<'s> {
        &mut self.holdings.assigned
    }
}

/// Returns the ids of an operation's keys, all of which are locked; assigns ids to the keys that
/// the operation creates.
fn resolve_keys(assigned: &mut AssignedIds<'_>, operation: &Operation) -> Result<OperationIds, Error> {
    let (first, second) = keys_of(operation);
    let creates = match operation {
        Operation::AddVertex { .. } | Operation::SetProperties { .. } => true,
        Operation::PutEdge { .. } => !assigned.store().strict,
        Operation::ChangeRecord { change, .. } => change.may_create() && !assigned.store().strict,
        Operation::DeleteVertex { .. } | Operation::DeleteEdge { .. } => false,
    };
    let mut id_of = |key: &Key| {
        if creates {
            return assigned.current_or_assign(key.as_ref()).map(Some);
        }
        Ok(assigned.store().dictionary.current(key.as_ref())?)
    };
    Ok(OperationIds { first: id_of(first)?, second: second.map(id_of).transpose()?.flatten() })
}

/// The ids of operations that neither create nor delete a key; `None` if an operation might.
fn find_existing(
    store: &Store,
    operations: &[Operation],
) -> Result<Option<SmallVec<[OperationIds; 1]>>, Error> {
    let current = |key: &Key| store.dictionary.current(key.as_ref());
    let mut ids = SmallVec::with_capacity(operations.len());
    for operation in operations {
        let (first, second) = keys_of(operation);
        let first = current(first)?;
        let second_id = second.map(current).transpose()?.flatten();
        let deletes = matches!(operation, Operation::DeleteVertex { .. }) && !store.dictionary.is_dense();
        let missing = first.is_none() || second.is_some() && second_id.is_none();
        if deletes || missing {
            return Ok(None);
        }
        ids.push(OperationIds { first, second: second_id });
    }
    Ok(Some(ids))
}

/// Locks the units of all ids, and of all neighbors of deleted vertices.
///
/// "Revisiting the Design of In-Memory Dynamic Graph Storage", section 4.1.2 (locks in ascending
/// order); RapidStore, section 6.5 (deletion of a vertex).
fn lock_units<'s>(
    store: &'s Store,
    operations: &[Operation],
    ids: &[OperationIds],
    reads: Option<&ReadSet>,
) -> Result<LockGuard<&'s LockTable>, Error> {
    let table = &store.units;
    if reads.is_some_and(|reads| reads.everything) {
        return Ok(LockGuard::lock(table, table.all()));
    }
    let touched = ids.iter().flat_map(|ids| ids.first.into_iter().chain(ids.second));
    let read = reads.iter().flat_map(|reads| &reads.vertices).copied();
    let stripes = table.stripes(touched.chain(read).map(|id| store.engine.lock_unit(id)));
    let deleted: SmallVec<[VertexId; 4]> = operations
        .iter()
        .zip(ids)
        .filter(|(operation, _)| matches!(operation, Operation::DeleteVertex { .. }))
        .filter_map(|(_, ids)| ids.first)
        .collect();
    if deleted.is_empty() {
        return Ok(LockGuard::lock(table, stripes));
    }
    if store.topology == Topology::Directed {
        // Only a full scan finds the edges that end at a vertex.
        return Ok(LockGuard::lock(table, table.all()));
    }
    lock_with_neighbors(store, stripes, &deleted)
}

fn lock_with_neighbors<'s>(
    store: &'s Store,
    mut stripes: Stripes,
    deleted: &[VertexId],
) -> Result<LockGuard<&'s LockTable>, Error> {
    let table = &store.units;
    for _ in 0..LOCK_ATTEMPTS {
        let mut guard = LockGuard::lock(table, stripes);
        let mut missing = Stripes::new();
        {
            let held = guard.held(&store.sequencer);
            let latest = store.latest(&held)?;
            for_each_incident(store, &latest, deleted, |_, _, _, neighbor| {
                let unit = store.engine.lock_unit(neighbor);
                if !held.covers(unit) {
                    missing.push(table.stripe(unit));
                }
            })?;
        }
        if missing.is_empty() {
            return Ok(guard);
        }
        missing.extend_from_slice(guard.stripes());
        missing.sort_unstable();
        missing.dedup();
        stripes = missing;
    }
    Ok(LockGuard::lock(table, table.all()))
}

/// Visits every stored entry of `vertices`: label, stored direction, vertex, neighbor.
pub(crate) fn for_each_incident(
    store: &Store,
    view: &ErasedView<'_>,
    vertices: &[VertexId],
    mut visit: impl FnMut(LabelId, Direction, VertexId, VertexId),
) -> Result<(), Error> {
    for label in store.labels() {
        for direction in store.topology.directions() {
            let adjacency = view.adjacency::<()>(label, *direction)?;
            let mut cursor = adjacency.cursor();
            for vertex in vertices {
                let scanned = cursor.neighbors(*vertex, |run, _| {
                    run.iter().for_each(|neighbor| visit(label, *direction, *vertex, *neighbor));
                    ControlFlow::<()>::Continue(())
                });
                scanned?.is_continue();
            }
        }
    }
    Ok(())
}

/// The keys of an operation: the vertex, or the endpoints of the edge.
fn keys_of(operation: &Operation) -> (&Key, Option<&Key>) {
    match operation {
        Operation::AddVertex { key }
        | Operation::DeleteVertex { key }
        | Operation::SetProperties { key, .. } => (key, None),
        Operation::PutEdge { source, destination, .. }
        | Operation::DeleteEdge { source, destination, .. }
        | Operation::ChangeRecord { source, destination, .. } => (source, Some(destination)),
    }
}

fn operation_keys(operation: &Operation) -> impl Iterator<Item = KeyRef<'_>> {
    let (first, second) = keys_of(operation);
    std::iter::once(first).chain(second).map(Key::as_ref)
}
