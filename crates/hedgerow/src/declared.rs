//! Transactions that declare their vertices at the start: locked, read newest, never in conflict.

use crate::edge_update::EdgeUpdate;
use crate::error::{Error, Reason};
use crate::reads::{check_adjacency, check_column};
use crate::staged::Staged;
use crate::stores::{OpenStores, Stores};
use hedgerow_log::Durability;
use hedgerow_model::{AsKey, Column, Direction, Engine, Key, KeyRef, LabelId, Operation, Record, Value};
use hedgerow_pipeline::{Acquired, BYTES_OF_CHANGE, Commit, KeyReads, StateReads, Store, ViewReads};
use hedgerow_sequencer::Writer;
use hedgerow_sync::Arc;
use std::ops::RangeInclusive;

/// A transaction on vertices that were declared when it began.
///
/// Their locks are held until it ends, so what it reads is the newest state and cannot change
/// before its commit: it never fails with a conflict. It reads and writes edges between declared vertices, and the
/// neighbors and properties of declared vertices. It cannot delete vertices.
pub struct DeclaredTxn<'t> {
    stores: &'t Stores,
    state: &'t dyn StateReads,
    declared: &'t [Key],
    staged: Staged,
}

impl DeclaredTxn<'_> {
    fn declared<'k>(&self, key: &'k impl AsKey) -> Result<KeyRef<'k>, Error> {
        let key = key.as_key();
        if self.declared.binary_search_by(|declared| declared.as_ref().cmp(&key)).is_err() {
            return Err(Reason::NotDeclared(key.to_key()).into());
        }
        Ok(key)
    }

    /// Makes a declared vertex exist.
    ///
    /// # Errors
    /// The vertex was not declared.
    pub fn add_vertex(&mut self, key: impl AsKey) -> Result<(), Error> {
        self.declared(&key)?;
        self.stage(self.stores.add_vertex(&key)?);
        Ok(())
    }

    /// Sets properties of a declared vertex by name; creates it if it does not exist.
    ///
    /// # Errors
    /// The vertex was not declared, or a property is unknown or of another type.
    pub fn set_properties(&mut self, key: impl AsKey, properties: &[(&str, Value)]) -> Result<(), Error> {
        self.declared(&key)?;
        self.stage(self.stores.set_properties(&key, properties)?);
        Ok(())
    }

    /// Puts an edge of the default label between declared vertices.
    ///
    /// # Errors
    /// A vertex was not declared, or the edges of the default label carry a value.
    pub fn put_edge(&mut self, source: impl AsKey, destination: impl AsKey) -> Result<(), Error> {
        self.put_edge_value(LabelId::DEFAULT, source, destination, ())
    }

    /// Puts an edge with a value between declared vertices, or replaces its value.
    ///
    /// # Errors
    /// A vertex was not declared, there is no such label, or its edges carry another type.
    pub fn put_edge_value<W: Column>(
        &mut self,
        label: LabelId,
        source: impl AsKey,
        destination: impl AsKey,
        value: W,
    ) -> Result<(), Error> {
        self.declared(&source)?;
        self.declared(&destination)?;
        self.stage(self.stores.put_edge(label, &source, &destination, value)?);
        Ok(())
    }

    /// Puts, changes or deletes an edge between declared vertices that has a record. A condition is decided on the newest state.
    ///
    /// # Errors
    /// A vertex was not declared, there is no such label, its edges have no records, or a property is unknown or of another type.
    pub fn update_edge(
        &mut self,
        label: LabelId,
        source: impl AsKey,
        destination: impl AsKey,
        update: &EdgeUpdate<'_>,
    ) -> Result<(), Error> {
        self.stage_between(&source, &destination, |stores| {
            stores.update_edge(label, &source, &destination, update)
        })
    }

    /// Stages an operation that was checked, for all reads that follow.
    fn stage(&mut self, operation: Operation) {
        self.staged.push(operation);
        self.staged.look();
    }

    /// Stages an operation between two vertices, if they are declared.
    pub(crate) fn stage_between(
        &mut self,
        source: &impl AsKey,
        destination: &impl AsKey,
        operation: impl FnOnce(&Stores) -> Result<Operation, Error>,
    ) -> Result<(), Error> {
        self.declared(source)?;
        self.declared(destination)?;
        self.stage(operation(self.stores)?);
        Ok(())
    }

    /// Deletes an edge between declared vertices, if it exists.
    ///
    /// # Errors
    /// A vertex was not declared, or there is no such label.
    pub fn delete_edge_of(
        &mut self,
        label: LabelId,
        source: impl AsKey,
        destination: impl AsKey,
    ) -> Result<(), Error> {
        self.declared(&source)?;
        self.declared(&destination)?;
        self.stage(self.stores.delete_edge(label, &source, &destination)?);
        Ok(())
    }

    /// Whether a declared vertex exists.
    ///
    /// # Errors
    /// The vertex was not declared.
    pub fn contains_vertex(&self, key: impl AsKey) -> Result<bool, Error> {
        Ok(self.staged.contains_vertex(self.state, self.declared(&key)?)?)
    }

    /// The value of an edge between declared vertices; `None` if it does not exist.
    ///
    /// # Errors
    /// A vertex was not declared, there is no such label, or its edges carry another type.
    pub fn get_edge<W: Column>(
        &self,
        label: LabelId,
        source: impl AsKey,
        destination: impl AsKey,
    ) -> Result<Option<W>, Error> {
        check_column::<W>(self.stores.catalog(), label)?;
        let (source, destination) = (self.declared(&source)?, self.declared(&destination)?);
        let value = self.staged.edge(self.state, label, source, destination)?;
        Ok(value.map(W::from_bits))
    }

    /// The neighbors of a declared vertex and the values beside them.
    ///
    /// # Errors
    /// The vertex was not declared, there is no such label or direction, or its edges carry another type.
    pub fn neighbors_of<W: Column>(
        &self,
        label: LabelId,
        direction: Direction,
        key: impl AsKey,
    ) -> Result<Vec<(Key, W)>, Error> {
        check_adjacency::<W>(self.stores, label, direction)?;
        let neighbors = self.staged.neighbors(self.state, label, direction, self.declared(&key)?)?;
        let typed = neighbors.into_iter().map(|(neighbor, value)| (neighbor, W::from_bits(value)));
        Ok(typed.collect())
    }

    /// The record of an edge between declared vertices; `None` if the edge does not exist.
    ///
    /// # Errors
    /// A vertex was not declared, there is no such label, or its edges have no records.
    pub fn edge_record(
        &self,
        label: LabelId,
        source: impl AsKey,
        destination: impl AsKey,
    ) -> Result<Option<Record>, Error> {
        self.stores.record_schema(label)?;
        let (source, destination) = (self.declared(&source)?, self.declared(&destination)?);
        Ok(self.staged.edge_record(self.state, label, source, destination)?)
    }

    /// The neighbors of a declared vertex over a label that has records, with their records.
    ///
    /// # Errors
    /// The vertex was not declared, there is no such label or direction, or its edges have no records.
    pub fn neighbor_records(
        &self,
        label: LabelId,
        direction: Direction,
        key: impl AsKey,
    ) -> Result<Vec<(Key, Record)>, Error> {
        self.stores.any_record_schema(label)?;
        check_adjacency::<()>(self.stores, label, direction)?;
        Ok(self.staged.neighbor_records(self.state, label, direction, self.declared(&key)?)?)
    }

    /// Those edges from one declared vertex to another whose keys are in a range.
    pub(crate) fn read_parallel_edges(
        &self,
        label: LabelId,
        source: &impl AsKey,
        destination: &impl AsKey,
        keys: RangeInclusive<u64>,
    ) -> Result<Vec<(u64, Record)>, Error> {
        self.stores.parallel_schema(label)?;
        let (source, destination) = (self.declared(source)?, self.declared(destination)?);
        Ok(self.staged.parallel_edges(self.state, label, source, destination, keys)?)
    }

    /// The properties of a declared vertex; `None` if it does not exist.
    ///
    /// # Errors
    /// The vertex was not declared.
    pub fn properties(&self, key: impl AsKey) -> Result<Option<Record>, Error> {
        let schema = self.stores.catalog().vertices();
        Ok(self.staged.record(self.state, schema, self.declared(&key)?)?)
    }
}

