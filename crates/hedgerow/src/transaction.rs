//! Interactive write transactions.

use crate::engines::{SharedStore, TypedStore};
use crate::error::Error;
use crate::options::Isolation;
use crate::reads::{Reading, Reads, State};
use crate::snapshot::Snapshot;
use crate::staged::Staged;
use crate::write_graph::{RecordUpdate, Updated, Writes};
use hedgerow_log::Durability;
use hedgerow_model::{CommitTimestamp, Operation, VertexId};
use hedgerow_pipeline::{Commit, Error as Cause, Interactive, ReadSet, StagedChanges, Store, Touched};
use hedgerow_sequencer::ReaderKind;
use hedgerow_sync::Arc;
use std::borrow::Cow;
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
        let staged = Staged::new(StagedChanges::of_snapshot(snapshot.topology(), snapshot.vertex_bound()));
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

    /// Returns the state that this transaction reads, with the writes staged so far: for kernels,
    /// iterators, paths and all other reads of a [`Snapshot`], which later writes do not change.
    /// O(operations staged since the last read), or O(all staged operations) while an earlier
    /// snapshot of the transaction is open.
    ///
    /// Vertices that the transaction makes have ids of their own, above all others, unless keys are
    /// ids. Once something is staged, the numbers of edges are bounds, in O(edges staged), and
    /// edges cannot be ordered by commit. A serializable transaction depends on the whole graph
    /// from now on: any other commit is a conflict. While a snapshot of a transaction is open,
    /// commits record what they change, as while the transaction is.
    ///
    /// ```
    /// use hedgerow::kernels::Wcc;
    /// use hedgerow::prelude::*;
    ///
    /// let graph = Graph::in_memory(GraphOptions::new().topology(Topology::Undirected).label::<()>("knows"))?;
    /// let knows = graph.label::<()>("knows")?;
    /// graph.ingest(knows, &[(1, 2), (3, 4)])?;
    /// let components = graph.transact(|transaction| {
    ///     transaction.put_edge(knows, 2, 3)?;
    ///     let found = transaction.snapshot()?.run(Wcc::default().label(knows))?;
    ///     Ok(found.count)
    /// })?;
    /// assert_eq!(components, 1);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// The store could not be read.
    pub fn snapshot(&self) -> Result<Snapshot, Error> {
        if let Some(reads) = &mut *self.reads.borrow_mut() {
            reads.track_everything();
        }
        if self.is_empty() { Ok(self.snapshot.clone()) } else { self.with_staged() }
    }

    fn with_staged(&self) -> Result<Snapshot, Error> {
        let (store, view) = (&self.snapshot.typed()?.store, self.snapshot.view_below());
        let changes = Arc::clone(self.staged.borrow_mut().changes(store, &view)?);
        Ok(self.snapshot.with_staged(changes))
    }

    /// Adds a read to the read set of a serializable transaction.
    fn note(&self, reading: Reading<'_>) -> Result<(), Error> {
        match &mut *self.reads.borrow_mut() {
            Some(reads) => track(&self.snapshot, reads, reading),
            None => Ok(()),
        }
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

impl Reads for WriteTxn {
    fn typed(&self) -> Result<&TypedStore, Error> {
        self.snapshot.typed()
    }

    fn state(&self, reading: Reading<'_>) -> Result<State<'_>, Error> {
        self.note(reading)?;
        Ok(State::Snapshot(match self.is_empty() {
            true => Cow::Borrowed(&self.snapshot),
            false => Cow::Owned(self.with_staged()?),
        }))
    }
}

/// Adds a read to the read set of a serializable transaction. A key of the wrong kind is not added:
/// the read itself returns the error.
fn track(snapshot: &Snapshot, reads: &mut ReadSet, reading: Reading<'_>) -> Result<(), Error> {
    let store = &snapshot.typed()?.store;
    let mut add = |key, what: &dyn Fn(VertexId) -> Option<Touched>| {
        let vertex = snapshot.vertex_id(key).ok()?;
        reads.track(store, key, vertex, what);
        vertex
    };
    match reading {
        Reading::Vertex(key) => drop(add(key, &|_| None)),
        Reading::Record(key) => drop(add(key, &|vertex| Some(Touched::Record(vertex)))),
        Reading::Neighbors(key) => drop(add(key, &|vertex| Some(Touched::Neighbors(vertex)))),
        Reading::Edge(label, source, destination) => {
            let other = add(destination, &|_| None);
            add(source, &|vertex| {
                let (from, to) = store.topology.canonical(vertex, other?);
                Some(Touched::Edge(label, from, to))
            });
        }
    }
    Ok(())
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
        let (source, destination) = (update.source.as_ref(), update.destination.as_ref());
        self.note(Reading::Edge(update.label, source, destination))?;
        let (store, view) = (&self.snapshot.typed()?.store, self.snapshot.view_below());
        Ok(self.staged.borrow_mut().update(store, &view, update)?)
    }
}
