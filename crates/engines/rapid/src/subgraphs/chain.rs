//! Version chains: the only place where versions are linked, searched and freed.
//!
//! The chain itself holds the birth and the pointer of the newest version; its [`Past`], an array
//! sorted by birth, holds the superseded ones. Invariants:
//!
//! 1. `data` and the content pointer of a superseded version are null (empty) or own a content. The
//!    birth of the chain is greater than the births in its past, which ascend.
//! 2. Only a thread that holds the exclusive lock of the chain's partition changes anything
//!    ([`HeldLocks`], checked when the change is staged), so there is one writer at a time.
//! 3. A version that is superseded and kept is pushed to the past first; then the writer stores the
//!    birth of the new version, then its data and occupied slots. A reader that finds the same
//!    birth before and after loading one of these has the value of that birth: had it loaded
//!    something newer, it would have found a newer birth, because births only grow.
//! 4. A content born at or after a stamp's `editable_from` is invisible, and stays so until the
//!    stamp is applied ([`Stamp`]): readers at older timestamps load only its birth. The holder of
//!    the lock edits, moves and frees it at once.
//! 5. A superseded version is unlinked once no live timestamp lies in its lifetime, from its birth
//!    to its superseding ([`LiveTimestamps`](hedgerow_model::token::LiveTimestamps), which
//!    reclamation checks before it calls [`Chain::unlink`]). No thread reads its content, which is
//!    freed at once; readers may still compare its birth, in an array that is replaced, and then
//!    freed once no reader can be searching it.
//! 6. So the version that a registered timestamp sees stays linked and unedited while the timestamp
//!    is registered, and a search finds it.
//!
//! `tests/shuttle.rs` of crate `rapid` checks these invariants under the model checker.

use crate::subgraphs::container::Container;
use crate::subgraphs::owned::{Content, Owned, edited_copy};
use crate::subgraphs::past::Past;
use hedgerow_in_memory::reclamation::MemoryChange;
use hedgerow_in_memory::reclamation::account;
use hedgerow_model::token::{HeldLocks, Registered, Stamp};
use hedgerow_model::{CommitTimestamp, EdgeChange, LockUnit};
use hedgerow_sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use hedgerow_sync::epoch::{self, Domain, Guard};
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};

/// The versions of one part of the graph, newest first. Aligned to fit in one cache line.
#[repr(align(32))]
pub(crate) struct Chain<T: Content> {
    /// The birth of the newest version; 0 before the first.
    born: AtomicU64,
    /// The newest content, or null.
    data: AtomicPtr<T>,
    /// A copy of the newest content's [`occupied`](Content::occupied), which saves an access to it.
    occupied: AtomicU64,
    /// The superseded versions.
    past: Past<T>,
}

impl<T: Content> Default for Chain<T> {
    fn default() -> Self {
        Chain {
            born: AtomicU64::new(0),
            data: AtomicPtr::new(ptr::null_mut()),
            occupied: AtomicU64::new(0),
            past: Past::default(),
        }
    }
}

/// A staged change. Dropping it changes nothing.
pub(crate) struct Successor<'l, T: Content> {
    /// The birth of the newest version when the change was staged, under the lock.
    pub(crate) base: CommitTimestamp,
    pub(crate) change: VersionChange<'l, T>,
    /// Bytes allocated by the preparation.
    pub(crate) allocated: isize,
}

/// Construction of the next version.
pub(crate) enum VersionChange<'l, T: Content> {
    /// A new content, or none, supersedes the newest.
    Replace(Option<Owned<T>>),
    /// The newest content is edited, or superseded by an edited copy.
    Edit(T::Changes<'l>),
}

/// The result of a change.
pub(crate) struct Linked {
    pub(crate) memory: MemoryChange,
    /// The birth of the superseded version, if it is kept.
    pub(crate) kept: Option<CommitTimestamp>,
}

impl<T: Content> Chain<T> {
    /// The content at a registered timestamp. O(log number of newer versions).
    #[inline]
    pub(crate) fn at<'s>(&'s self, at: &'s Registered, domain: &Domain) -> Option<&'s T> {
        match self.newest_at(at, || self.data.load(Ordering::Acquire)) {
            // SAFETY: by invariant 3 this is the version that `at` sees. By invariant 6 it stays
            // while `at` is registered, which is at least `'s`.
            Some(data) => unsafe { shared(data) },
            None => self.superseded_at(at, domain),
        }
    }

