//! Where engines in memory keep the records of edges.
//!
//! A record lies in memory of its own; beside its edge an engine keeps a handle, as it keeps any other value, in one entry of the
//! edge or in both. An engine may *embed* copies of short records in memory of its own instead ([`memory`]): those are versions of its entries, and
//! whoever reads them is pinned.
//!
//! A record never changes. A commit that changes what lies on an edge makes a new one, and files the old one with its lifetime,
//! from the commit that put it up to its own. It is freed when no timestamp within is read any more: by the same reasoning as a
//! version of an engine, and by the same filing ([`Garbage`]). No lock is needed for that, since nothing leads to the record but the
//! versions that had it, which nobody reads then either.
//!
//! [`RecordHeap`] is what an engine has: it [stages](RecordHeap::stage) effects, whose records are bytes, into changes of handles, and
//! [applies](RecordHeap::apply) what becomes of the records. [`HeapCursor`] lends the bytes behind the handles that a cursor of the engine reads. Handles do not
//! leave the engine.

mod cursor;
mod heap;
pub mod memory;
mod parallel;
mod stage;

pub use cursor::{HandleCursor, HeapCursor, HeapNewest};
pub use parallel::HeapParallel;
pub use stage::{StagedAdjacencies, StagedEffects};

use heap::{OwnedRecord, Pieces};
use hedgerow_model::token::{LiveTimestamps, Stamp};
use hedgerow_model::{Catalog, EdgeSchema, EdgeValue, LabelId, MemoryUse, Reclaimed, Timestamp, Topology};
use hedgerow_reclamation::{Garbage, Memory, MemoryChange, Superseded, reclaim_unlocked};
use memory::is_embedded;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// The records of the edges of one graph.
///
/// Safe functions of this crate rest on this: in an engine that stages its effects here, the value of an edge of a label with records is the handle of a
/// record which [`RecordHeap::apply`] kept at the edge's commit, and freed when no timestamp that sees the edge is read any more; or of a copy which
/// the engine embedded, and keeps as long as a thread that was pinned when it read the handle.
pub struct RecordHeap {
    /// Which labels have records, by number.
    labels: Vec<Option<Form>>,
    topology: Topology,
    pieces: Pieces,
    garbage: Garbage<Kept>,
    memory: Memory,
}

/// What lies on the edges of a label that has records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// A record on each.
    One,
    /// Between two vertices any number of edges, which are told apart by their keys.
    Parallel,
}

/// A record that an edge has no more, kept for snapshots.
#[derive(Clone, Copy, Debug)]
struct Kept {
    value: EdgeValue,
    bytes: usize,
}

/// What a commit does to records. Dropping it changes nothing.
#[derive(Debug, Default)]
pub struct RecordChanges {
    /// What lies on edges from now on. Most commits put one record.
    new: SmallVec<[OwnedRecord; 2]>,
    /// What lay on edges until now.
    superseded: SmallVec<[EdgeValue; 2]>,
    /// What the newest state loses.
    superseded_bytes: usize,
}

impl RecordChanges {
    /// By how many bytes the records of the newest state grow.
    #[must_use]
    pub fn growth(&self) -> isize {
        let new: usize = self.new.iter().map(OwnedRecord::memory_bytes).sum();
        new as isize - self.superseded_bytes as isize
    }

    /// Makes a record with memory of its own; what stands for it.
    fn add(&mut self, bytes: &[u8]) -> EdgeValue {
        let record = OwnedRecord::new(bytes);
        let value = record.value();
        self.new.push(record);
        value
    }

    /// The record that an edge was found to have is replaced, or goes with its edge.
    fn supersede(&mut self, value: EdgeValue, bytes: &[u8]) {
        if !is_embedded(value) {
            self.superseded.push(value);
            self.superseded_bytes += heap::memory_bytes(bytes.len());
        }
    }
}

