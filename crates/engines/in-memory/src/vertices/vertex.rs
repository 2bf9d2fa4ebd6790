//! Vertices: existence, records, and the versions of both (LiveGraph, section 4, "vertex blocks").
//!
//! The slot of a vertex is empty if the vertex has no versions, holds a timestamp if its only
//! version has an empty record, and otherwise points to the newest version. Versions are copied on
//! write and linked newest first.

use crate::reclamation::{Directory, MemoryChange, account};
use crate::vertices::keeps::Keeps;
use hedgerow_model::token::Stamp;
use hedgerow_model::{CommitTimestamp, Record, VertexChange};
use hedgerow_sync::atomic::{AtomicPtr, Ordering};
use hedgerow_sync::epoch::{self, Domain, Guard};

/// Vertices per segment. The model checker's atomics are large and its graphs small.
const SEGMENT: usize = if cfg!(hedgerow_shuttle) { 4 } else { 4096 };

/// Segments per list.
const LIST: usize = if cfg!(hedgerow_shuttle) { 4 } else { 1024 };

/// Lists in a full table.
const LISTS: usize = if cfg!(hedgerow_shuttle) { 16 } else { (1 << 32) / (SEGMENT * LIST) };

/// A table with a slot for every vertex.
pub type VertexTable<const NOTE_BYTES: usize> = Directory<Vertex<NOTE_BYTES>, LISTS, LIST, SEGMENT>;

/// A tagged pointer of eight bytes: the two lowest bits give the kind of its content.
type VertexWord = AtomicPtr<u8>;

/// Tag of a slot that holds a timestamp: the vertex exists since then, with an empty record.
const INLINE: usize = 1;

/// Tag of a slot that points to a deletion.
const DELETED: usize = 2;

const TAGS: usize = INLINE | DELETED;

/// The state of a vertex from one timestamp on.
struct VertexVersion {
    since: CommitTimestamp,
    /// `None` if the vertex does not exist.
    record: Option<Record>,
    older: VertexWord,
}

impl VertexVersion {
    fn bytes(&self) -> usize {
        size_of::<VertexVersion>() + self.record.as_ref().map_or(0, Record::heap_bytes)
    }
}

/// The decoded content of a slot.
enum VertexState<'a> {
    Never,
    Inline(CommitTimestamp),
    Version(&'a VertexVersion),
}

fn inline(since: CommitTimestamp) -> *mut u8 {
    std::ptr::without_provenance_mut((since.0 as usize) << 2 | INLINE)
}

/// The version that a slot points to.
#[inline]
fn version_at(linked: *mut u8) -> *mut VertexVersion {
    linked.map_addr(|address| address & !TAGS).cast()
}

#[inline]
fn state<'a>(pointer: *mut u8, _keeps: &'a impl Keeps) -> VertexState<'a> {
    if pointer.is_null() {
        return VertexState::Never;
    }
    if pointer.addr() & INLINE != 0 {
        return VertexState::Inline(CommitTimestamp((pointer.addr() >> 2) as u64));
    }
    let version = version_at(pointer);
    epoch::check_live(version);
    // SAFETY: linked by `apply`, and not dropped while `_keeps` is borrowed.
    VertexState::Version(unsafe { &*version })
}

impl VertexState<'_> {
    fn since(&self) -> Option<CommitTimestamp> {
        match self {
            VertexState::Never => None,
            VertexState::Inline(since) => Some(*since),
            VertexState::Version(version) => Some(version.since),
        }
    }

    /// Bytes of the version.
    fn bytes(&self) -> usize {
        match self {
            VertexState::Version(version) => version.bytes(),
            _ => 0,
        }
    }

    fn record(&self) -> Option<&Record> {
        match self {
            VertexState::Never => None,
            VertexState::Inline(_) => Some(&Record::EMPTY),
            VertexState::Version(version) => version.record.as_ref(),
        }
    }

    fn older(&self) -> *mut u8 {
        match self {
            VertexState::Version(version) => version.older.load(Ordering::Acquire),
            _ => std::ptr::null_mut(),
        }
    }
}

/// A vertex in a slot of eight bytes: its existence, its record, and the versions of both.
///
/// An engine files each superseded version ([`Garbage`](crate::reclamation::Garbage)) in a note
/// of `NOTE_BYTES` bytes, which is counted with the version.
#[derive(Debug, Default)]
pub struct Vertex<const NOTE_BYTES: usize>(VertexWord);

