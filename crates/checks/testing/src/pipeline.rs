//! A single-threaded commit pipeline. It makes the tokens, so it must keep their guarantees.

use crate::Tested;
use crate::check::{check_view, read};
use crate::oracle::{LABELS, Oracle, Request};
use hedgerow_model::token::{HeldLocks, LiveTimestamps, Registered, Stamp};
use hedgerow_model::{
    Admission, Allowance, Catalog, Changes, ColumnType, CommitTimestamp, Count, Counts, EdgeSchema, Engine,
    EngineError, Field, LabelId, LabelSchema, LockUnit, MaintenanceProgress, MemoryUse, Outcome, Reclaimed,
    RecordSchema, Retained, Staged, StoredEdge, Topology, ValueType, VertexId,
};

/// A store, the oracle of its newest state, and the open snapshots.
pub struct Pipeline<T: Tested> {
    /// The store.
    pub engine: T::Engine,
    /// Its newest state.
    pub oracle: Oracle,
    /// The open snapshots, oldest first.
    pub snapshots: Vec<Snapshot<<T::Engine as Engine>::Snapshot>>,
    /// The counts of the engine.
    pub(crate) counts: Counts,
    memory_limit: Option<usize>,
    last: CommitTimestamp,
}

/// An open snapshot, and its expected contents.
pub struct Snapshot<S> {
    /// Its timestamp.
    pub token: Registered,
    /// The engine's snapshot.
    pub state: S,
    /// Its expected state.
    pub oracle: Oracle,
}

/// Returns the note that a flush up to a commit stores.
#[must_use]
pub fn note_of(at: CommitTimestamp) -> Vec<u8> {
    format!("the note of commit {at}").into_bytes()
}

/// One label without values, one of `f64`, one of `u32`, one with records; an integer on the
/// vertices.
#[must_use]
pub fn catalog() -> Catalog {
    let label = |name: &str, edges| LabelSchema { name: name.to_owned(), edges };
    let time = Field { name: "time".to_owned(), value_type: ValueType::Timestamp, nullable: true };
    let payload = Field { name: "payload".to_owned(), value_type: ValueType::Bytes, nullable: false };
    let labels = vec![
        label("topology", EdgeSchema::Topology),
        label("weight", EdgeSchema::Value(ColumnType::F64)),
        label("count", EdgeSchema::Value(ColumnType::U32)),
        label("record", EdgeSchema::Record(RecordSchema { fields: vec![time, payload] })),
    ];
    let property = Field { name: "property".to_owned(), value_type: ValueType::I64, nullable: true };
    Catalog::new(labels, RecordSchema { fields: vec![property] }).unwrap()
}

/// Returns a store with the first label of [`catalog`] alone.
pub(crate) fn with_first_label<T: Tested>(topology: Topology) -> Pipeline<T> {
    let all = catalog();
    let first = Catalog::new(vec![all.labels()[0].clone()], all.vertices().clone()).unwrap();
    let engine = T::engine(topology, first);
    Pipeline::around(engine, Oracle::new(topology), Counts::default(), CommitTimestamp::ZERO)
}

/// Returns the labels that are not in the store yet.
pub(crate) fn other_labels() -> Vec<LabelSchema> {
    catalog().labels()[1..].to_vec()
}

impl<T: Tested> Pipeline<T> {
    /// Wraps an empty store of [`catalog`].
    #[must_use]
    pub fn new(topology: Topology, memory_limit: Option<usize>) -> Self {
        let engine = T::engine(topology, catalog());
        let empty = Pipeline::around(engine, Oracle::new(topology), Counts::default(), CommitTimestamp::ZERO);
        Pipeline { memory_limit, ..empty }
    }

    /// Wraps a store that already has the state of its `last` commit.
    #[must_use]
    pub fn around(engine: T::Engine, oracle: Oracle, counts: Counts, last: CommitTimestamp) -> Self {
        Pipeline { engine, oracle, snapshots: Vec::new(), counts, memory_limit: None, last }
    }