impl RecordHeap {
    /// Of an empty graph.
    #[must_use]
    pub fn new(catalog: &Catalog, topology: Topology) -> Self {
        let form = |edges: &EdgeSchema| match edges {
            EdgeSchema::Record(_) => Some(Form::One),
            EdgeSchema::Parallel(_) => Some(Form::Parallel),
            EdgeSchema::Topology | EdgeSchema::Value(_) => None,
        };
        let labels = catalog.labels().iter().map(|label| form(&label.edges)).collect();
        let (pieces, garbage, memory) = Default::default();
        RecordHeap { labels, topology, pieces, garbage, memory }
    }

    fn form(&self, label: LabelId) -> Option<Form> {
        self.labels.get(label.index()).copied().flatten()
    }

    /// Whether the edges of a label have records.
    #[inline]
    #[must_use]
    pub fn has_records(&self, label: LabelId) -> bool {
        self.form(label).is_some()
    }

    /// Keeps new records, which edges have got at the stamp, and files those that they have no more. The engine has applied the changes:
    /// where it has copies, it needs the originals no more.
    pub fn apply(&self, stamp: Stamp, changes: RecordChanges) {
        if changes.new.is_empty() && changes.superseded.is_empty() {
            return;
        }
        let mut memory = MemoryChange::default();
        for record in changes.new {
            record.set_born(stamp.at());
            memory.live += record.memory_bytes() as isize;
            self.pieces.keep(record);
        }
        let mut kept = SmallVec::new();
        for value in changes.superseded {
            // SAFETY: it was the value of an edge that this commit changed under its lock, so that nobody else takes it. It
            // is kept again below if anybody may read it.
            let record = unsafe { self.pieces.take(value) };
            let (born, bytes) = (record.born(), record.memory_bytes());
            memory.live -= bytes as isize;
            if born < stamp.editable_from() {
                memory.retained += bytes as isize;
                let place = Kept { value: self.pieces.keep(record), bytes };
                kept.push(Superseded { place, born, superseded: stamp.at() });
            }
            // Otherwise nobody can see it, nor will, by the contract of `Stamp`: it is freed.
        }
        self.memory.add(memory);
        self.garbage.file(stamp.newest_registered(), kept);
    }

    /// Frees records that nobody sees any more, until about `budget_bytes` are free.
    pub fn reclaim(&self, live: &LiveTimestamps, budget_bytes: usize) -> Reclaimed {
        reclaim_unlocked(&self.garbage, live, budget_bytes, |Kept { value, bytes }| {
            self.memory.add(MemoryChange { live: 0, retained: -(bytes as isize) });
            // SAFETY: it was kept when it was filed, with the lifetime within which an edge had it. No timestamp within is read or
            // will be, and it came out of the garbage once.
            drop(unsafe { self.pieces.take(value) });
            bytes
        })
    }

    /// Continues a reclamation of the engine, up to the same budget.
    pub fn reclaim_after(&self, reclaimed: &mut Reclaimed, live: &LiveTimestamps, budget_bytes: usize) {
        if reclaimed.bytes < budget_bytes {
            let records = self.reclaim(live, budget_bytes - reclaimed.bytes);
            reclaimed.versions += records.versions;
            reclaimed.bytes += records.bytes;
            reclaimed.more |= records.more;
        }
    }

    /// Adds the bytes that each timestamp keeps to those of the engine.
    pub fn add_retained(&self, retained: &mut Vec<(Timestamp, usize)>) {
        let buckets = self.garbage.buckets();
        if buckets.is_empty() {
            return;
        }
        let mut all: BTreeMap<Timestamp, usize> = retained.drain(..).collect();
        for (holder, kept) in buckets {
            *all.entry(holder).or_default() += kept.iter().map(|kept| kept.place.bytes).sum::<usize>();
        }
        retained.extend(all);
    }

    /// What records take. O(1).
    #[must_use]
    pub fn memory(&self) -> MemoryUse {
        self.memory.used()
    }
}