    /// The occupied slots at a registered timestamp. O(log number of newer versions).
    #[inline]
    pub(crate) fn occupied_at(&self, at: &Registered, domain: &Domain) -> u64 {
        let newest = self.newest_at(at, || self.occupied.load(Ordering::Acquire));
        newest.unwrap_or_else(|| self.superseded_at(at, domain).map_or(0, T::occupied))
    }

    /// The content and the occupied slots at a registered timestamp. O(log number of newer
    /// versions).
    #[inline]
    pub(crate) fn at_with_occupied<'s>(
        &'s self,
        at: &'s Registered,
        domain: &Domain,
    ) -> (Option<&'s T>, u64) {
        let read = || (self.data.load(Ordering::Acquire), self.occupied.load(Ordering::Acquire));
        match self.newest_at(at, read) {
            // SAFETY: as in `at`.
            Some((data, occupied)) => (unsafe { shared(data) }, occupied),
            None => {
                let content = self.superseded_at(at, domain);
                (content, content.map_or(0, T::occupied))
            }
        }
    }

    /// Loads from the newest version with `read`. Returns `None` if `at` does not see that version.
    #[inline]
    fn newest_at<R>(&self, at: &Registered, read: impl FnOnce() -> R) -> Option<R> {
        let born = self.born.load(Ordering::Acquire);
        if born > at.at().0 {
            return None;
        }
        let read = read();
        // By invariant 3, `read` saw the version of `born`, which was the newest when `at` was
        // registered or later.
        (self.born.load(Ordering::Acquire) == born).then_some(read)
    }

    #[cold]
    fn superseded_at<'s>(&'s self, at: &'s Registered, domain: &Domain) -> Option<&'s T> {
        // SAFETY: this is the version that `at` sees, by invariant 6.
        unsafe { shared(self.past.find(at.at(), domain)) }
    }

    /// The newest content. Panics if `unit`, the chain's lock, is not held. O(1).
    #[inline]
    pub(crate) fn newest<'l>(&'l self, locks: &'l HeldLocks<'_>, unit: LockUnit) -> Option<&'l T> {
        assert!(locks.covers(unit), "partition {} is used without its lock", unit.0);
        // SAFETY: only the holder of the lock edits or frees it. For `'l` that is the holder of
        // `locks`, which by the contract of `Stamp` reads nothing through them once it has applied.
        unsafe { shared(self.data.load(Ordering::Acquire)) }
    }

    /// The occupied slots of the newest version, without the chain's lock. O(1).
    ///
    /// Its stamp may not be applied yet, and without the lock the answer may be stale at once.
    #[inline]
    pub(crate) fn newest_occupied(&self) -> u64 {
        self.occupied.load(Ordering::Acquire)
    }

    /// Calls `look` with the newest content, before the caller [links](Chain::link) a change of it.
    /// O(1).
    ///
    /// The caller holds the chain's lock, as for `link`; `look` links nothing.
    #[inline]
    pub(crate) fn look(&self, _stamp: Stamp, look: impl Fn(&T)) {
        // SAFETY: only the holder of the lock edits or frees it, and this thread holds it.
        unsafe { shared(self.data.load(Ordering::Acquire)) }.into_iter().for_each(look);
    }

    /// The address of the newest content, for prefetching only.
    #[inline]
    pub(crate) fn hint(&self) -> *const T {
        self.data.load(Ordering::Relaxed)
    }

    /// Prefetches the superseded versions if the newest is too new for `at`.
    #[inline]
    pub(crate) fn prefetch_superseded(&self, at: &Registered) {
        if self.born() > at.at() {
            self.past.prefetch();
        }
    }

    /// The birth of the newest version; 0 before the first.
    #[inline]
    pub(crate) fn born(&self) -> CommitTimestamp {
        CommitTimestamp(self.born.load(Ordering::Acquire))
    }

    /// Makes a change at the stamp.
    ///
    /// An invisible version is edited or replaced; a visible one is kept as superseded. By the
    /// contract of [`Stamp`], the chain's lock has been held since the change was staged.
    pub(crate) fn link(&self, successor: Successor<'_, T>, stamp: Stamp, domain: &Domain) -> Linked {
        let Successor { base, change, allocated } = successor;
        let born = self.born();
        assert!(born == base, "a change was applied to a different state than it was staged for");
        assert!(stamp.follows(base), "stamps reach a chain in ascending order");
        let is_kept = born < stamp.editable_from() && !self.is_new();
        let live_before = self.live_bytes();
        let ((), net) = account::measure(|| match is_kept {
            true => self.supersede(stamp.at(), change, domain),
            false => self.change_unseen(stamp.at(), change),
        });
        let live = self.live_bytes() - live_before;
        let memory = MemoryChange { live, retained: net + allocated - live };
        Linked { memory, kept: is_kept.then_some(born) }
    }

    /// Makes one change at the place that its preparation located, if the version born at `base` is
    /// invisible and the change fits without reallocating; otherwise does nothing. Returns true if
    /// the change was made.
    ///
    /// By the contract of [`Stamp`], the chain's lock has been held since the change was staged.
    #[inline]
    pub(crate) fn edit_unseen_at(
        &self,
        base: CommitTimestamp,
        place: u64,
        change: &EdgeChange,
        stamp: Stamp,
    ) -> bool
    where
        T: Container,
    {
        let born = self.born();
        assert!(born == base, "a change was applied to a different state than it was staged for");
        assert!(stamp.follows(base), "stamps reach a chain in ascending order");
        let Some(head) = NonNull::new(self.data.load(Ordering::Acquire)) else { return false };
        if born < stamp.editable_from() {
            return false;
        }
        // Null during the edit, as in `change_unseen`.
        self.data.store(ptr::null_mut(), Ordering::Release);
        // SAFETY: taken out of the chain above, whose lock is held, and by invariant 4 no thread
        // reads it.
        let mut head = ManuallyDrop::new(unsafe { Owned::from_raw(head) });
        let made = head.edit_at(place, change);
        self.occupied.store(head.occupied(), Ordering::Release);
        self.data.store(head.as_raw().as_ptr(), Ordering::Release);
        made
    }

    /// Unlinks and frees the superseded version born at `born`, which no live timestamp sees.
    ///
    /// Panics if `unit`, the chain's lock, is not held, or if there is no such version. O(log
    /// number of newer versions) on average.
    pub(crate) fn unlink(
        &self,
        locks: &HeldLocks<'_>,
        unit: LockUnit,
        born: CommitTimestamp,
        guard: &Guard<'_>,
    ) -> MemoryChange {
        assert!(locks.covers(unit), "partition {} is reclaimed without its lock", unit.0);
        let ((), net) = account::measure(|| {
            let content = NonNull::new(self.past.unlink(born, guard));
            // SAFETY: just unlinked, and by invariant 5 no thread reads it.
            drop(content.map(|content| unsafe { Owned::from_raw(content) }));
        });
        MemoryChange { live: 0, retained: net }
    }

    /// Returns the bytes of the version born at `born` that no newer version shares, or 0 if it is
    /// gone. The newest superseded version also accounts for the array of versions.
    pub(crate) fn retained_bytes(
        &self,
        locks: &HeldLocks<'_>,
        unit: LockUnit,
        born: CommitTimestamp,
    ) -> usize {
        let newest = self.newest(locks, unit);
        let Some((content, newer)) = self.past.with_newer(born) else { return 0 };
        // SAFETY: linked, and this thread holds the lock under which versions are unlinked.
        let content = unsafe { shared(content) };
        let (array, newer) = match newer {
            // SAFETY: as above.
            Some(newer) => (0, unsafe { shared(newer) }),
            None => (self.past.bytes(), newest),
        };
        array + bytes_beside(content, newer)
    }

    /// Recounts by a walk, under the lock, the bytes that [`MemoryChange`] counts step by step. For
    /// tests.
    pub(crate) fn count_bytes(&self, locks: &HeldLocks<'_>, unit: LockUnit) -> MemoryChange {
        let newest = self.newest(locks, unit);
        let live = newest.map_or(0, T::bytes) as isize;
        let (mut retained, mut newer) = (self.past.bytes(), newest);
        for content in self.past.contents() {
            // SAFETY: linked, and this thread holds the lock under which versions are unlinked.
            let content = unsafe { shared(content) };
            retained += bytes_beside(content, newer);
            newer = content;
        }
        MemoryChange { live, retained: retained as isize }
    }
}