    /// Commits requests and checks the outcome. With a `margin`, the stamp allows less editing in
    /// place than it could: as if `margin` timestamps above the newest registered one might be
    /// registered.
    ///
    /// # Errors
    /// The store refuses, or could not be read or written; nothing has changed.
    pub fn commit(&mut self, requests: &[Request], margin: u64) -> Result<(), EngineError> {
        let mut after = self.oracle.clone();
        let effects = after.commit(requests);
        // Guesses of `editable_from`: correct, or wrong in either direction.
        let expected =
            [self.next_stamp(margin).editable_from(), CommitTimestamp::ZERO, CommitTimestamp(u64::MAX)];
        let mut locks = self.locks().with_editable_now(expected[self.last.0 as usize % expected.len()]);
        // Reads the newest state, like a writer whose effects depend on it.
        drop(self.engine.latest(&locks)?);
        let mut room = Default::default();
        let staged = self.engine.stage(&locks, (&effects).into(), &mut room, self.allowance(), None)?;
        let outcome = staged.outcome;
        check_outcome(&outcome, &after.outcome_since(&self.oracle));
        let stamp = self.next_stamp(margin);
        self.engine.apply(&mut locks, stamp.into(), staged.changes);
        self.last = stamp.at();
        count(&mut self.counts, &outcome);
        self.oracle = after;
        Ok(())
    }

    /// Commits the change of one edge between existing vertices without effects; returns true if
    /// the engine has such a way. `None` instead of a value deletes the edge.
    pub fn commit_edge(
        &mut self,
        label: u16,
        (source, destination): (u32, u32),
        value: Option<u32>,
        margin: u64,
    ) -> bool {
        let destinations = vec![destination];
        let request = match value {
            Some(value) => Request::PutEdges { label, source, destinations, value },
            None => Request::DeleteEdges { label, source, destinations },
        };
        let bits = value.map(|value| Oracle::value(label, value));
        let ends = [source, destination].map(VertexId::new);
        let edges = [StoredEdge::new(self.oracle.topology, LabelId(label), ends[0], ends[1], bits)];
        let (mut locks, mut room) = (self.locks(), Default::default());
        let staged =
            self.engine.stage(&locks, Changes::Each(&edges), &mut room, self.allowance_in_place(), None);
        let Staged { changes, commits: 1, changing, outcome } = staged.unwrap() else { return false };
        let mut after = self.oracle.clone();
        after.commit(&[request]);
        check_outcome(&outcome, &after.outcome_since(&self.oracle));
        count(&mut self.counts, &outcome);
        if changing > 0 {
            let stamp = self.next_stamp(margin);
            self.engine.apply(&mut locks, stamp.into(), changes);
            self.last = stamp.at();
        } else {
            assert_eq!(after.edges, self.oracle.edges);
        }
        self.oracle = after;
        true
    }

    fn allowance_in_place(&self) -> Allowance {
        self.memory_limit.map_or(Allowance::UNLIMITED, |_| Allowance::NO_GROWTH)
    }

    fn allowance(&self) -> Allowance {
        self.memory_limit.map_or(Allowance::UNLIMITED, |limit| Allowance::up_to(limit, 0, 0))
    }

    fn next_stamp(&self, margin: u64) -> Stamp {
        let at = self.last.next();
        let lowest = self.snapshots.last().map_or(0, |newest| newest.token.at().0 + 1);
        let editable_from = CommitTimestamp((lowest + margin).min(at.0));
        // SAFETY: counted up on one thread, under the lock of everything; `editable_from` is above
        // every registered timestamp, and snapshots register the newest stamp.
        unsafe { Stamp::new(at, editable_from) }
    }

    /// Stages requests and drops the result.
    pub fn abandon(&self, requests: &[Request]) {
        let effects = self.oracle.clone().commit(requests);
        let before = self.held();
        let mut room = Default::default();
        drop(self.engine.stage(&self.locks(), (&effects).into(), &mut room, self.allowance(), None));
        self.assert_holds_as_much_as(before);
    }

    /// Returns the live bytes, and the bytes that are retained for a timestamp. Excludes unlinked
    /// bytes that wait for readers, which any call may free, and the index, which may grow.
    pub fn held(&self) -> (usize, usize) {
        let MemoryUse { live_bytes, retained_bytes, .. } = self.engine.memory();
        (live_bytes, retained_bytes - T::UNLINKED(&self.engine))
    }

    /// Checks that an engine that accounts for every byte [holds](Pipeline::held) the same number
    /// as before.
    pub fn assert_holds_as_much_as(&self, before: (usize, usize)) {
        if T::RECOUNT.is_some() {
            assert_eq!(self.held(), before);
        }
    }

    /// Opens a snapshot of the newest state.
    ///
    /// # Panics
    /// The store fails.
    pub fn open(&mut self) {
        self.try_open().unwrap();
    }

