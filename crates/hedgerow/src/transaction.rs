//! Interactive write transactions.

use crate::edge_update::EdgeUpdate;
use crate::error::Error;
use crate::options::Isolation;
use crate::parallel_edge::ParallelEdge;
use crate::reads::{check_adjacency, check_column};
use crate::snapshot::Snapshot;
use crate::staged::Staged;
use crate::stores::{OpenStores, Stores, with_store};
use hedgerow_log::Durability;
use hedgerow_model::{
    AsKey, Column, Direction, Engine, Key, KeyRef, LabelId, Operation, Record, Timestamp, Value, VertexId,
};
use hedgerow_pipeline::{Commit, Error as Cause, Interactive, ReadSet, Store, Touched};
use hedgerow_sequencer::Reader;
use hedgerow_sync::Arc;
use std::ops::RangeInclusive;

/// A transaction that reads and writes.
///
/// It reads the state of the graph as of its start, with its own writes on top. Nothing is visible to
/// others until [`commit`](WriteTxn::commit) returns; dropping it drops what was staged.
#[derive(Debug)]
pub struct WriteTxn {
    snapshot: Snapshot,
    staged: Staged,
    /// What was read, in a serializable transaction.
    reads: Option<ReadSet>,
    /// What an importer notes with it.
    input: Option<Box<[u8]>>,
}

impl WriteTxn {
    pub(crate) fn begin(stores: &Arc<OpenStores>, isolation: Isolation) -> Result<Self, Error> {
        let snapshot = Snapshot::open(stores, Reader::Interactive)?;
        let staged = Staged::new(snapshot.topology(), stores.shared_catalog());
        let reads = (isolation == Isolation::Serializable).then(ReadSet::default);
        Ok(WriteTxn { snapshot, staged, reads, input: None })
    }

    /// The commit whose state this transaction reads.
    #[must_use]
    pub fn began_at(&self) -> Timestamp {
        self.snapshot.timestamp()
    }

