//! The staged operations of a transaction.

use crate::write_graph::{RecordUpdate, Updated};
use hedgerow_erased::ErasedView;
use hedgerow_model::Operation;
use hedgerow_pipeline::{Error as Cause, StagedChanges, Store};
use hedgerow_sync::Arc;

/// Staged operations, in order, and their changes, which the transaction's own reads see. A
/// transaction that never reads decides no changes.
#[derive(Debug)]
pub(crate) struct Staged {
    operations: Vec<Operation>,
    /// The number of operations in the changes.
    decided: usize,
    /// Shared with the snapshots of the transaction, which do not change.
    changes: Arc<StagedChanges>,
}

impl Staged {
    /// Nothing is staged; `changes` are empty.
    pub(crate) fn new(changes: StagedChanges) -> Self {
        Staged { operations: Vec::new(), decided: 0, changes: Arc::new(changes) }
    }

    /// Returns the operations, in the order in which they were staged.
    pub(crate) fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// Returns the operations and drops the changes.
    pub(crate) fn into_operations(self) -> Vec<Operation> {
        self.operations
    }

    /// Stages a checked operation.
    pub(crate) fn push(&mut self, operation: Operation) {
        self.operations.push(operation);
    }

    /// Returns the changes of all operations that are staged so far over the state `view`.
    /// O(operations staged since the last call), or O(all changes) while a snapshot shares them.
    pub(crate) fn changes(
        &mut self,
        store: &Store,
        view: &ErasedView<'_>,
    ) -> Result<&mut Arc<StagedChanges>, Cause> {
        if self.decided < self.operations.len() {
            let changes = Arc::make_mut(&mut self.changes);
            for operation in &self.operations[self.decided..] {
                changes.stage(store, view, operation)?;
                self.decided += 1;
            }
        }
        Ok(&mut self.changes)
    }

    /// Decides an update against the edge as the transaction sees it, and stages it, even if it
    /// does nothing, so that a concurrent commit to the edge is a conflict.
    pub(crate) fn update(
        &mut self,
        store: &Store,
        view: &ErasedView<'_>,
        update: RecordUpdate,
    ) -> Result<Updated<()>, Cause> {
        let operation = update.into();
        let decided = Arc::make_mut(self.changes(store, view)?).stage(store, view, &operation)?;
        self.operations.push(operation);
        self.decided += 1;
        Ok(Updated { held: decided.held, changed: decided.changed, written: () })
    }
}