    /// Like [`Pipeline::open`], for a store that may fail.
    ///
    /// # Errors
    /// The store could not be read.
    pub fn try_open(&mut self) -> Result<(), EngineError> {
        let oracle = self.oracle.clone();
        // SAFETY: everything up to `last` is applied; `snapshots` is what stamps and live
        // timestamps are made from, and the token stays there until it is dropped.
        let token = unsafe { Registered::new(self.last, self.counts()) };
        let state = self.engine.open_snapshot(&token)?;
        self.snapshots.push(Snapshot { token, state, oracle });
        Ok(())
    }

    /// Returns the newest commit.
    #[must_use]
    pub fn last(&self) -> CommitTimestamp {
        self.last
    }

    /// Decides if a commit of about this number of bytes may begin.
    #[must_use]
    pub fn admit(&self, bytes: usize) -> Admission {
        Admission::of(bytes, T::DURABLE(&self.engine), T::ARCHIVING(&self.engine))
    }

    /// Makes everything durable, if the store owns files.
    ///
    /// # Errors
    /// The store could not be read or written.
    pub fn flush(&self) -> Result<(), EngineError> {
        self.flush_at(&self.begin_flush())
    }

    /// Announces a flush of everything so far, if the store owns files, for [`Pipeline::flush_at`].
    pub fn begin_flush(&self) -> Registered {
        let at = self.newest();
        T::DURABLE(&self.engine).into_iter().for_each(|durable| durable.begin_flush(&at));
        at
    }

    /// Returns the newest commit, for a flush that was not announced.
    #[must_use]
    pub fn newest(&self) -> Registered {
        // SAFETY: everything up to `last` is applied, and a flush is the only use of it.
        unsafe { Registered::new(self.last, self.counts()) }
    }

    /// Makes everything up to a timestamp durable, if the store owns files.
    ///
    /// # Errors
    /// The store could not be read or written.
    pub fn flush_at(&self, at: &Registered) -> Result<(), EngineError> {
        let Some(durable) = T::DURABLE(&self.engine) else { return Ok(()) };
        durable.flush(at, &self.live(), &note_of(at.at()))
    }

    /// Returns the timestamps of the open snapshots.
    fn live(&self) -> LiveTimestamps {
        let mut live: Vec<CommitTimestamp> =
            self.snapshots.iter().map(|snapshot| snapshot.token.at()).collect();
        live.dedup();
        // SAFETY: all registered timestamps are there, and the next will be `last` or above.
        unsafe { LiveTimestamps::as_of(live, self.last) }
    }

