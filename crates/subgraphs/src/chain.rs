//! Version chains: the one place where versions are linked, walked and freed.
//!
//! The newest version of a chain lies in the chain itself, as a birth and a pointer; superseded ones are its
//! [`Past`], an array by birth. Its invariants:
//!
//! 1. `data`, and the content of a superseded version, are null (nothing is there) or own a content. The birth of the chain is
//!    above those of its past, which ascend.
//! 2. Everything is changed only by a holder of the exclusive lock of the chain's partition
//!    ([`HeldLocks`], checked when the change is set up), so there is one writer at a time.
//! 3. When a version is superseded and kept, it becomes part of the past first, then follow the birth of the new version,
//!    then its data and what that occupies. So a reader that finds one birth before and after it loaded one of them has
//!    that of this birth: had it loaded something newer, it would have found a newer birth, because births never return.
//! 4. A content born at or after a stamp's `editable_from` is visible to nobody, nor will it be
//!    before the stamp is applied ([`Stamp`]): readers that come by it, at older timestamps, look at its birth only.
//!    Under the lock it is edited, moved and freed at once.
//! 5. A superseded version leaves its chain when its lifetime, from its birth to its superseding, has no live
//!    timestamp ([`LiveTimestamps`](hedgerow_model::token::LiveTimestamps), asked by the
//!    reclamation before it calls [`Chain::unlink`]). Nobody reads its content, which is freed at once; readers may still compare
//!    its birth, in an array that is left to the epoch when another one takes its place.
//! 6. So the version that a registered timestamp sees is linked, and not edited, as long as the timestamp is
//!    registered, and a search finds it.
//!
//! `tests/shuttle.rs` of crate `rapid` checks them under the model checker. The tests of this module also run under Miri, with
//! tree borrows, because `crossbeam-epoch` breaks the stacked ones.

use crate::container::Container;
use crate::owned::{Content, Owned, edited_copy};
use crate::past::Past;
use hedgerow_model::token::{HeldLocks, Registered, Stamp};
use hedgerow_model::{EdgeChange, LockUnit, Timestamp};
use hedgerow_reclamation::MemoryChange;
use hedgerow_reclamation::account;
use hedgerow_sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use hedgerow_sync::epoch::{self, Guard};
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};

/// The versions of one part of the graph, newest first. Aligned so that it lies in one cache line.
#[repr(align(32))]
pub(crate) struct Chain<T: Content> {
    /// The birth of the newest version; 0 before the first.
    born: AtomicU64,
    /// The newest content, or null.
    data: AtomicPtr<T>,
    /// What the newest content says that is [occupied](Content::occupied), so that it need not be asked.
    occupied: AtomicU64,
    /// The versions before.
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

/// A change that is prepared but not made. Dropping it changes nothing.
pub(crate) struct Successor<'l, T: Content> {
    /// The birth of the version that the change was prepared for, under its lock.
    pub(crate) base: Timestamp,
    pub(crate) change: Change<'l, T>,
    /// What preparing it allocated.
    pub(crate) allocated: isize,
}

/// What becomes of the newest version.
pub(crate) enum Change<'l, T: Content> {
    /// Another one, or nothing, follows it.
    Replace(Option<Owned<T>>),
    /// It is edited, or an edited copy follows it.
    Edit(&'l [T::Change]),
}

/// What a change did.
pub(crate) struct Linked {
    pub(crate) memory: MemoryChange,
    /// The birth of the version that is superseded and kept.
    pub(crate) kept: Option<Timestamp>,
}

impl<T: Content> Chain<T> {
    /// The content at a registered timestamp. O(log versions newer than it).
    #[inline]
    pub(crate) fn at<'s>(&'s self, at: &'s Registered) -> Option<&'s T> {
        match self.newest_at(at, || self.data.load(Ordering::Acquire)) {
            // SAFETY: by invariant 3 this is the version that `at` sees. By 6 it stays while `at` is registered, at
            // least for `'s`.
            Some(data) => unsafe { shared(data) },
            None => self.superseded_at(at),
        }
    }

    /// What is occupied at a registered timestamp. O(log versions newer than it).
    #[inline]
    pub(crate) fn occupied_at(&self, at: &Registered) -> u64 {
        let newest = self.newest_at(at, || self.occupied.load(Ordering::Acquire));
        newest.unwrap_or_else(|| self.superseded_at(at).map_or(0, T::occupied))
    }