/// Returns the bytes of a superseded version that the next newer one does not share.
fn bytes_beside<T: Content>(content: Option<&T>, newer: Option<&T>) -> usize {
    match (content, newer) {
        (None, _) => 0,
        (Some(content), None) => content.bytes(),
        (Some(content), Some(newer)) => content.bytes_beside(newer),
    }
}

/// Steps of [`Chain::link`], under the chain's lock.
impl<T: Content> Chain<T> {
    /// Returns true if the chain has no content and no superseded versions.
    fn is_new(&self) -> bool {
        self.data.load(Ordering::Acquire).is_null() && self.past.is_empty()
    }

    fn live_bytes(&self) -> isize {
        // SAFETY: owned by the chain, whose lock is held.
        unsafe { shared(self.data.load(Ordering::Acquire)) }.map_or(0, T::bytes) as isize
    }

    /// Links a new version and keeps the newest as superseded.
    fn supersede(&self, at: CommitTimestamp, change: VersionChange<'_, T>, domain: &Domain) {
        let head = self.data.load(Ordering::Acquire);
        let new = match change {
            VersionChange::Replace(new) => new,
            VersionChange::Edit(changes) => {
                // SAFETY: owned by the chain, whose lock is held.
                let head = unsafe { shared(head) }.expect("an edit needs a content");
                Some(edited_copy(head, changes))
            }
        };
        // In the order of invariant 3.
        self.past.push(self.born(), head, domain);
        self.born.store(at.0, Ordering::Release);
        self.install(new);
    }

