//! The records of edges.
//!
//! A record lies in memory of its own; beside its edge an engine keeps a handle, as it keeps any other value, in one entry of the
//! edge or in both. So that every engine has records, and topology costs what it does without. An engine may
//! [keep copies](Engine::embeds_record) of short ones in memory of its own instead: those are its versions as its entries are, and nothing
//! of the following is about them but that whoever reads them is pinned.
//!
//! A record never changes. A commit that changes what lies on an edge makes a new one, and files the old one with its lifetime,
//! from the commit that put it up to its own. It is freed when no timestamp within is read any more: by the same reasoning as a
//! version of an engine, and by the same filing ([`Garbage`]). No lock is needed for that, since nothing leads to the record but the
//! versions that had it, which nobody reads then either.

mod end;
mod heap;
mod parallel;
mod record_ref;
mod update;

pub(crate) use parallel::{Difference, PairId, ParallelEdges};
pub use record_ref::RecordRef;
pub use update::EdgeUpdate;

use heap::OwnedRecord;
use parallel::ParallelDegrees;

use crate::error::{Reason, read_failed};
use hedgerow_encoding::{EdgeList, decode_record, decode_record_value, list_as_record, list_of_record};
use hedgerow_log::EdgeRecords;
use hedgerow_model::record_memory::{self, is_embedded};
use hedgerow_model::token::{LiveTimestamps, Stamp};
use hedgerow_model::{
    Adjacency, Catalogue, Column, ColumnType, Cursor, Direction, EdgeValue, Engine, GraphView, LabelId,
    MemoryUse, ParallelOutcome, ReadError, Reclaimed, Record, RecordHandle, RecordSchema, Timestamp,
    Topology, ValueRef, VertexId,
};
use hedgerow_reclamation::{Garbage, Memory, MemoryChange, Superseded, reclaim_unlocked};
use hedgerow_sync::Arc;
use hedgerow_sync::epoch::Guard;
use hedgerow_tel::Tel;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::marker::PhantomData;

/// The records of the edges of one graph.
///
/// Safe functions of this module rest on this: the value of an edge of a label with records is that of an [`OwnedRecord`] which was
/// let go in [`Records::apply`] at the edge's commit, and taken back when no timestamp that sees the edge is read any more. For those
/// values come from [`RecordChanges`] alone, and a view keeps its timestamp registered, or its locks held. Or it is the handle of a copy
/// which the engine made of such a record, and leads there for as long as the guard was pinned, which they ask for.
pub(crate) struct Records {
    catalogue: Arc<Catalogue>,
    degrees: ParallelDegrees,
    garbage: Garbage<Kept>,
    memory: Memory,
}

/// A record that an edge has no more, kept for snapshots.
#[derive(Clone, Copy, Debug)]
struct Kept {
    value: EdgeValue,
    bytes: usize,
}

/// What a commit does to records. Dropping it changes nothing.
#[derive(Debug, Default)]
pub(crate) struct RecordChanges {
    /// What lies on edges from now on.
    new: Vec<OwnedRecord>,
    /// What the engine makes copies of.
    embedded: Vec<OwnedRecord>,
    /// What lay on edges until now.
    superseded: Vec<EdgeValue>,
    /// What the newest state loses.
    superseded_bytes: usize,
    /// What is logged of parallel edges, by what stands for them from now on: a list of their changes.
    logged: HashMap<u64, Vec<u8>>,
    /// How many parallel edges come and go, by label.
    parallel: Vec<ParallelOutcome>,
    /// The same, by pair of vertices.
    pairs: Vec<(PairId, i64)>,
}

impl RecordChanges {
    /// Makes a record for an edge in a graph of `engine`; what stands for it beside the edge.
    pub(crate) fn add(&mut self, engine: &impl Engine, label: LabelId, bytes: &[u8]) -> EdgeValue {
        match engine.embeds_record(label, bytes.len()) {
            true => kept_in(&mut self.embedded, bytes),
            false => self.add_piece(bytes),
        }
    }

    /// Makes a record with memory of its own, whatever the engine; what stands for it.
    fn add_piece(&mut self, bytes: &[u8]) -> EdgeValue {
        kept_in(&mut self.new, bytes)
    }

    /// By how many bytes the records of the newest state grow.
    pub(crate) fn growth(&self) -> isize {
        let new: usize = self.new.iter().map(OwnedRecord::memory_bytes).sum();
        new as isize - self.superseded_bytes as isize
    }