impl<const NOTE_BYTES: usize> Vertex<NOTE_BYTES> {
    /// Returns true if the vertex exists in the newest state. O(1), without following a pointer.
    #[inline]
    #[must_use]
    pub fn exists_now(&self) -> bool {
        let pointer = self.0.load(Ordering::Acquire);
        !pointer.is_null() && pointer.addr() & DELETED == 0
    }

    /// Returns the vertex's record at a timestamp, or `None` if the vertex does not exist then.
    /// O(newer versions).
    #[inline]
    #[must_use]
    pub fn record(&self, at: CommitTimestamp, keeps: &impl Keeps) -> Option<Record> {
        self.with_record(at, keeps, Record::clone)
    }

    /// Returns true if the vertex exists at a timestamp. Pins the graph's domain only to follow a
    /// pointer. O(newer versions).
    #[inline]
    #[must_use]
    pub fn exists(&self, at: CommitTimestamp, domain: &Domain) -> bool {
        let pointer = self.0.load(Ordering::Acquire);
        match pointer.is_null() || pointer.addr() & INLINE != 0 {
            true => !pointer.is_null() && (pointer.addr() >> 2) as u64 <= at.0,
            false => self.with_record(at, &domain.pin(), |_| ()).is_some(),
        }
    }

    #[inline]
    fn with_record<R>(
        &self,
        at: CommitTimestamp,
        keeps: &impl Keeps,
        read: impl FnOnce(&Record) -> R,
    ) -> Option<R> {
        let mut pointer = self.0.load(Ordering::Acquire);
        loop {
            let state = state(pointer, keeps);
            if state.since()? <= at {
                return state.record().map(read);
            }
            pointer = state.older();
        }
    }

    /// Returns the bytes by which a change grows the newest state, or `None` if the change has no
    /// effect. The vertex must be locked.
    #[must_use]
    pub fn growth(&self, change: &VertexChange, keeps: &impl Keeps) -> Option<isize> {
        let state = state(self.0.load(Ordering::Acquire), keeps);
        let is_same = match (change, state.record()) {
            (VertexChange::Delete, None) => true,
            (VertexChange::Put(record), Some(old)) => is_same(record, old),
            _ => false,
        };
        let bytes = match change {
            VertexChange::Put(record) if !record.is_empty() => {
                size_of::<VertexVersion>() + record.heap_bytes()
            }
            _ => 0,
        };
        (!is_same).then(|| bytes as isize - state.bytes() as isize)
    }

    /// Applies a change at a stamp. Returns the change in memory and, if the superseded version is
    /// kept, its birth: then the caller files it.
    ///
    /// # Safety
    /// The vertex is locked: no other thread changes it.
    pub unsafe fn apply(
        &self,
        change: &VertexChange,
        stamp: Stamp,
        keeps: &impl Keeps,
        guard: &Guard<'_>,
    ) -> (MemoryChange, Option<CommitTimestamp>) {
        let old = self.0.load(Ordering::Acquire);
        let old_state = state(old, keeps);
        let kept = old_state.since().filter(|since| *since < stamp.editable_from());
        let older = if kept.is_some() { old } else { old_state.older() };
        let new = match change {
            VertexChange::Put(record) if record.is_empty() && older.is_null() => inline(stamp.at()),
            VertexChange::Delete if older.is_null() => std::ptr::null_mut(),
            VertexChange::Put(record) => link(stamp.at(), Some(record.clone()), older),
            VertexChange::Delete => link(stamp.at(), None, older),
        };
        let mut memory = MemoryChange { live: state(new, keeps).bytes() as isize, retained: 0 };
        memory.live -= old_state.bytes() as isize;
        if kept.is_some() {
            memory.retained += (old_state.bytes() + NOTE_BYTES) as isize;
        }
        self.0.store(new, Ordering::Release);
        if let (None, VertexState::Version(_)) = (kept, &old_state) {
            // SAFETY: just unlinked.
            unsafe { retire(old, guard) };
        }
        (memory, kept)
    }