    /// Changes the newest version, which is invisible, or links the first one.
    fn change_unseen(&self, at: CommitTimestamp, change: VersionChange<'_, T>) {
        if self.is_new() {
            self.born.store(at.0, Ordering::Release);
        }
        // Null during the edit: a panic there leaks the content instead of leaving a pointer to
        // memory that may be freed.
        let head = NonNull::new(self.data.load(Ordering::Acquire));
        self.data.store(ptr::null_mut(), Ordering::Release);
        // SAFETY: taken out of the chain above, whose lock is held, and by invariant 4 no thread
        // reads it.
        let head = head.map(|head| ManuallyDrop::new(unsafe { Owned::from_raw(head) }));
        let new = match change {
            VersionChange::Replace(new) => {
                drop(head.map(ManuallyDrop::into_inner));
                new
            }
            VersionChange::Edit(changes) => {
                let mut head = head.expect("an edit needs a content");
                T::edit(&mut head, changes);
                Some(ManuallyDrop::into_inner(head))
            }
        };
        self.install(new);
    }

    fn install(&self, new: Option<Owned<T>>) {
        self.occupied.store(new.as_ref().map_or(0, |new| new.occupied()), Ordering::Release);
        self.data.store(into_pointer(new), Ordering::Release);
    }
}

impl<T: Content> Drop for Chain<T> {
    fn drop(&mut self) {
        // SAFETY: the chain owns it, and is borrowed exclusively.
        let own =
            |content| drop(NonNull::new(content).map(|content| unsafe { Owned::<T>::from_raw(content) }));
        own(self.data.load(Ordering::Acquire));
        self.past.contents().for_each(own);
    }
}

fn into_pointer<T: Content>(content: Option<Owned<T>>) -> *mut T {
    content.map_or(ptr::null_mut(), |content| content.into_raw().as_ptr())
}

/// Dereferences a pointer that is null or valid.
///
/// # Safety
/// It is not freed, and not borrowed exclusively, during `'v`.
#[inline]
unsafe fn shared<'v, V>(pointer: *mut V) -> Option<&'v V> {
    if !pointer.is_null() {
        epoch::check_live(pointer);
    }
    // SAFETY: null or valid during `'v`, as the caller promises.
    unsafe { pointer.as_ref() }
}

#[cfg(all(test, not(hedgerow_shuttle)))]
pub(crate) mod tests;
