//! Storage for the edge records of in-memory engines.
//!
//! A record has memory of its own; the engine stores a handle with the edge, like any other value,
//! in one or both entries of the edge. Alternatively, an engine may *embed* copies of short records
//! in its own memory ([`memory`]): the copies are versioned with its entries, and their readers are
//! pinned.
//!
//! A record never changes. A commit that changes an edge's record allocates a new one, and files
//! the old one with its lifetime, from the commit that put it to the commit that replaced it. The
//! old record is freed once no timestamp within its lifetime is live, through the same garbage
//! lists as an engine's versions ([`Garbage`]). Freeing needs no lock: only versions that had the
//! record point to it, and those are not read any more either.
//!
//! An engine has a [`RecordHeap`]: it [stages](RecordHeap::stage) effects, whose records are bytes,
//! into changes of handles, and [applies](RecordHeap::apply) the changes of records. [`HeapCursor`]
//! lends the bytes behind the handles that a cursor of the engine reads. Handles do not leave the
//! engine.

mod cursor;
mod heap;
pub mod memory;
mod parallel;
mod stage;

pub use cursor::{HandleCursor, HeapCursor};
pub use parallel::HeapParallel;
pub use stage::{StagedAdjacencies, StagedEffects};

use crate::reclamation::{Garbage, Memory, MemoryChange, Superseded, reclaim_unlocked};
use heap::{OwnedRecord, RecordPieces};
use hedgerow_model::token::{LiveTimestamps, Stamp};
use hedgerow_model::{
    Catalog, CommitTimestamp, EdgeSchema, EdgeValue, LabelId, LabelSchema, MemoryUse, Reclaimed, Topology,
};
use hedgerow_sync::GrowingList;
use memory::is_embedded;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// The records of the edges of one graph.
///
/// Safe functions of this crate rely on the following: in an engine that stages its effects here,
/// the value of an edge is a handle if the edge's label has records. The handle points to a record
/// that [`RecordHeap::apply`] kept at the edge's commit, which is freed once no timestamp that sees
/// the edge is read any more; or to a copy that the engine embedded, which stays while any thread
/// that was pinned when it read the handle stays pinned.
pub struct RecordHeap {
    /// The form of each label's records, by label number.
    labels: GrowingList<Option<Form>>,
    topology: Topology,
    pieces: RecordPieces,
    garbage: Garbage<KeptRecord>,
    memory: Memory,
}

/// Form of a label's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// One record per edge.
    One,
    /// Any number of edges between two vertices, identified by their keys.
    Parallel,
}

impl Form {
    /// Returns the form of the records of edges, if they have any.
    fn of(edges: &EdgeSchema) -> Option<Self> {
        match edges {
            EdgeSchema::Record(_) => Some(Form::One),
            EdgeSchema::Parallel(_) => Some(Form::Parallel),
            EdgeSchema::Topology | EdgeSchema::Value(_) => None,
        }
    }
}

/// A superseded record, kept for snapshots.
#[derive(Clone, Copy, Debug)]
struct KeptRecord {
    value: EdgeValue,
    bytes: usize,
}

/// The changes of records in a commit. Dropping it changes nothing.
#[derive(Debug, Default)]
pub struct RecordChanges {
    /// Records put by the commit: usually one.
    new: SmallVec<[OwnedRecord; 2]>,
    /// Records replaced or deleted by the commit.
    superseded: SmallVec<[EdgeValue; 2]>,
    /// Bytes that the newest state loses.
    superseded_bytes: usize,
}

impl RecordChanges {
    /// Returns the number of bytes by which the records of the newest state grow.
    #[must_use]
    pub fn growth(&self) -> isize {
        let new: usize = self.new.iter().map(OwnedRecord::memory_bytes).sum();
        new as isize - self.superseded_bytes as isize
    }

    /// Allocates a record. Returns its value.
    fn add(&mut self, bytes: &[u8]) -> EdgeValue {
        let record = OwnedRecord::new(bytes);
        let value = record.value();
        self.new.push(record);
        value
    }

