//! A vertex: its existence, its record, and the versions of both.

use super::garbage::Superseded;
use super::version::{Begin, History, Version};
use hedgerow_in_memory::reclamation::MemoryChange;
use hedgerow_model::token::Stamp;
use hedgerow_model::{CommitTimestamp, Record, VertexChange};

/// A vertex with all versions that may be visible.
pub(super) struct VertexCell {
    begin: Begin,
    /// Empty while the vertex does not exist.
    record: Record,
    older: History<Record>,
}

impl Default for VertexCell {
    fn default() -> Self {
        VertexCell { begin: Begin::NEVER, record: Record::EMPTY, older: History::NONE }
    }
}

impl VertexCell {
    /// Returns the record at `at`; `None` if the vertex does not exist then. O(versions newer than
    /// `at`).
    pub(super) fn record(&self, at: CommitTimestamp) -> Option<&Record> {
        if self.begin.shows_at(at) {
            return Some(&self.record);
        }
        self.older.at(at).filter(|_| self.begin.at() > at)
    }

    /// Returns the number of bytes by which a change grows the newest state; `None` if it makes no
    /// difference.
    pub(super) fn growth(&self, change: &VertexChange) -> Option<isize> {
        let (exists, record) = parts(change);
        let same = self.begin.exists() == exists && is_same(&self.record, record);
        (!same).then(|| record.heap_bytes() as isize - self.record.heap_bytes() as isize)
    }

    /// Makes a change at a stamp. Returns the birth of the superseded version, if it is kept.
    pub(super) fn apply(
        &mut self,
        change: &VertexChange,
        stamp: Stamp,
    ) -> (MemoryChange, Option<CommitTimestamp>) {
        let (exists, record) = parts(change);
        let old = std::mem::replace(&mut self.record, record.clone());
        let live = self.record.heap_bytes() as isize - old.heap_bytes() as isize;
        let mut memory = MemoryChange { live, retained: 0 };
        let born = self.begin.at();
        // An object that never existed needs no version, and an invisible version is overwritten.
        let kept = (self.begin != Begin::NEVER && born < stamp.editable_from()).then_some(born);
        if kept.is_some() {
            memory.retained = version_bytes(&old) as isize;
            self.older.push(self.begin, old);
        }
        self.begin = Begin::new(stamp.at(), exists);
        self.forget_deletion();
        (memory, kept)
    }

    /// Frees superseded versions by their births, which descend. Returns their bytes. O(versions
    /// newer than the last).
    pub(super) fn remove_versions(
        &mut self,
        births: impl ExactSizeIterator<Item = CommitTimestamp>,
    ) -> usize {
        let count = births.len();
        let removed = self.older.remove(births);
        assert_eq!(removed.len(), count, "a filed version is linked");
        self.forget_deletion();
        removed.iter().map(version_bytes).sum()
    }

    /// Returns the bytes that the superseded version born at `born` retains; 0 if it is gone.
    pub(super) fn retained_bytes(&self, born: CommitTimestamp) -> usize {
        self.older.born_at(born).map_or(0, version_bytes)
    }

    /// Recounts by a walk the bytes that [`MemoryChange`] counts step by step.
    pub(super) fn count_bytes(&self) -> MemoryChange {
        let retained: usize = self.older.states().map(version_bytes).sum();
        MemoryChange { live: self.record.heap_bytes() as isize, retained: retained as isize }
    }

    /// Resets the vertex to never having existed if it is deleted and there are no older versions.
    fn forget_deletion(&mut self) {
        if !self.begin.exists() && self.older.is_empty() {
            self.begin = Begin::NEVER;
        }
    }
}

/// Returns the bytes of a superseded version and of the note that files it.
fn version_bytes(record: &Record) -> usize {
    size_of::<Version<Record>>() + size_of::<Superseded>() + record.heap_bytes()
}

fn parts(change: &VertexChange) -> (bool, &Record) {
    match change {
        VertexChange::Put(record) => (true, record),
        VertexChange::Delete => (false, &Record::EMPTY),
    }
}

/// Returns true if two records are the same object. Values are not compared, because 0.0 equals
/// -0.0.
fn is_same(one: &Record, other: &Record) -> bool {
    std::ptr::eq(one.values(), other.values()) || one.is_empty() && other.is_empty()
}