    /// Whether nothing was staged.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.staged.operations().is_empty()
    }

    /// Notes with the commit that it came from `input`: how far an importer got, as [`Graph::ingest_from`](crate::Graph::ingest_from)
    /// does. There is a commit then even if nothing was staged.
    pub fn note_input(&mut self, input: &[u8]) {
        self.input = Some(input.into());
    }

    /// Makes a vertex exist.
    ///
    /// # Errors
    /// The key is of another kind than the graph's.
    pub fn add_vertex(&mut self, key: impl AsKey) -> Result<(), Error> {
        self.stage(|stores| stores.add_vertex(&key))
    }

    /// Deletes a vertex and all its incident edges, of every label.
    ///
    /// # Errors
    /// The key is of another kind than the graph's.
    pub fn delete_vertex(&mut self, key: impl AsKey) -> Result<(), Error> {
        self.stage(|stores| stores.delete_vertex(&key))
    }

    /// Sets properties of a vertex by name; creates it if it does not exist.
    ///
    /// # Errors
    /// The key is of another kind than the graph's, or a property is unknown or of another type.
    pub fn set_properties(&mut self, key: impl AsKey, properties: &[(&str, Value)]) -> Result<(), Error> {
        self.stage(|stores| stores.set_properties(&key, properties))
    }

    /// Puts an edge of the default label.
    ///
    /// # Errors
    /// A key is of another kind than the graph's, or the edges of the default label carry a value.
    pub fn put_edge(&mut self, source: impl AsKey, destination: impl AsKey) -> Result<(), Error> {
        self.put_edge_value(LabelId::DEFAULT, source, destination, ())
    }

    /// Puts an edge with a value, or replaces the value of the one that exists.
    ///
    /// # Errors
    /// A key is of another kind than the graph's, there is no such label, or its edges carry another type.
    pub fn put_edge_value<W: Column>(
        &mut self,
        label: LabelId,
        source: impl AsKey,
        destination: impl AsKey,
        value: W,
    ) -> Result<(), Error> {
        self.stage(|stores| stores.put_edge(label, &source, &destination, value))
    }

    /// Puts, changes or deletes an edge that has a record; a condition is decided on what the transaction reads, and on the newest state
    /// again when it commits.
    ///
    /// # Errors
    /// A key is of another kind than the graph's, there is no such label, its edges have no records, or a property is unknown or of
    /// another type.
    pub fn update_edge(
        &mut self,
        label: LabelId,
        source: impl AsKey,
        destination: impl AsKey,
        update: &EdgeUpdate<'_>,
    ) -> Result<(), Error> {
        self.stage(|stores| stores.update_edge(label, &source, &destination, update))
    }

    /// Deletes an edge of the default label, if it exists.
    ///
    /// # Errors
    /// A key is of another kind than the graph's.
    pub fn delete_edge(&mut self, source: impl AsKey, destination: impl AsKey) -> Result<(), Error> {
        self.delete_edge_of(LabelId::DEFAULT, source, destination)
    }

    /// Deletes an edge, if it exists.
    ///
    /// # Errors
    /// A key is of another kind than the graph's, or there is no such label.
    pub fn delete_edge_of(
        &mut self,
        label: LabelId,
        source: impl AsKey,
        destination: impl AsKey,
    ) -> Result<(), Error> {
        self.stage(|stores| stores.delete_edge(label, &source, &destination))
    }

    pub(crate) fn stores(&self) -> &Stores {
        self.snapshot.stores()
    }

    pub(crate) fn stage(
        &mut self,
        operation: impl FnOnce(&Stores) -> Result<Operation, Error>,
    ) -> Result<(), Error> {
        let operation = operation(self.snapshot.stores())?;
        self.staged.push(operation);
        Ok(())
    }

    /// Whether a vertex exists for this transaction.
    ///
    /// # Errors
    /// The key is of another kind than the graph's.
    pub fn contains_vertex(&mut self, key: impl AsKey) -> Result<bool, Error> {
        let key = key.as_key();
        self.track(key, |_| None);
        Ok(self.snapshot.read(|state| self.staged.contains_vertex(state, key))?)
    }

    /// Whether there is an edge of the default label for this transaction.
    ///
    /// # Errors
    /// A key is of another kind than the graph's.
    pub fn contains_edge(&mut self, source: impl AsKey, destination: impl AsKey) -> Result<bool, Error> {
        Ok(self.get_edge::<()>(LabelId::DEFAULT, source, destination)?.is_some())
    }

    /// The value of an edge for this transaction; `None` if it does not exist.
    ///
    /// # Errors
    /// A key is of another kind than the graph's, there is no such label, or its edges carry another type.
    pub fn get_edge<W: Column>(
        &mut self,
        label: LabelId,
        source: impl AsKey,
        destination: impl AsKey,
    ) -> Result<Option<W>, Error> {
        check_column::<W>(self.snapshot.catalog(), label)?;
        let (source, destination) = (source.as_key(), destination.as_key());
        self.track_edge(label, source, destination);
        let value = self.snapshot.read(|state| self.staged.edge(state, label, source, destination))?;
        Ok(value.map(W::from_bits))
    }

    /// The out-neighbors of a vertex over edges of the default label, for this transaction.
    ///
    /// # Errors
    /// The key is of another kind than the graph's.
    pub fn neighbors(&mut self, key: impl AsKey) -> Result<Vec<Key>, Error> {
        let neighbors = self.neighbors_of::<()>(LabelId::DEFAULT, Direction::Out, key)?;
        Ok(neighbors.into_iter().map(|(neighbor, ())| neighbor).collect())
    }

    /// The neighbors of a vertex and the values beside them, for this transaction: stored ones
    /// ascending by vertex id, then those that only this transaction put, ascending by key.
    ///
    /// # Errors
    /// The key is of another kind than the graph's, there is no such label or direction, or its
    /// edges carry another type.
    pub fn neighbors_of<W: Column>(
        &mut self,
        label: LabelId,
        direction: Direction,
        key: impl AsKey,
    ) -> Result<Vec<(Key, W)>, Error> {
        check_adjacency::<W>(self.snapshot.stores(), label, direction)?;
        let key = key.as_key();
        self.track(key, |vertex| Some(Touched::Neighbors(vertex)));
        let neighbors = self.snapshot.read(|state| self.staged.neighbors(state, label, direction, key))?;
        let typed = neighbors.into_iter().map(|(neighbor, value)| (neighbor, W::from_bits(value)));
        Ok(typed.collect())
    }

    /// The record of an edge for this transaction; `None` if the edge does not exist.
    ///
    /// # Errors
    /// A key is of another kind than the graph's, there is no such label, or its edges have no records.
    pub fn edge_record(
        &mut self,
        label: LabelId,
        source: impl AsKey,
        destination: impl AsKey,
    ) -> Result<Option<Record>, Error> {
        self.snapshot.stores().record_schema(label)?;
        let (source, destination) = (source.as_key(), destination.as_key());
        self.track_edge(label, source, destination);
        Ok(self.snapshot.read(|state| self.staged.edge_record(state, label, source, destination))?)
    }

    /// The neighbors of a vertex over a label that has records, with their records, for this transaction: in the order of
    /// [`neighbors_of`](WriteTxn::neighbors_of).
    ///
    /// # Errors
    /// The key is of another kind than the graph's, there is no such label or direction, or its edges have no records.
    pub fn neighbor_records(
        &mut self,
        label: LabelId,
        direction: Direction,
        key: impl AsKey,
    ) -> Result<Vec<(Key, Record)>, Error> {
        self.snapshot.stores().any_record_schema(label)?;
        check_adjacency::<()>(self.snapshot.stores(), label, direction)?;
        let key = key.as_key();
        self.track(key, |vertex| Some(Touched::Neighbors(vertex)));
        Ok(self.snapshot.read(|state| self.staged.neighbor_records(state, label, direction, key))?)
    }

    /// Those edges from one vertex to another whose keys are in a range.
    pub(crate) fn read_parallel_edges(
        &mut self,
        label: LabelId,
        source: KeyRef<'_>,
        destination: KeyRef<'_>,
        keys: RangeInclusive<u64>,
    ) -> Result<Vec<(u64, Record)>, Error> {
        self.snapshot.stores().parallel_schema(label)?;
        self.track_edge(label, source, destination);
        let (snapshot, staged) = (&self.snapshot, &self.staged);
        Ok(snapshot.read(|state| staged.parallel_edges(state, label, source, destination, keys))?)
    }

    /// Those edges of a vertex whose keys are in a range.
    pub(crate) fn read_parallel_neighbors(
        &mut self,
        label: LabelId,
        direction: Direction,
        key: KeyRef<'_>,
        keys: RangeInclusive<u64>,
    ) -> Result<Vec<ParallelEdge>, Error> {
        self.snapshot.stores().parallel_schema(label)?;
        check_adjacency::<()>(self.snapshot.stores(), label, direction)?;
        self.track(key, |vertex| Some(Touched::Neighbors(vertex)));
        let (snapshot, staged) = (&self.snapshot, &self.staged);
        Ok(snapshot.read(|state| staged.parallel_neighbors(state, label, direction, key, keys))?)
    }

    /// The properties of a vertex for this transaction; `None` if it does not exist.
    ///
    /// # Errors
    /// The key is of another kind than the graph's.
    pub fn properties(&mut self, key: impl AsKey) -> Result<Option<Record>, Error> {
        let key = key.as_key();
        self.track(key, |vertex| Some(Touched::Record(vertex)));
        let schema = self.snapshot.catalog().vertices();
        Ok(self.snapshot.read(|state| self.staged.record(state, schema, key))?)
    }

    /// Commits what was staged, as one. When this returns, every snapshot opened afterwards sees it, and it is as durable as the graph's
    /// option says.
    ///
    /// # Errors
    /// [`ErrorKind::Conflict`](crate::ErrorKind::Conflict) if another commit came first, or a limit
    /// would be exceeded; nothing has changed then. After [`ErrorKind::LogFailed`](crate::ErrorKind::LogFailed) only reopening the store tells whether the commit is durable.
    pub fn commit(self) -> Result<Commit, Error> {
        self.commit_with(Durability::None)
    }

    /// Commits, and waits until the commit is at least as durable as `durability` says.
    ///
    /// # Errors
    /// As [`WriteTxn::commit`]; [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) if the graph lives in memory and is asked for more than
    /// [`Durability::None`], in which case nothing has changed.
    pub fn commit_with(self, durability: Durability) -> Result<Commit, Error> {
        let stores = self.snapshot.stores();
        let committed = with_store!(&**stores, store => self.commit_to(store, durability));
        Ok(committed?)
    }

    fn commit_to<E: Engine>(&self, store: &Store<E>, durability: Durability) -> Result<Commit, Cause> {
        if durability > Durability::None && store.journal().is_none() {
            return Err(Cause::InMemory);
        }
        let began = self.snapshot.timestamp();
        if self.is_empty() && self.input.is_none() {
            // What was read is a snapshot, so it is already in the order of commits.
            store.settle_read(began, durability)?;
            return Ok(Commit { at: began, ..Commit::default() });
        }
        let interactive =
            Interactive { began, reads: self.reads.as_ref(), durability, input: self.input.as_deref() };
        store.commit(self.staged.operations(), Some(&interactive))
    }

    /// Prepares to read a vertex: notes that, and what of it.
    fn track(&mut self, key: KeyRef<'_>, what: impl Fn(VertexId) -> Option<Touched>) {
        self.staged.look();
        let Some(reads) = &mut self.reads else { return };
        let stores = Arc::clone(self.snapshot.stores());
        self.snapshot.read(|state| with_store!(&*stores, store => reads.track(store, state, key, what)));
    }

    /// Prepares to read an edge: notes that.
    fn track_edge(&mut self, label: LabelId, source: KeyRef<'_>, destination: KeyRef<'_>) {
        self.staged.look();
        let Some(reads) = &mut self.reads else { return };
        let stores = Arc::clone(self.snapshot.stores());
        self.snapshot.read(|state| {
            with_store!(&*stores, store => {
                let other = reads.track(store, state, destination, |_| None);
                reads.track(store, state, source, |vertex| {
                    let (from, to) = store.topology.canonical(vertex, other?);
                    Some(Touched::Edge(label, from, to))
                });
            });
        });
    }
}
