//! Transactions that declare their vertices at the start: they lock them, read the newest state,
//! and never conflict.

use crate::engines::{SharedStore, TypedStore};
use crate::error::{Error, Reason};
use crate::reads::{LockedState, Reading, Reads, State};
use crate::staged::Staged;
use crate::write_graph::{RecordUpdate, Updated, Writes};
use hedgerow_log::Durability;
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{Key, KeyRef, Operation};
use hedgerow_pipeline::{Acquired, BYTES_OF_CHANGE, Commit, StagedChanges, Store};
use hedgerow_sequencer::WriterKind;
use hedgerow_sync::Arc;
use std::cell::RefCell;

/// A transaction on vertices that were declared when it began.
///
/// Their locks are held until it ends, so its reads see the newest state, which cannot change
/// before its commit: it never fails with a conflict. It reads and writes edges between declared
/// vertices, and the neighbors and properties of declared vertices. It cannot delete vertices.
pub struct DeclaredTxn<'t> {
    typed: &'t SharedStore,
    held: &'t HeldLocks<'t>,
    declared: &'t [Key],
    staged: RefCell<Staged>,
}

impl std::fmt::Debug for DeclaredTxn<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DeclaredTxn").field("declared", &self.declared).finish_non_exhaustive()
    }
}

impl DeclaredTxn<'_> {
    fn check(&self, keys: &[KeyRef<'_>]) -> Result<(), Error> {
        let is_declared =
            |key: &KeyRef<'_>| self.declared.binary_search_by(|declared| declared.as_ref().cmp(key)).is_ok();
        match keys.iter().find(|key| !is_declared(key)) {
            Some(key) => Err(Reason::NotDeclared(key.to_key()).into()),
            None => Ok(()),
        }
    }
}

impl Reads for DeclaredTxn<'_> {
    fn typed(&self) -> Result<&TypedStore, Error> {
        self.typed.get()
    }

    fn state(&self, reading: Reading<'_>) -> Result<State<'_>, Error> {
        match reading {
            Reading::Vertex(key) | Reading::Record(key) | Reading::Neighbors(key) => self.check(&[key])?,
            Reading::Edge(_, source, destination) => self.check(&[source, destination])?,
        }
        let store = &self.typed.get()?.store;
        let view = store.latest(self.held)?;
        let staged = Arc::clone(self.staged.borrow_mut().changes(store, &view)?);
        Ok(State::Locked(LockedState { store, view, staged }))
    }
}

impl Writes for DeclaredTxn<'_> {
    type Written = ();

    fn typed(&self) -> Result<&TypedStore, Error> {
        self.typed.get()
    }

    fn write(&self, operation: Operation) -> Result<(), Error> {
        match &operation {
            Operation::DeleteVertex { .. } => return Err(Reason::DeletesDeclared.into()),
            Operation::AddVertex { key } | Operation::SetProperties { key, .. } => {
                self.check(&[key.as_ref()])?;
            }
            Operation::PutEdge { source, destination, .. }
            | Operation::DeleteEdge { source, destination, .. }
            | Operation::ChangeRecord { source, destination, .. } => {
                self.check(&[source.as_ref(), destination.as_ref()])?;
            }
        }
        self.staged.borrow_mut().push(operation);
        Ok(())
    }

    fn update(&self, update: RecordUpdate) -> Result<Updated<()>, Error> {
        self.check(&[update.source.as_ref(), update.destination.as_ref()])?;
        let store = &self.typed.get()?.store;
        Ok(self.staged.borrow_mut().update(store, &store.latest(self.held)?, update)?)
    }
}

/// Locks `declared`, runs `run`, and commits the writes that it staged; nothing if it fails.
pub(crate) fn transact_declared<T>(
    store: &Store,
    typed: &SharedStore,
    mut declared: Vec<Key>,
    run: impl FnOnce(&DeclaredTxn<'_>) -> Result<T, Error>,
) -> Result<(T, Commit), Error> {
    declared.sort_unstable();
    declared.dedup();
    let locked: Vec<Operation> =
        declared.iter().map(|key| Operation::AddVertex { key: key.clone() }).collect();
    store.admit(locked.len() * BYTES_OF_CHANGE)?;
    let mut acquired = store.reclaiming_at_limit(|| Acquired::new(store, &locked, None))?;
    let (result, operations) = {
        let held = acquired.held();
        let staged = Staged::new(StagedChanges::of_locked(store.topology)).into();
        let transaction = DeclaredTxn { typed, held: &held, declared: &declared, staged };
        (run(&transaction), transaction.staged.into_inner().into_operations())
    };
    if let Err(forked) = typed.get() {
        // `run` forked, and this is the child: its parent releases the locks.
        std::mem::forget(acquired);
        return Err(forked);
    }
    let result = match result {
        Ok(result) => result,
        Err(failed) => {
            drop(acquired);
            // The error may reveal what `run` read, which must be durable first.
            store.settle_seen()?;
            return Err(failed);
        }
    };
    acquired.look_up_again(&operations)?;
    let commit = match store.commit_acquired(acquired, &operations, WriterKind::Blind, None) {
        Err(full) if full.is_full() => {
            // `run` cannot run twice, but the caller's next attempt finds room.
            store.reclaim_settled()?;
            return Err(full.into());
        }
        commit => commit?,
    };
    Ok((result, store.settle(commit, Durability::None)?))
}