    /// The record that an edge [was found](Records::find) to have is replaced, or goes with its edge.
    pub(crate) fn supersede(&mut self, found: Found<'_>) {
        if !is_embedded(found.value) {
            self.superseded.push(found.value);
            self.superseded_bytes += heap::memory_bytes(found.bytes.len());
        }
    }
}

/// An engine that keeps copies of short records; it is new.
pub(crate) fn embedded_in(engine: Tel) -> Tel {
    // SAFETY: nothing is in it. Values of edges of labels that have records come from `RecordChanges` alone, which is kept until its changes
    // are applied or dropped, and lets the longer records go then, to be freed when nobody reads them.
    unsafe { engine.embedding_records(|record, property| time_in(record, property).unwrap_or_default()) }
}

/// A new record among others; what stands for it.
fn kept_in(records: &mut Vec<OwnedRecord>, bytes: &[u8]) -> EdgeValue {
    let record = OwnedRecord::new(bytes);
    let value = record.value();
    records.push(record);
    value
}

/// A record that an edge was found to have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found<'v> {
    value: EdgeValue,
    /// The record, encoded.
    pub(crate) bytes: &'v [u8],
}

impl Found<'_> {
    /// The record.
    pub(crate) fn record(&self) -> Result<Record, Reason> {
        decoded(self.bytes)
    }
}

/// How many records further on are asked for while one is read: their waits for memory overlap.
const AHEAD: usize = 8;

/// Asks the processor for the record some way behind the `position`-th of these handles, which are read one after the other.
#[inline]
pub(crate) fn prefetch_behind<W: Column>(handles: &[W], position: usize) {
    if W::TYPE == ColumnType::Record
        && let Some(handle) = handles.get(position + AHEAD)
    {
        record_memory::prefetch(handle.to_bits());
    }
}

/// Visits things that have handles of records, one after the other, each some way behind those that the processor was asked for.
pub(crate) fn each_fetched_ahead<T, E>(
    items: &[T],
    handle: impl Fn(&T) -> EdgeValue,
    mut visit: impl FnMut(&T) -> Result<(), E>,
) -> Result<(), E> {
    items.iter().take(AHEAD).for_each(|item| record_memory::prefetch(handle(item)));
    items.iter().enumerate().try_for_each(|(position, item)| {
        items.get(position + AHEAD).into_iter().for_each(|item| record_memory::prefetch(handle(item)));
        visit(item)
    })
}

/// The record that bytes in memory stand for.
pub(crate) fn decoded(bytes: &[u8]) -> Result<Record, Reason> {
    decode_record(bytes).map_err(|error| read_failed(ReadError::new("the record of an edge", error)))
}

/// One value of the record that bytes in memory stand for.
pub(crate) fn decoded_value(bytes: &[u8], position: usize) -> Result<ValueRef<'_>, Reason> {
    decode_record_value(bytes, position)
        .map_err(|error| read_failed(ReadError::new("the record of an edge", error)))
}

/// The time that a property of an encoded record says.
pub(crate) fn time_in(record: &[u8], position: usize) -> Result<Option<i64>, Reason> {
    decoded_value(record, position).map(|value| match value {
        ValueRef::Timestamp(time) | ValueRef::I64(time) => Some(time),
        _ => None,
    })
}

/// The changes of parallel edges that a record of the log stands for, or the edges themselves, of a checkpoint; what is wrong if
/// the records of some are not of the schema.
pub(crate) fn checked_differences(schema: &RecordSchema, record: &[u8]) -> Result<Vec<Difference>, String> {
    let list = list_of_record(record).map_err(|error| error.to_string())?;
    let checked = EdgeList::new(list).map(|edge| {
        let (key, record) = edge.map_err(|error| error.to_string())?;
        record.map_or(Ok(()), |record| check_encoded(schema, record))?;
        Ok((key, record.map(<[u8]>::to_vec)))
    });
    checked.collect()
}

/// Whether bytes are a record of a schema; what is wrong if not.
pub(crate) fn check_encoded(schema: &RecordSchema, bytes: &[u8]) -> Result<(), String> {
    let record = decode_record(bytes).map_err(|error| error.to_string())?;
    schema.check(&record).map_err(|error| error.to_string())
}

impl Records {
    pub(crate) fn new(catalogue: Arc<Catalogue>, topology: Topology) -> Self {
        let degrees = ParallelDegrees::new(&catalogue, topology);
        Records { catalogue, degrees, garbage: Garbage::default(), memory: Memory::default() }
    }