    /// Frees the superseded versions born at `births`, which descend. No live timestamp sees them.
    ///
    /// O(versions newer than the last), however many are freed: free many together.
    ///
    /// # Safety
    /// The vertex is locked: no other thread changes it.
    pub unsafe fn remove_versions(
        &self,
        births: impl Iterator<Item = CommitTimestamp>,
        keeps: &impl Keeps,
        guard: &Guard<'_>,
    ) -> MemoryChange {
        let mut newer = state(self.0.load(Ordering::Acquire), keeps);
        let mut memory = MemoryChange::default();
        for born in births {
            while let VertexState::Version(version) = newer {
                account::compared();
                let linked = version.older.load(Ordering::Acquire);
                let old = state(linked, keeps);
                if old.since().is_some_and(|since| since > born) {
                    newer = old;
                    continue;
                }
                if old.since() == Some(born) {
                    version.older.store(old.older(), Ordering::Release);
                    memory.retained -= (old.bytes() + NOTE_BYTES) as isize;
                    if let VertexState::Version(_) = old {
                        // SAFETY: just unlinked.
                        unsafe { retire(linked, guard) };
                    }
                }
                break;
            }
        }
        memory.live += self.shorten(keeps, guard);
        memory
    }

    /// Moves the newest state into the slot itself if it fits and there are no older versions.
    /// Returns the change in live bytes.
    fn shorten(&self, keeps: &impl Keeps, guard: &Guard<'_>) -> isize {
        let linked = self.0.load(Ordering::Acquire);
        let newest = state(linked, keeps);
        let VertexState::Version(version) = newest else { return 0 };
        let short = match &version.record {
            None => std::ptr::null_mut(),
            Some(record) if record.is_empty() => inline(version.since),
            Some(_) => return 0,
        };
        if !newest.older().is_null() {
            return 0;
        }
        let freed = newest.bytes() as isize;
        self.0.store(short, Ordering::Release);
        // SAFETY: just unlinked.
        unsafe { retire(linked, guard) };
        -freed
    }

    /// Returns the bytes that the superseded version born at `born` retains, or 0 if it is gone.
    #[must_use]
    pub fn retained_bytes(&self, born: CommitTimestamp, keeps: &impl Keeps) -> usize {
        let mut older = state(state(self.0.load(Ordering::Acquire), keeps).older(), keeps);
        while older.since().is_some_and(|since| since != born) {
            older = state(older.older(), keeps);
        }
        older.since().map_or(0, |_| older.bytes() + NOTE_BYTES)
    }

    /// Recounts by a walk the bytes that [`MemoryChange`] counts step by step. The vertex must be
    /// locked.
    #[must_use]
    pub fn count_bytes(&self, keeps: &impl Keeps) -> MemoryChange {
        let newest = state(self.0.load(Ordering::Acquire), keeps);
        let mut memory = MemoryChange { live: newest.bytes() as isize, retained: 0 };
        let mut older = state(newest.older(), keeps);
        while older.since().is_some() {
            memory.retained += (older.bytes() + NOTE_BYTES) as isize;
            older = state(older.older(), keeps);
        }
        memory
    }
}

impl<const NOTE_BYTES: usize> Drop for Vertex<NOTE_BYTES> {
    /// Drops all versions: no reader is left.
    fn drop(&mut self) {
        let mut pointer = self.0.load(Ordering::Acquire);
        while !pointer.is_null() && pointer.addr() & INLINE == 0 {
            let version = pointer.map_addr(|address| address & !TAGS).cast::<VertexVersion>();
            // SAFETY: from `Box::into_raw` in `link`, linked until now.
            let version = unsafe { Box::from_raw(version) };
            pointer = version.older.load(Ordering::Acquire);
        }
    }
}

/// Allocates a version. Returns the tagged pointer to it.
fn link(since: CommitTimestamp, record: Option<Record>, older: *mut u8) -> *mut u8 {
    let tag = if record.is_none() { DELETED } else { 0 };
    let version = Box::new(VertexVersion { since, record, older: VertexWord::new(older) });
    Box::into_raw(version).cast::<u8>().map_addr(|address| address | tag)
}

/// Drops the version that a slot pointed to, once no thread can be reading it.
///
/// # Safety
/// `linked` points to a version that is unlinked, and is retired only once.
unsafe fn retire(linked: *mut u8, guard: &Guard<'_>) {
    let version = version_at(linked);
    // SAFETY: the version is valid until it is dropped.
    let bytes = unsafe { &*version }.bytes();
    // SAFETY: from `Box::into_raw` in `link`, and unlinked.
    unsafe { guard.defer_drop(version, bytes) }
}

/// Returns true if both records are the same object, or both are empty. Comparing values would not
/// do: 0.0 equals -0.0.
fn is_same(one: &Record, other: &Record) -> bool {
    std::ptr::eq(one.values(), other.values()) || one.is_empty() && other.is_empty()
}

