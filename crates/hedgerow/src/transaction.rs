//! Interactive write transactions.

use crate::engines::{SharedStore, TypedStore};
use crate::error::Error;
use crate::options::Isolation;
use crate::reads::{Reading, StagedReads};
use crate::snapshot::Snapshot;
use crate::staged::Staged;
use crate::write_graph::{RecordUpdate, Updated, Writes};
use hedgerow_log::Durability;
use hedgerow_model::{CommitTimestamp, Operation};
use hedgerow_pipeline::{Commit, Error as Cause, Interactive, ReadSet, StateReads, Store, Touched};
use hedgerow_sequencer::ReaderKind;
use std::cell::RefCell;

/// A transaction that reads and writes.
///
/// It reads the state of the graph as of its start, with its own writes on top. Nothing is visible
/// to others until [`commit`](WriteTxn::commit) returns; dropping the transaction discards its
/// staged writes.
#[derive(Debug)]
pub struct WriteTxn {
    snapshot: Snapshot,
    // Cells allow reads and writes by shared reference, as on graphs and snapshots.
    staged: RefCell<Staged>,
    /// The read set of a serializable transaction.
    reads: RefCell<Option<ReadSet>>,
    /// The position of an importer, noted with the commit.
    input: RefCell<Option<Box<[u8]>>>,
}

impl WriteTxn {
    pub(crate) fn begin(typed: &SharedStore, isolation: Isolation) -> Result<Self, Error> {
        let snapshot = Snapshot::open(typed, ReaderKind::Interactive)?;
        let staged = Staged::new(snapshot.topology(), typed.get()?.shared_catalog());
        let reads = (isolation == Isolation::Serializable).then(ReadSet::default);
        let (staged, reads, input) = (staged.into(), reads.into(), RefCell::default());
        Ok(WriteTxn { snapshot, staged, reads, input })
    }

    /// Returns the commit whose state this transaction reads.
    #[must_use]
    pub fn began_at(&self) -> CommitTimestamp {
        self.snapshot.timestamp()
    }

    /// Returns true if nothing was staged.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.staged.borrow().operations().is_empty()
    }

    /// Notes with the commit that it came from `input`, the position of an importer, as
    /// [`Graph::ingest_from`](crate::Graph::ingest_from) does. The transaction then commits even if
    /// nothing was staged.
    pub fn note_input(&self, input: &[u8]) {
        *self.input.borrow_mut() = Some(input.into());
    }

    /// Commits everything that was staged, as one commit. When this returns, every snapshot opened
    /// afterwards sees it, and it is as durable as the graph's options demand.
    ///
    /// # Errors
    /// [`ErrorKind::Conflict`](crate::ErrorKind::Conflict) if another commit came first;
    /// [`ErrorKind::Capacity`](crate::ErrorKind::Capacity) if a limit would be exceeded; nothing
    /// has changed then. After
    /// [`ErrorKind::LogFailed`](crate::ErrorKind::LogFailed) only reopening the store tells whether
    /// the commit is durable.
    pub fn commit(self) -> Result<Commit, Error> {
        self.commit_with(Durability::None)
    }

    /// Commits, and waits until the commit is at least as durable as `durability` demands.
    ///
    /// # Errors
    /// As [`WriteTxn::commit`]; [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) if the
    /// graph lives in memory and is asked for more than [`Durability::None`], in which case nothing
    /// has changed.
    pub fn commit_with(self, durability: Durability) -> Result<Commit, Error> {
        let typed = self.snapshot.shared().clone();
        Ok(self.commit_to(&typed.get()?.store, durability)?)
    }

    fn commit_to(self, store: &Store, durability: Durability) -> Result<Commit, Cause> {
        if durability > Durability::None && store.journal().is_none() {
            return Err(Cause::InMemory);
        }
        let began = self.snapshot.timestamp();
        let WriteTxn { snapshot: _open, staged, reads, input } = self;
        let (staged, reads, input) = (staged.into_inner(), reads.into_inner(), input.into_inner());
        if staged.operations().is_empty() && input.is_none() {
            // The reads are of a snapshot, so they already have a place in the order of commits.
            store.settle_read(began, durability)?;
            return Ok(Commit { at: began, changed: Some(false), ..Commit::default() });
        }
        let interactive = Interactive { began, reads: reads.as_ref(), durability, input: input.as_deref() };
        store.commit(staged.operations(), Some(&interactive))
    }
}

impl StagedReads for WriteTxn {
    fn typed(&self) -> Result<&TypedStore, Error> {
        self.snapshot.typed()
    }

    fn read<T>(
        &self,
        reading: Reading<'_>,
        run: impl FnOnce(&Staged, &dyn StateReads) -> Result<T, Cause>,
    ) -> Result<T, Error> {
        self.staged.borrow_mut().look();
        self.snapshot.read(|state| {
            if let Some(reads) = &mut *self.reads.borrow_mut() {
                track(&self.snapshot.typed()?.store, state, reads, reading);
            }
            Ok::<_, Error>(run(&self.staged.borrow(), state)?)
        })
    }
}

/// Adds a read to the read set of a serializable transaction.
fn track(store: &Store, state: &dyn StateReads, reads: &mut ReadSet, reading: Reading<'_>) {
    match reading {
        Reading::Vertex(key) => {
            reads.track(store, state, key, |_| None);
        }
        Reading::Record(key) => {
            reads.track(store, state, key, |vertex| Some(Touched::Record(vertex)));
        }
        Reading::Neighbors(key) => {
            reads.track(store, state, key, |vertex| Some(Touched::Neighbors(vertex)));
        }
        Reading::Edge(label, source, destination) => {
            let other = reads.track(store, state, destination, |_| None);
            reads.track(store, state, source, |vertex| {
                let (from, to) = store.topology.canonical(vertex, other?);
                Some(Touched::Edge(label, from, to))
            });
        }
    }
}

impl Writes for WriteTxn {
    type Written = ();

    fn typed(&self) -> Result<&TypedStore, Error> {
        self.snapshot.typed()
    }

    fn write(&self, operation: Operation) -> Result<(), Error> {
        self.staged.borrow_mut().push(operation);
        Ok(())
    }

    fn update(&self, update: RecordUpdate) -> Result<Updated<()>, Error> {
        let decided = self.decide(&update)?;
        let updated = Updated { held: decided.held, changed: decided.changed, written: () };
        // Staged even if it does nothing, so that a concurrent commit to the edge is a conflict.
        self.staged.borrow_mut().push_decided(update, decided);
        Ok(updated)
    }
}