/// Locks `declared`, runs `run`, and commits what it staged; nothing if it fails.
pub(crate) fn transact_declared<E: Engine, T>(
    store: &Store<E>,
    stores: &Arc<OpenStores>,
    mut declared: Vec<Key>,
    run: impl FnOnce(&mut DeclaredTxn<'_>) -> Result<T, Error>,
) -> Result<(T, Commit), Error> {
    declared.sort_unstable();
    declared.dedup();
    let locked: Vec<Operation> =
        declared.iter().map(|key| Operation::AddVertex { key: key.clone() }).collect();
    store.admit(locked.len() * BYTES_OF_CHANGE)?;
    let mut acquired = store.reclaiming_at_limit(|| Acquired::new(store, &locked, None))?;
    let (result, operations) = {
        let held = acquired.held();
        let view = store.latest(&held)?;
        let state = ViewReads { store, view: &view, keys: KeyReads::Current };
        let staged = Staged::new(store.topology, Arc::clone(&store.catalog));
        let mut transaction = DeclaredTxn { stores, state: &state, declared: &declared, staged };
        (run(&mut transaction), transaction.staged.into_operations())
    };
    let result = match result {
        Ok(result) => result,
        Err(failed) => {
            drop(acquired);
            // What it read may be told now.
            store.settle_seen()?;
            return Err(failed);
        }
    };
    acquired.look_up_again(&operations)?;
    let commit = match store.commit_acquired(acquired, &operations, Writer::Blind, None) {
        Err(full) if full.is_full() => {
            // `run` cannot run twice, but the caller's next attempt finds room.
            store.reclaim_settled()?;
            return Err(full.into());
        }
        commit => commit?,
    };
    Ok((result, store.settle(commit, Durability::None)?))
}