    /// Marks the record of an edge as replaced, or as deleted with its edge.
    fn supersede(&mut self, value: EdgeValue, bytes: &[u8]) {
        if !is_embedded(value) {
            self.superseded.push(value);
            self.superseded_bytes += heap::memory_bytes(bytes.len());
        }
    }
}

impl RecordHeap {
    /// The heap of an empty graph.
    #[must_use]
    pub fn new(catalog: &Catalog, topology: Topology) -> Self {
        let labels = catalog.labels().iter().map(|label| Form::of(&label.edges)).collect();
        let labels = GrowingList::new(labels);
        let (pieces, garbage, memory) = Default::default();
        RecordHeap { labels, topology, pieces, garbage, memory }
    }

    /// Adds a label. Calls must not be concurrent.
    pub fn add_label(&self, label: &LabelSchema) {
        self.labels.push(Form::of(&label.edges));
    }

    fn form(&self, label: LabelId) -> Option<Form> {
        self.labels.get(label.index()).copied().flatten()
    }

    /// Returns true if the edges of a label have records.
    #[inline]
    #[must_use]
    pub fn has_records(&self, label: LabelId) -> bool {
        self.form(label).is_some()
    }

    /// Keeps the new records, with the stamp as their birth, and files the replaced ones. The
    /// engine has applied the changes, and no longer needs the originals of records that it embeds.
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
            // SAFETY: it was the value of an edge that this commit changed under its lock, so no
            // other thread takes it. It is kept again below if a reader may see it.
            let record = unsafe { self.pieces.take(value) };
            let (born, bytes) = (record.born(), record.memory_bytes());
            memory.live -= bytes as isize;
            if born < stamp.editable_from() {
                memory.retained += bytes as isize;
                let place = KeptRecord { value: self.pieces.keep(record), bytes };
                kept.push(Superseded { place, born, superseded: stamp.at() });
            }
            // Otherwise no reader sees the record, now or later, by the contract of `Stamp`: it is
            // freed.
        }
        self.memory.add(memory);
        self.garbage.file(stamp.newest_registered(), kept);
    }

    /// Frees invisible records, until about `budget_bytes` are freed.
    pub fn reclaim(&self, live: &LiveTimestamps, budget_bytes: usize) -> Reclaimed {
        reclaim_unlocked(&self.garbage, live, budget_bytes, |KeptRecord { value, bytes }| {
            self.memory.add(MemoryChange { live: 0, retained: -(bytes as isize) });
            // SAFETY: the record was kept when it was filed, with the lifetime within which an edge
            // had it. No timestamp within that lifetime is read or will be, and the record left the
            // garbage once.
            drop(unsafe { self.pieces.take(value) });
            bytes
        })
    }

    /// Continues the engine's reclamation within the same budget.
    pub fn reclaim_after(&self, reclaimed: &mut Reclaimed, live: &LiveTimestamps, budget_bytes: usize) {
        if reclaimed.bytes < budget_bytes {
            let records = self.reclaim(live, budget_bytes - reclaimed.bytes);
            reclaimed.versions += records.versions;
            reclaimed.bytes += records.bytes;
            reclaimed.more |= records.more;
        } else {
            reclaimed.more |= self.garbage.has_expired(live);
        }
    }

    /// Adds the bytes of records that each timestamp retains to the bytes that the engine reports.
    pub fn add_retained(&self, retained: &mut Vec<(CommitTimestamp, usize)>) {
        let buckets = self.garbage.buckets();
        if buckets.is_empty() {
            return;
        }
        let mut all: BTreeMap<CommitTimestamp, usize> = retained.drain(..).collect();
        for (holder, kept) in buckets {
            *all.entry(holder).or_default() += kept.iter().map(|kept| kept.place.bytes).sum::<usize>();
        }
        retained.extend(all);
    }

    /// The memory use of the records. O(1).
    #[must_use]
    pub fn memory(&self) -> MemoryUse {
        self.memory.used()
    }
}
