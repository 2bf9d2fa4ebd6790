//! Transactions that declare their vertices at the start: they lock them, read the newest state,
//! and never conflict.

use crate::engines::{SharedStore, TypedStore};
use crate::error::{Error, Reason};
use crate::reads::{Reading, StagedReads};
use crate::staged::Staged;
use crate::write_graph::{RecordUpdate, Updated, Writes};
use hedgerow_log::Durability;
use hedgerow_model::{Key, KeyRef, Operation};
use hedgerow_pipeline::{
    Acquired, BYTES_OF_CHANGE, Commit, Error as Cause, KeyReads, StateReads, Store, ViewReads,
};
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
    state: &'t dyn StateReads,
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

impl StagedReads for DeclaredTxn<'_> {
    fn typed(&self) -> Result<&TypedStore, Error> {
        self.typed.get()
    }

    fn read<T>(
        &self,
        reading: Reading<'_>,
        run: impl FnOnce(&Staged, &dyn StateReads) -> Result<T, Cause>,
    ) -> Result<T, Error> {
        match reading {
            Reading::Vertex(key) | Reading::Record(key) | Reading::Neighbors(key) => self.check(&[key])?,
            Reading::Edge(_, source, destination) => self.check(&[source, destination])?,
        }
        self.staged.borrow_mut().look();
        Ok(run(&self.staged.borrow(), self.state)?)
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
        let decided = self.decide(&update)?;
        let updated = Updated { held: decided.held, changed: decided.changed, written: () };
        self.staged.borrow_mut().push_decided(update, decided);
        Ok(updated)
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
        let view = store.latest(&held)?;
        let state = ViewReads { store, view: &view, keys: KeyReads::Current };
        let staged = Staged::new(store.topology, Arc::clone(&store.catalog));
        let transaction = DeclaredTxn { typed, state: &state, declared: &declared, staged: staged.into() };
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
