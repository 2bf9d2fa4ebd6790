//! Which vertices of a partition exist, and their records.

use crate::chain::Content;
use crate::partition::{PARTITION_SIZE, slot_of, slots_of};
use hedgerow_model::{Record, VertexChange, VertexEffect};

type Records = [Record; PARTITION_SIZE];

/// The vertices of one partition. Never changed once published.
#[derive(Clone, Default)]
pub(crate) struct VertexBlock {
    /// A bit for each vertex that exists.
    present: u64,
    /// The records; none as long as all are empty.
    records: Option<Box<Records>>,
}

impl VertexBlock {
    /// The block after `changes`, which lie in its partition; `None` if they change nothing.
    pub(crate) fn merged(old: Option<&VertexBlock>, changes: &[VertexEffect]) -> Option<VertexBlock> {
        let mut new = old.cloned().unwrap_or_default();
        let mut changed = false;
        for effect in changes {
            changed |= new.change(slot_of(effect.vertex), &effect.change);
        }
        changed.then_some(new)
    }

    fn change(&mut self, slot: usize, change: &VertexChange) -> bool {
        let (existed, exists, record) = match change {
            VertexChange::Put(record) => (self.exists(slot), true, record),
            VertexChange::Delete => (self.exists(slot), false, &Record::EMPTY),
        };
        if existed == exists && is_same(self.record(slot), record) {
            return false;
        }
        self.present = self.present & !(1 << slot) | u64::from(exists) << slot;
        if self.records.is_some() || !record.is_empty() {
            self.records.get_or_insert_with(no_records)[slot] = record.clone();
        }
        true
    }

    /// Whether the vertex at `slot` exists.
    #[inline]
    pub(crate) fn exists(&self, slot: usize) -> bool {
        self.present >> slot & 1 == 1
    }

    /// A bit for each vertex that exists.
    #[inline]
    pub(crate) fn present(&self) -> u64 {
        self.present
    }

    /// The record of the vertex at `slot`; the empty one if it has none or does not exist.
    pub(crate) fn record(&self, slot: usize) -> &Record {
        self.records.as_ref().map_or(&Record::EMPTY, |records| &records[slot])
    }
}

impl Content for VertexBlock {
    fn heap_bytes(&self) -> usize {
        let Some(records) = &self.records else { return 0 };
        size_of::<Records>() + records.iter().map(Record::heap_bytes).sum::<usize>()
    }

    fn shared_bytes(&self, newer: &Self) -> usize {
        let shared = |slot: &usize| is_same(self.record(*slot), newer.record(*slot));
        slots_of(u64::MAX).filter(shared).map(|slot| self.record(slot).heap_bytes()).sum()
    }
}

fn no_records() -> Box<Records> {
    Box::new([Record::EMPTY; PARTITION_SIZE])
}

/// Whether two records are one and the same. Equality of their values would not do: 0.0 equals -0.0.
fn is_same(one: &Record, other: &Record) -> bool {
    std::ptr::eq(one.values(), other.values()) || one.is_empty() && other.is_empty()
}