    /// Returns the counts of the engine, and the number of vertices.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let Counts { vertex_bound, vertices, .. } = self.oracle.counts();
        Counts { vertex_bound, vertices, ..self.counts.clone() }
    }

    /// Closes a snapshot, if one is open.
    pub fn close(&mut self, choice: usize) {
        if !self.snapshots.is_empty() {
            self.snapshots.remove(choice % self.snapshots.len());
        }
    }

    /// Reclaims up to a budget, while another thread holds the locks of units whose number has a
    /// bit of `busy`.
    ///
    /// # Panics
    /// The store fails.
    pub fn reclaim(&self, budget_bytes: usize, busy: u32) -> Reclaimed {
        self.try_reclaim(budget_bytes, busy).unwrap()
    }

    /// Like [`Pipeline::reclaim`], for a store that may fail.
    ///
    /// # Errors
    /// The store could not be read or written.
    pub fn try_reclaim(&self, budget_bytes: usize, busy: u32) -> Result<Reclaimed, EngineError> {
        let live = self.live();
        let units = unit_locks(busy, self.counts());
        if let Some(archiving) = T::ARCHIVING(&self.engine)
            && (budget_bytes == usize::MAX || archiving.is_due())
        {
            // SAFETY: everything up to `last` is applied, and nothing is freed by it before the
            // call returns.
            let newest = unsafe { Registered::new(self.last, self.counts()) };
            archiving.archive(&newest, &live, false)?;
        }
        let before = self.engine.memory();
        let MaintenanceProgress { reclaimed, .. } = self.engine.maintain(&live, &units, budget_bytes)?;
        if T::RECOUNT.is_some() {
            let after = self.engine.memory();
            assert!(after.live_bytes <= before.live_bytes);
            // Rewritten content counts twice while a reader may be reading the former one.
            assert_eq!(before.total_bytes().saturating_sub(after.total_bytes()), reclaimed.bytes);
        }
        Ok(reclaimed)
    }

    /// Takes steps of maintenance until nothing is left to do.
    ///
    /// # Panics
    /// The store fails, or is never done.
    pub fn reclaim_all(&self) {
        let steps = (0..1000).take_while(|_| self.reclaim(usize::MAX, 0).more).count();
        assert!(steps < 1000, "there is always more to do");
        assert!(steps == 0 || T::RECOUNT.is_none(), "one step with any budget frees all");
    }

    /// Reads everything, through every snapshot and the newest state.
    pub fn check(&self, vertices: &[u32]) {
        for Snapshot { token, state, oracle } in &self.snapshots {
            check_view(&self.engine.view(state, token), oracle, vertices);
            if size_of_val(state) > 0 {
                // A registered timestamp can be opened again, whatever happened since.
                let again = self.engine.open_snapshot(token).unwrap();
                check_view(&self.engine.view(&again, token), oracle, vertices);
            }
        }
        check_view(&read(self.engine.latest(&self.locks())), &self.oracle, vertices);
        if T::RECOUNT.is_some() {
            let retained: usize = self.retained().iter().map(|(_, bytes)| bytes).sum();
            let unlinked = T::UNLINKED(&self.engine);
            assert_eq!(retained + unlinked, self.engine.memory().retained_bytes);
        }
    }

    /// Checks that the counters of an engine that accounts for every byte match a walk over
    /// everything.
    pub fn assert_counters_are_exact(&self) {
        if let Some(recount) = T::RECOUNT {
            assert_eq!(self.engine.memory(), recount(&self.engine, &self.locks()));
        }
    }

    /// Checks that an engine that accounts for every byte retains none for past states.
    pub fn assert_nothing_is_retained(&self) {
        if T::RECOUNT.is_some() {
            assert_eq!(self.engine.memory().retained_bytes, 0);
            assert!(self.retained().is_empty());
        }
    }

    /// Returns the bytes retained by each timestamp.
    #[must_use]
    pub fn retained(&self) -> Retained {
        T::RETAINED(&self.engine, &unit_locks(0, self.counts()))
    }

    /// Returns every lock.
    #[must_use]
    pub fn locks(&self) -> HeldLocks<'static> {
        // SAFETY: there is one thread, and it reads nothing newest across a commit.
        unsafe { HeldLocks::all(self.counts()) }
    }
}

/// Adds an engine's counts of a commit.
pub(crate) fn count(counts: &mut Counts, outcome: &Outcome) {
    counts.add(&outcome.edges);
    counts.add_deferred(&outcome.deferred);
    counts.add_parallel(&outcome.parallel);
}

/// Checks the counts of an engine: exact, or bounds where it deferred.
pub(crate) fn check_outcome(outcome: &Outcome, expected: &Outcome) {
    if outcome.deferred.is_empty() {
        assert_eq!(outcome, expected);
    }
    for label in (0..LABELS).map(LabelId) {
        let counted = outcome.edges.iter().find(|of| of.label == label);
        let deferred = outcome.deferred.iter().find(|of| of.label == label);
        let expected = expected.edges.iter().find(|of| of.label == label);
        let bounds = |known: Option<u64>, deferred: Option<u64>| {
            let known = known.unwrap_or(0);
            Count::between(known, known + deferred.unwrap_or(0))
        };
        let added = bounds(counted.map(|of| of.added), deferred.map(|of| of.puts));
        let removed = bounds(counted.map(|of| of.removed), deferred.map(|of| of.deletions));
        assert!(added.may_be(expected.map_or(0, |of| of.added)));
        assert!(removed.may_be(expected.map_or(0, |of| of.removed)));
    }
}

/// Grants the locks of all units whose number has no bit of `busy`.
pub fn unit_locks(busy: u32, counts: Counts) -> impl Fn(LockUnit, &mut dyn FnMut(&HeldLocks<'_>)) -> bool {
    move |unit, work| {
        let (stripes, is_free) = ([unit.0], unit.0 & busy == 0);
        if is_free {
            // SAFETY: there is one thread, so no other thread holds any lock.
            let locks = unsafe { HeldLocks::stripes(&stripes, u32::MAX, counts.clone()) };
            work(&locks);
        }
        is_free
    }
}