    /// The schema of the records of a label; `None` if its edges have none.
    pub(crate) fn schema(&self, label: LabelId) -> Option<&RecordSchema> {
        self.catalogue.label(label)?.edges.record()
    }

    /// Whether edges of a label may be parallel.
    pub(crate) fn are_parallel(&self, label: LabelId) -> bool {
        self.catalogue.label(label).is_some_and(|schema| schema.edges.key().is_some())
    }

    /// The parallel edges of a label from one vertex to another, in a view of this graph. As [`Cursor::find`].
    ///
    /// No engine has copies of those.
    pub(crate) fn find_parallel<'v, V: GraphView>(
        &self,
        view: &'v V,
        label: LabelId,
        from: VertexId,
        to: VertexId,
    ) -> Result<Option<ParallelEdges<'v>>, Reason> {
        debug_assert!(self.are_parallel(label));
        let adjacency = view.adjacency::<RecordHandle>(label, Direction::Out)?;
        let handle = adjacency.cursor().find(from, to).map_err(read_failed)?;
        // SAFETY: the value of an edge in a view, which is alive for `'v`: see `Records`.
        Ok(handle.map(|handle| unsafe { ParallelEdges::behind(handle.to_bits()) }))
    }

    /// How many edges a vertex has over a label whose edges may be parallel, in a view of this graph; `None` if that was changed later and
    /// has to be counted. O(1).
    pub(crate) fn parallel_degree(
        &self,
        view: &impl GraphView,
        label: LabelId,
        direction: Direction,
        vertex: VertexId,
    ) -> Option<u64> {
        self.degrees.read(label, direction, vertex, view.timestamp())
    }

    /// The record of an edge of a label that has records, in a view of this graph. As [`Cursor::find`].
    pub(crate) fn find<'v, V: GraphView>(
        &self,
        (view, _guard): (&'v V, &'v Guard),
        label: LabelId,
        from: VertexId,
        to: VertexId,
    ) -> Result<Option<Found<'v>>, Reason> {
        debug_assert!(self.schema(label).is_some());
        let adjacency = view.adjacency::<RecordHandle>(label, Direction::Out)?;
        let handle = adjacency.cursor().find(from, to).map_err(read_failed)?;
        Ok(handle.map(|handle| {
            let value = handle.to_bits();
            // SAFETY: the value of an edge in a view, which is alive and pinned for `'v`: see `Records`.
            Found { value, bytes: unsafe { heap::bytes(value) } }
        }))
    }

    /// Makes room for what a commit counts, so that nothing is allocated once it has its stamp.
    pub(crate) fn reserve(&self, changes: &RecordChanges) {
        changes.pairs.iter().for_each(|(pair, _)| self.degrees.reserve(*pair));
    }

    /// Lets new records go, which edges have got at the stamp, and files those that they have no more. The engine has applied the changes:
    /// where it has copies, it needs the originals no more.
    pub(crate) fn apply(&self, stamp: Stamp, changes: RecordChanges) {
        let mut memory = MemoryChange::default();
        for record in changes.new {
            record.set_born(stamp.at());
            memory.live += record.memory_bytes() as isize;
            record.let_go();
        }
        let mut kept = SmallVec::new();
        for value in changes.superseded {
            // SAFETY: it was the value of an edge that this commit changed under its lock, so that nobody else takes it back. It
            // is let go again below if anybody may read it.
            let record = unsafe { OwnedRecord::take_back(value) };
            let (born, bytes) = (record.born(), record.memory_bytes());
            memory.live -= bytes as isize;
            if born < stamp.editable_from() {
                memory.retained += bytes as isize;
                let place = Kept { value: record.let_go(), bytes };
                kept.push(Superseded { place, born, superseded: stamp.at() });
            }
            // Otherwise nobody can see it, nor will, by the contract of `Stamp`: it is freed.
        }
        self.memory.add(memory);
        self.garbage.file(stamp.newest_registered(), kept);
        changes.pairs.into_iter().for_each(|(pair, net)| self.degrees.change(stamp.at(), pair, net));
    }

    /// Frees records that nobody sees any more, until about `budget_bytes` are free.
    pub(crate) fn reclaim(&self, live: &LiveTimestamps, budget_bytes: usize) -> Reclaimed {
        reclaim_unlocked(&self.garbage, live, budget_bytes, |Kept { value, bytes }| {
            self.memory.add(MemoryChange { live: 0, retained: -(bytes as isize) });
            // SAFETY: it was let go when it was filed, with the lifetime within which an edge had it. No timestamp within is read or
            // will be, and it came out of the garbage once.
            drop(unsafe { OwnedRecord::take_back(value) });
            bytes
        })
    }

    /// Adds the bytes that each timestamp keeps.
    pub(crate) fn add_retained(&self, retained: &mut BTreeMap<Timestamp, usize>) {
        for (holder, kept) in self.garbage.buckets() {
            *retained.entry(holder).or_default() += kept.iter().map(|kept| kept.place.bytes).sum::<usize>();
        }
    }

    /// Bytes of records that edges have no more.
    pub(crate) fn retained_bytes(&self) -> usize {
        self.memory.used().retained_bytes
    }

    /// Adds what records take.
    pub(crate) fn add_memory(&self, memory: &mut MemoryUse) {
        let used = self.memory.used();
        memory.index_bytes += self.degrees.bytes();
        memory.live_bytes += used.live_bytes;
        memory.retained_bytes += used.retained_bytes;
    }
}