    /// The content at a registered timestamp, and what of it is occupied. O(log versions newer than it).
    #[inline]
    pub(crate) fn at_with_occupied<'s>(&'s self, at: &'s Registered) -> (Option<&'s T>, u64) {
        let read = || (self.data.load(Ordering::Acquire), self.occupied.load(Ordering::Acquire));
        match self.newest_at(at, read) {
            // SAFETY: as in `at`.
            Some((data, occupied)) => (unsafe { shared(data) }, occupied),
            None => {
                let content = self.superseded_at(at);
                (content, content.map_or(0, T::occupied))
            }
        }
    }

    /// What `read` loads of the newest version, if that is the one that a registered timestamp sees.
    #[inline]
    fn newest_at<R>(&self, at: &Registered, read: impl FnOnce() -> R) -> Option<R> {
        let born = self.born.load(Ordering::Acquire);
        if born > at.at().0 {
            return None;
        }
        let read = read();
        // By invariant 3, this is of the version of `born`, which was the newest when `at` was registered or later.
        (self.born.load(Ordering::Acquire) == born).then_some(read)
    }

    #[cold]
    fn superseded_at<'s>(&'s self, at: &'s Registered) -> Option<&'s T> {
        // SAFETY: the version that `at` sees, see invariant 6.
        unsafe { shared(self.past.find(at.at())) }
    }

    /// The newest content, under the chain's lock. Panics if `unit` is not locked. O(1).
    #[inline]
    pub(crate) fn newest<'l>(&'l self, locks: &'l HeldLocks<'_>, unit: LockUnit) -> Option<&'l T> {
        assert!(locks.covers(unit), "partition {} is used without its lock", unit.0);
        // SAFETY: only a holder of the lock edits or frees it. For `'l` that is the holder of `locks`, who
        // by the contract of `Stamp` reads nothing through them once it has applied.
        unsafe { shared(self.data.load(Ordering::Acquire)) }
    }

    /// What is occupied in the newest state, whoever holds the chain's lock. O(1).
    ///
    /// Of a state whose stamp may not be applied yet. Without the lock it may be another one at once.
    #[inline]
    pub(crate) fn newest_occupied(&self) -> u64 {
        self.occupied.load(Ordering::Acquire)
    }

    /// Shows the newest content to whoever is about to [link](Chain::link) a change of it. O(1).
    ///
    /// The chain's lock is held, as for that; `look` links nothing.
    #[inline]
    pub(crate) fn look(&self, _stamp: Stamp, look: impl Fn(&T)) {
        // SAFETY: only a holder of the lock edits or frees it, who is busy here.
        unsafe { shared(self.data.load(Ordering::Acquire)) }.into_iter().for_each(look);
    }

    /// Where the newest content is, to ask the processor for it.
    #[inline]
    pub(crate) fn hint(&self) -> *const T {
        self.data.load(Ordering::Relaxed)
    }

    /// Prefetches the superseded versions, if a timestamp does not see the newest.
    #[inline]
    pub(crate) fn prefetch_superseded(&self, at: &Registered) {
        if self.born() > at.at() {
            self.past.prefetch();
        }
    }

    /// The birth of the newest version; 0 before the first.
    #[inline]
    pub(crate) fn born(&self) -> Timestamp {
        Timestamp(self.born.load(Ordering::Acquire))
    }

    /// Makes a change, at the stamp.
    ///
    /// A version that nobody can see is edited or replaced; another one is kept behind the new one.
    /// The chain's lock is held since the change was prepared; the contract of [`Stamp`] says so.
    pub(crate) fn link(&self, successor: Successor<'_, T>, stamp: Stamp) -> Linked {
        let Successor { base, change, allocated } = successor;
        let born = self.born();
        assert!(born == base, "a change was applied to another state than it was prepared for");
        assert!(stamp.follows(base), "stamps reach a chain in ascending order");
        let is_kept = born < stamp.editable_from() && !self.is_new();
        let live_before = self.live_bytes();
        let ((), net) = account::measure(|| match is_kept {
            true => self.supersede(stamp.at(), change),
            false => self.change_unseen(stamp.at(), change),
        });
        let live = self.live_bytes() - live_before;
        let memory = MemoryChange { live, retained: net + allocated - live };
        Linked { memory, kept: is_kept.then_some(born) }
    }

    /// Makes one change where it was found to belong when it was prepared for the version born at `base`, if nobody can see
    /// that version and the change takes no other memory; else does nothing. Whether it was made.
    ///
    /// The chain's lock is held since the change was prepared; the contract of [`Stamp`] says so.
    #[inline]
    pub(crate) fn edit_unseen_at(
        &self,
        base: Timestamp,
        place: u64,
        change: &EdgeChange,
        stamp: Stamp,
    ) -> bool
    where
        T: Container,
    {
        let born = self.born();
        assert!(born == base, "a change was applied to another state than it was prepared for");
        assert!(stamp.follows(base), "stamps reach a chain in ascending order");
        let Some(head) = NonNull::new(self.data.load(Ordering::Acquire)) else { return false };
        if born < stamp.editable_from() {
            return false;
        }
        // Null while it is edited, as in `change_unseen`.
        self.data.store(ptr::null_mut(), Ordering::Release);
        // SAFETY: taken out of the chain above, whose lock is held, and by invariant 4 nobody reads it.
        let mut head = ManuallyDrop::new(unsafe { Owned::from_raw(head) });
        let made = head.edit_at(place, change);
        self.occupied.store(head.occupied(), Ordering::Release);
        self.data.store(head.as_raw().as_ptr(), Ordering::Release);
        made
    }

    /// Unlinks the superseded version born at `born`, which no live timestamp sees, and frees it.
    ///
    /// Panics if `unit`, the chain's lock, is not held, or if there is no such version.
    /// O(log versions newer than it), on average.
    pub(crate) fn unlink(
        &self,
        locks: &HeldLocks<'_>,
        unit: LockUnit,
        born: Timestamp,
        guard: &Guard,
    ) -> MemoryChange {
        assert!(locks.covers(unit), "partition {} is reclaimed without its lock", unit.0);
        let ((), net) = account::measure(|| {
            let content = NonNull::new(self.past.unlink(born, guard));
            // SAFETY: unlinked just now, and by invariant 5 nobody reads it.
            drop(content.map(|content| unsafe { Owned::from_raw(content) }));
        });
        MemoryChange { live: 0, retained: net }
    }

    /// What the version born at `born` and no newer one keeps; 0 if it is gone. The array of superseded versions counts with the newest of them.
    pub(crate) fn retained_bytes(&self, locks: &HeldLocks<'_>, unit: LockUnit, born: Timestamp) -> usize {
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

    /// Walks the chain, which nobody else uses, and counts what [`MemoryChange`] counts step by step. For tests.
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

/// What a superseded version keeps beside the next newer one.
fn bytes_beside<T: Content>(content: Option<&T>, newer: Option<&T>) -> usize {
    match (content, newer) {
        (None, _) => 0,
        (Some(content), None) => content.bytes(),
        (Some(content), Some(newer)) => content.bytes_beside(newer),
    }
}

/// What a writer does under the chain's lock, in [`Chain::link`].
impl<T: Content> Chain<T> {
    /// Whether there never was anything, or nothing of it is left.
    fn is_new(&self) -> bool {
        self.data.load(Ordering::Acquire).is_null() && self.past.is_empty()
    }

    fn live_bytes(&self) -> isize {
        // SAFETY: owned by the chain, whose lock is held.
        unsafe { shared(self.data.load(Ordering::Acquire)) }.map_or(0, T::bytes) as isize
    }

    /// Puts a new version before the newest, which is kept.
    fn supersede(&self, at: Timestamp, change: Change<'_, T>) {
        let head = self.data.load(Ordering::Acquire);
        let new = match change {
            Change::Replace(new) => new,
            Change::Edit(changes) => {
                // SAFETY: owned by the chain, whose lock is held.
                let head = unsafe { shared(head) }.expect("what is not there is not edited");
                Some(edited_copy(head, changes))
            }
        };
        // In the order of invariant 3.
        self.past.push(self.born(), head);
        self.born.store(at.0, Ordering::Release);
        self.publish(new);
    }

    /// Changes the newest version, which nobody can see, or makes the first one.
    fn change_unseen(&self, at: Timestamp, change: Change<'_, T>) {
        if self.is_new() {
            self.born.store(at.0, Ordering::Release);
        }
        // Null while it is edited: a panic there leaks it, instead of leaving a pointer to what may be freed.
        let head = NonNull::new(self.data.load(Ordering::Acquire));
        self.data.store(ptr::null_mut(), Ordering::Release);
        // SAFETY: taken out of the chain above, whose lock is held, and by invariant 4 nobody reads it.
        let head = head.map(|head| ManuallyDrop::new(unsafe { Owned::from_raw(head) }));
        let new = match change {
            Change::Replace(new) => {
                drop(head.map(ManuallyDrop::into_inner));
                new
            }
            Change::Edit(changes) => {
                let mut head = head.expect("what is not there is not edited");
                T::edit(&mut head, changes);
                Some(ManuallyDrop::into_inner(head))
            }
        };
        self.publish(new);
    }

    fn publish(&self, new: Option<Owned<T>>) {
        self.occupied.store(new.as_ref().map_or(0, |new| new.occupied()), Ordering::Release);
        self.data.store(into_pointer(new), Ordering::Release);
    }
}

impl<T: Content> Drop for Chain<T> {
    fn drop(&mut self) {
        // SAFETY: the chain owns it, and nobody else borrows the chain.
        let own =
            |content| drop(NonNull::new(content).map(|content| unsafe { Owned::<T>::from_raw(content) }));
        own(self.data.load(Ordering::Acquire));
        self.past.contents().for_each(own);
    }
}

fn into_pointer<T: Content>(content: Option<Owned<T>>) -> *mut T {
    content.map_or(ptr::null_mut(), |content| content.into_raw().as_ptr())
}

/// What is behind a pointer that is null or valid.
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