#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests {
    use super::*;
    use hedgerow_model::Value;

    fn stamp(at: u64, editable_from: u64) -> Stamp {
        // SAFETY: the only thread makes each stamp once, in ascending order, and knows what it
        // reads.
        unsafe { Stamp::new(CommitTimestamp(at), CommitTimestamp(editable_from)) }
    }

    fn put(number: i64) -> VertexChange {
        VertexChange::Put(Record::new(vec![Value::I64(number)]))
    }

    /// Returns the number in the record at each timestamp; 0 for an empty record.
    fn shown<const N: usize>(vertex: &Vertex<32>, at: [u64; N]) -> [Option<i64>; N] {
        let domain = Domain::default();
        let pinned = domain.pin();
        at.map(|at| {
            let record = vertex.record(CommitTimestamp(at), &pinned)?;
            Some(record.values().first().map_or(0, |value| value.as_i64().expect("it is a number")))
        })
    }

    #[test]
    fn versions_are_kept_while_they_may_be_read() {
        let (vertex, domain) = (Vertex::<32>::default(), Domain::default());
        let pinned = domain.pin();
        let mut memory = MemoryChange::default();
        let mut apply = |change: &VertexChange, stamp| {
            // SAFETY: there is one thread.
            let (change, kept) = unsafe { vertex.apply(change, stamp, &pinned, &pinned) };
            memory += change;
            kept.map(|born| born.0)
        };
        assert!(!vertex.exists_now());
        assert_eq!(apply(&VertexChange::Put(Record::EMPTY), stamp(2, 1)), None);
        assert_eq!(apply(&put(3), stamp(3, 3)), Some(2), "a reader may be at 2");
        assert_eq!(apply(&put(4), stamp(4, 3)), None, "no reader is at 3");
        assert_eq!(apply(&VertexChange::Delete, stamp(6, 6)), Some(4));
        assert!(!vertex.exists_now());
        assert_eq!(apply(&put(8), stamp(8, 8)), Some(6));
        assert_eq!(
            shown(&vertex, [1, 2, 3, 4, 5, 6, 7, 8]),
            [None, Some(0), Some(0), Some(4), Some(4), None, None, Some(8)]
        );
        assert_eq!(vertex.count_bytes(&pinned), memory);

        assert!(vertex.retained_bytes(CommitTimestamp(4), &pinned) > 32);
        for births in [&[4][..], &[6, 2]] {
            let births = births.iter().map(|born| CommitTimestamp(*born));
            // SAFETY: there is one thread, which reads no version in between.
            memory += unsafe { vertex.remove_versions(births, &pinned, &pinned) };
        }
        assert_eq!((shown(&vertex, [5, 7, 8]), memory.retained), ([None, None, Some(8)], 0));
        assert_eq!(vertex.count_bytes(&pinned), memory);
    }

    #[test]
    fn many_versions_are_freed_in_one_walk() {
        let (vertex, domain) = (Vertex::<32>::default(), Domain::default());
        let pinned = domain.pin();
        for at in 1..=1000 {
            // SAFETY: there is one thread.
            let _ = unsafe { vertex.apply(&put(at as i64), stamp(at, at), &pinned, &pinned) };
        }
        let births = (1..1000).rev().filter(|born| born % 10 != 0).map(CommitTimestamp);
        // SAFETY: as above.
        let (_, compared) =
            account::measure_compared(|| unsafe { vertex.remove_versions(births, &pinned, &pinned) });
        assert!(compared <= 1000, "{compared}");
        assert_eq!(shown(&vertex, [9, 10, 19, 1000]), [None, Some(10), Some(10), Some(1000)]);
    }

    #[test]
    fn a_change_that_makes_no_difference_is_known() {
        let (vertex, domain) = (Vertex::<32>::default(), Domain::default());
        let pinned = domain.pin();
        let (change, empty) = (put(1), VertexChange::Put(Record::EMPTY));
        assert_eq!(vertex.growth(&VertexChange::Delete, &pinned), None);
        assert_eq!(vertex.growth(&empty, &pinned), Some(0));
        // SAFETY: there is one thread.
        let _ = unsafe { vertex.apply(&change, stamp(1, 1), &pinned, &pinned) };
        assert!(vertex.growth(&change, &pinned).is_none() && vertex.growth(&empty, &pinned) < Some(0));
    }
}