/// Records that do not go while `'k` lasts, for the log and for checkpoints: those that a commit puts, or those that a view shows. It
/// is asked for the values of that commit, or of that view.
///
/// What lies in an engine's memory is kept by a guard, or by the cursor that handed the value over just now.
pub(crate) struct KeptAlive<'k> {
    records: &'k Records,
    /// Of parallel edges, what a commit changes; `None` if all are asked for.
    logged: Option<&'k HashMap<u64, Vec<u8>>>,
    _by: PhantomData<&'k ()>,
}

impl RecordChanges {
    /// The new records of edges whose labels `records` knows.
    pub(crate) fn for_log<'k>(&'k self, records: &'k Records) -> KeptAlive<'k> {
        KeptAlive { records, logged: Some(&self.logged), _by: PhantomData }
    }
}

impl Records {
    /// The records of the edges that a view of this graph shows from now on.
    pub(crate) fn seen_by<'k, V: GraphView>(&'k self, _view: &'k V, _guard: &'k Guard) -> KeptAlive<'k> {
        KeptAlive { records: self, logged: None, _by: PhantomData }
    }

    /// The same for a scan that asks for each before its cursor goes on, on any thread.
    pub(crate) fn scanned_in<'k, V: GraphView>(&'k self, _view: &'k V) -> KeptAlive<'k> {
        KeptAlive { records: self, logged: None, _by: PhantomData }
    }
}

impl<'k> KeptAlive<'k> {
    /// The records of a label that has one on each edge.
    pub(crate) fn one_each(&self, label: LabelId) -> Option<OneEach<'k>> {
        let has_one = self.records.schema(label).is_some() && !self.records.are_parallel(label);
        has_one.then_some(OneEach(PhantomData))
    }

    /// The record of an edge of such a label, encoded.
    pub(crate) fn one(&self, label: LabelId, value: EdgeValue) -> Option<&'k [u8]> {
        Some(self.one_each(label)?.record(value))
    }

    /// The parallel edges of a label whose edges may be such.
    pub(crate) fn parallel(&self, label: LabelId, value: EdgeValue) -> Option<ParallelEdges<'k>> {
        // SAFETY: as above.
        self.records.are_parallel(label).then(|| unsafe { ParallelEdges::behind(value) })
    }
}

/// As [`KeptAlive`], of a label that has a record on each edge: for those who read many, and look once which label it is.
#[derive(Clone, Copy)]
pub(crate) struct OneEach<'k>(PhantomData<&'k ()>);

impl<'k> OneEach<'k> {
    /// The record of an edge of the label, encoded.
    #[inline]
    pub(crate) fn record(self, value: EdgeValue) -> &'k [u8] {
        // SAFETY: the value of a change that is about to be made, whose `RecordChanges` own the record, or of an edge in a view, which
        // is alive, and pinned or lent by a cursor: see `Records`.
        unsafe { heap::bytes(value) }
    }
}

impl EdgeRecords for KeptAlive<'_> {
    fn record(&self, label: LabelId, value: EdgeValue) -> Option<Cow<'_, [u8]>> {
        match (self.parallel(label, value), self.logged) {
            (None, _) => self.one(label, value).map(Cow::Borrowed),
            (Some(edges), None) => Some(Cow::Owned(list_as_record(&edges.to_list()))),
            (Some(_), Some(logged)) => logged.get(&value.0).map(|list| Cow::Owned(list_as_record(list))),
        }
    }
}
