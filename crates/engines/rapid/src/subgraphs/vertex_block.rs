//! Existence and records of the vertices of a partition.

use crate::subgraphs::container::ChangePlan;
use crate::subgraphs::owned::{Content, Owned};
use crate::subgraphs::partition::{PARTITION_SIZE, slot_of, slots_of};
use hedgerow_in_memory::reclamation::account;
use hedgerow_model::{Record, VertexChange, VertexEffect};
use hedgerow_sync::Arc;

type Records = [Option<Arc<SharedRecord>>; PARTITION_SIZE];

/// Existence and records of the vertices of one partition.
#[derive(Clone, Default)]
pub(crate) struct VertexBlock {
    /// One bit per vertex that exists.
    present: u64,
    /// The records that are not empty; `None` while all are empty.
    records: Option<Box<Records>>,
    /// The total bytes of the records.
    record_bytes: usize,
}

/// A record, included in the memory account until the last version drops it.
struct SharedRecord(Record);

impl SharedRecord {
    fn new(record: Record) -> Arc<Self> {
        let stored = Arc::new(SharedRecord(record));
        account::allocated(stored.bytes());
        stored
    }

    /// Includes the two reference counts.
    fn bytes(&self) -> usize {
        size_of::<Self>() + 2 * size_of::<usize>() + self.0.heap_bytes()
    }
}

impl Drop for SharedRecord {
    fn drop(&mut self) {
        account::freed(self.bytes());
    }
}

impl VertexBlock {
    /// Plans changes of `old`, which lie in one partition.
    pub(crate) fn plan(old: Option<&VertexBlock>, changes: &[VertexEffect]) -> ChangePlan<VertexBlock> {
        let empty = VertexBlock::default();
        let block = old.unwrap_or(&empty);
        if changes.iter().all(|effect| !block.differs(slot_of(effect.vertex), &effect.change)) {
            return ChangePlan::Nothing;
        }
        if old.is_some() {
            return ChangePlan::Edit;
        }
        let mut new = Owned::boxed(empty);
        VertexBlock::edit(&mut new, changes);
        ChangePlan::Replace(Some(new))
    }

    /// Returns an upper bound on the bytes by which an edit grows the block.
    pub(crate) fn growth(&self, changes: &[VertexEffect]) -> usize {
        let bytes = |effect: &VertexEffect| match &effect.change {
            VertexChange::Put(record) if !record.is_empty() => {
                size_of::<SharedRecord>() + 2 * size_of::<usize>() + record.heap_bytes()
            }
            _ => 0,
        };
        let records: usize = changes.iter().map(bytes).sum();
        let array = if records > 0 && self.records.is_none() { size_of::<Records>() } else { 0 };
        records + array
    }

    fn differs(&self, slot: usize, change: &VertexChange) -> bool {
        match change {
            VertexChange::Put(record) => !self.exists(slot) || !is_same(self.record(slot), record),
            VertexChange::Delete => self.exists(slot),
        }
    }

    fn change(&mut self, slot: usize, change: &VertexChange) {
        let (exists, record) = match change {
            VertexChange::Put(record) => (true, record),
            VertexChange::Delete => (false, &Record::EMPTY),
        };
        self.present = self.present & !(1 << slot) | u64::from(exists) << slot;
        if is_same(self.record(slot), record) {
            return;
        }
        if self.records.is_none() {
            account::allocated(size_of::<Records>());
        }
        let place = &mut self.records.get_or_insert_with(no_records)[slot];
        self.record_bytes -= place.as_ref().map_or(0, |stored| stored.bytes());
        *place = (!record.is_empty()).then(|| SharedRecord::new(record.clone()));
        self.record_bytes += place.as_ref().map_or(0, |stored| stored.bytes());
    }

    /// Returns true if the vertex at `slot` exists.
    #[inline]
    pub(crate) fn exists(&self, slot: usize) -> bool {
        self.present >> slot & 1 == 1
    }

    /// Returns the record of the vertex at `slot`; empty if the vertex has none or does not exist.
    pub(crate) fn record(&self, slot: usize) -> &Record {
        self.stored(slot).map_or(&Record::EMPTY, |stored| &stored.0)
    }

    fn stored(&self, slot: usize) -> Option<&Arc<SharedRecord>> {
        self.records.as_ref()?[slot].as_ref()
    }
}

impl Content for VertexBlock {
    type Changes<'c> = &'c [VertexEffect];

    fn copied(&self) -> Owned<Self> {
        Owned::boxed(self.clone())
    }

    fn edit(this: &mut Owned<Self>, changes: &[VertexEffect]) {
        for effect in changes {
            this.change(slot_of(effect.vertex), &effect.change);
        }
    }

    fn occupied(&self) -> u64 {
        self.present
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + self.own_heap_bytes() + self.record_bytes
    }

    fn bytes_beside(&self, newer: &Self) -> usize {
        let is_shared = |slot: &usize| match (self.stored(*slot), newer.stored(*slot)) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        };
        let shared = slots_of(u64::MAX).filter(is_shared).filter_map(|slot| self.stored(slot));
        self.bytes() - shared.map(|stored| stored.bytes()).sum::<usize>()
    }

    fn own_heap_bytes(&self) -> usize {
        if self.records.is_some() { size_of::<Records>() } else { 0 }
    }
}

fn no_records() -> Box<Records> {
    Box::new([const { None }; PARTITION_SIZE])
}

/// Returns true if both records are the same object, or both are empty. Comparing values would not
/// do: 0.0 equals -0.0.
fn is_same(one: &Record, other: &Record) -> bool {
    std::ptr::eq(one.values(), other.values()) || one.is_empty() && other.is_empty()
}
