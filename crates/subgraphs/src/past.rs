//! The superseded versions of a chain: one array, oldest first, in which a reader finds its version by bisection.
//!
//! 1. The pointer is null, or leads to an array whose first `len` entries are filled, ascending by birth. `len` only grows, and
//!    a filled entry keeps its birth.
//! 2. Everything is changed only by a holder of the lock of the chain's partition, so there is one writer at a time.
//! 3. An entry is filled before `len` covers it, and an array is complete before the pointer leads to it (Release, Acquire).
//! 4. An entry owns the content of its version until that is unlinked. Its birth stays, so that bisection needs no other look.
//! 5. When an array is full, or more than half of its versions are unlinked, another one takes its place with those that are not;
//!    none take the place of the last. What was replaced is left to the epoch: readers that were pinned before still search it.

use hedgerow_model::Timestamp;
use hedgerow_reclamation::account;
use hedgerow_sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use hedgerow_sync::epoch::{self, Guard};
use hedgerow_sync::prefetch;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::{self, NonNull};
use std::slice;

/// The superseded versions of a chain.
pub(crate) struct Past<T: 'static>(AtomicPtr<Versions<T>>);

/// An array of versions: the header, and as many entries behind it as it has room for.
#[repr(C)]
struct Versions<T> {
    len: AtomicU32,
    /// How many of the filled entries have lost their version. For the holder of the lock.
    unlinked: AtomicU32,
    capacity: u32,
    entries: [Entry<T>; 0],
}

struct Entry<T> {
    born: Timestamp,
    /// Its content, or null; [`unlinked`] afterwards.
    content: AtomicPtr<T>,
}

/// Stands for the content of a version that was unlinked.
fn unlinked<T>() -> *mut T {
    ptr::without_provenance_mut(1)
}

impl<T: 'static> Default for Past<T> {
    fn default() -> Self {
        Past(AtomicPtr::new(ptr::null_mut()))
    }
}

impl<T: 'static> Past<T> {
    /// Whether there is no superseded version.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.load(Ordering::Acquire).is_null()
    }

    /// The content of the newest version born at or before `at`; null if it is empty, or if there is no such version.
    ///
    /// `at` is a registered timestamp whose version was superseded. Pins the epoch. O(log versions newer than it).
    pub(crate) fn find(&self, at: Timestamp) -> *mut T {
        let _pin = epoch::pin();
        let Some(versions) = NonNull::new(self.0.load(Ordering::Acquire)) else { return ptr::null_mut() };
        // SAFETY: pinned since before it was loaded, so that it is not freed meanwhile.
        let entries = unsafe { Versions::filled(versions) };
        let content = match position_of(entries, at) {
            Some(position) => entries[position].content.load(Ordering::Relaxed),
            None => ptr::null_mut(),
        };
        // Under the model checker others run at the loads: the array has to be live after them, too.
        epoch::check_live(versions.as_ptr());
        content
    }

    /// Prefetches the array, as far as a short one reaches.
    #[inline]
    pub(crate) fn prefetch(&self) {
        prefetch(self.0.load(Ordering::Relaxed), size_of::<Versions<T>>() + 2 * size_of::<Entry<T>>());
    }

    /// Adds the version born at `born`, which is newer than all others, and owns its content from now on. O(1) on average.
    ///
    /// The lock of the chain's partition is held.
    pub(crate) fn push(&self, born: Timestamp, content: *mut T) {
        let versions = match NonNull::new(self.0.load(Ordering::Acquire)) {
            // SAFETY: linked, and only a holder of the lock, who is busy here, replaces it.
            Some(versions) if !unsafe { Versions::is_full(versions) } => versions,
            _ => {
                let larger = self.compacted(1);
                self.replace(larger.as_ptr(), &epoch::pin());
                larger
            }
        };
        // SAFETY: not full; linked, and changed by nobody else.
        unsafe { Versions::fill(versions, Entry { born, content: AtomicPtr::new(content) }) };
    }

    /// Unlinks the version born at `born` and gives its content, which may be null. O(log versions newer than it), on average.
    ///
    /// The lock of the chain's partition is held, and no live timestamp sees the version. Panics if there is no such version.
    pub(crate) fn unlink(&self, born: Timestamp, guard: &Guard) -> *mut T {
        let versions = NonNull::new(self.0.load(Ordering::Acquire)).expect("a filed version is linked");
        // SAFETY: linked, and only a holder of the lock, who is busy here, replaces it.
        let header = unsafe { versions.as_ref() };
        // SAFETY: as above.
        let entries = unsafe { Versions::filled(versions) };
        let entry = position_of(entries, born).map(|position| &entries[position]);
        let entry = entry.filter(|entry| entry.born == born && !entry.is_unlinked());
        let content = entry.expect("a filed version is linked").content.swap(unlinked(), Ordering::Relaxed);
        let gone = header.unlinked.load(Ordering::Relaxed) + 1;
        header.unlinked.store(gone, Ordering::Relaxed);
        if gone as usize == entries.len() {
            self.replace(ptr::null_mut(), guard);
        } else if 2 * gone as usize > entries.len() {
            self.replace(self.compacted(0).as_ptr(), guard);
        }
        content
    }

    /// The content of the version born at `born` and that of the next newer one, if that is superseded, too; `None` if it is gone.
    ///
    /// The lock of the chain's partition is held. O(log versions newer than it), unless many of those were unlinked.
    pub(crate) fn with_newer(&self, born: Timestamp) -> Option<(*mut T, Option<*mut T>)> {
        let entries = self.entries();
        let position = position_of(entries, born).filter(|position| entries[*position].born == born)?;
        let mut from_there = entries[position..].iter().filter(|entry| !entry.is_unlinked());
        let mut next = || from_there.next().map(|entry| entry.content.load(Ordering::Relaxed));
        (!entries[position].is_unlinked()).then(|| (next().unwrap_or_default(), next()))
    }

    /// The contents of all versions, newest first. The lock of the chain's partition is held.
    pub(crate) fn contents(&self) -> impl Iterator<Item = *mut T> {
        let linked = self.entries().iter().rev().filter(|entry| !entry.is_unlinked());
        linked.map(|entry| entry.content.load(Ordering::Relaxed))
    }

    /// Bytes of the array. The lock of the chain's partition is held.
    pub(crate) fn bytes(&self) -> usize {
        // SAFETY: linked, and only a holder of the lock replaces it.
        let versions = unsafe { self.0.load(Ordering::Acquire).as_ref() };
        versions.map_or(0, |versions| layout::<T>(versions.capacity).size())
    }

    /// The entries, under the lock.
    fn entries(&self) -> &[Entry<T>] {
        let versions = NonNull::new(self.0.load(Ordering::Acquire));
        // SAFETY: linked, and only a holder of the lock replaces it.
        versions.map_or(&[], |versions| unsafe { Versions::filled(versions) })
    }

    /// A new array with the versions that are not unlinked, and with room for `more` and then some.
    #[cold]
    fn compacted(&self, more: usize) -> NonNull<Versions<T>> {
        let linked = || self.entries().iter().filter(|entry| !entry.is_unlinked());
        let count = linked().count();
        let new = Versions::allocate((count + more + count / 2).next_power_of_two());
        for Entry { born, content } in linked() {
            let content = AtomicPtr::new(content.load(Ordering::Relaxed));
            // SAFETY: just made with room for all, and nobody else has it.
            unsafe { Versions::fill(new, Entry { born: *born, content }) };
        }
        new
    }

    /// Puts another array, or none, in the place of the present one, which is left to the epoch.
    fn replace(&self, new: *mut Versions<T>, guard: &Guard) {
        if let Some(old) = NonNull::new(self.0.swap(new, Ordering::AcqRel)) {
            // SAFETY: unlinked just now, and nobody else had it to unlink.
            unsafe { Versions::retire(old, guard) };
        }
    }
}

impl<T: 'static> Drop for Past<T> {
    /// The contents have been taken.
    fn drop(&mut self) {
        if let Some(versions) = NonNull::new(self.0.load(Ordering::Acquire)) {
            epoch::check_live(versions.as_ptr());
            // SAFETY: borrowed exclusively, and what was replaced before belongs to the epoch.
            unsafe { Versions::free(versions) };
        }
    }
}

/// The position of the newest entry born at or before `at`. Most of those who ask are near the newest: O(log entries newer than it).
#[inline]
fn position_of<T>(entries: &[Entry<T>], at: Timestamp) -> Option<usize> {
    let is_seen = |entry: &Entry<T>| {
        account::compared();
        entry.born <= at
    };
    let mut reach = 1;
    while reach < entries.len() && !is_seen(&entries[entries.len() - reach]) {
        reach *= 2;
    }
    let first = entries.len().saturating_sub(reach);
    (first + entries[first..].partition_point(is_seen)).checked_sub(1)
}

impl<T> Entry<T> {
    fn is_unlinked(&self) -> bool {
        self.content.load(Ordering::Relaxed) == unlinked()
    }
}

fn layout<T>(capacity: u32) -> Layout {
    let entries = Layout::array::<Entry<T>>(capacity as usize);
    let whole = entries.and_then(|entries| Layout::new::<Versions<T>>().extend(entries));
    whole.expect("an array of versions fits into memory").0
}

impl<T: 'static> Versions<T> {
    fn allocate(capacity: usize) -> NonNull<Self> {
        let capacity = u32::try_from(capacity)
            .expect("a chain has fewer versions than there are timestamps to hold them");
        let layout = layout::<T>(capacity);
        account::allocated(layout.size());
        // SAFETY: the header has a size.
        let memory = unsafe { alloc(layout) }.cast::<Self>();
        let Some(versions) = NonNull::new(memory) else { handle_alloc_error(layout) };
        let header = Versions { len: AtomicU32::new(0), unlinked: AtomicU32::new(0), capacity, entries: [] };
        // SAFETY: room for the header was just allocated.
        unsafe { versions.write(header) };
        versions
    }

    /// Where the entries begin.
    fn first(this: NonNull<Self>) -> *mut Entry<T> {
        // SAFETY: only an address within the allocation is computed.
        unsafe { &raw mut (*this.as_ptr()).entries }.cast()
    }

    /// The entries that are filled.
    ///
    /// # Safety
    /// The array is not freed during `'v`.
    #[inline]
    unsafe fn filled<'v>(this: NonNull<Self>) -> &'v [Entry<T>] {
        epoch::check_live(this.as_ptr());
        // SAFETY: not freed, as the caller promises; the header is changed through atomics only.
        let len = unsafe { this.as_ref() }.len.load(Ordering::Acquire);
        // SAFETY: so many entries are filled, and are changed through atomics only.
        unsafe { slice::from_raw_parts(Self::first(this), len as usize) }
    }

    /// # Safety
    /// The array is not freed.
    unsafe fn is_full(this: NonNull<Self>) -> bool {
        // SAFETY: as the caller promises.
        let header = unsafe { this.as_ref() };
        header.len.load(Ordering::Relaxed) == header.capacity
    }

    /// Fills the next entry.
    ///
    /// # Safety
    /// The array is neither freed nor full, and nobody else fills it.
    unsafe fn fill(this: NonNull<Self>, entry: Entry<T>) {
        // SAFETY: as the caller promises.
        let len = unsafe { this.as_ref() }.len.load(Ordering::Relaxed);
        // SAFETY: within the capacity, as the array is not full.
        let place = unsafe { Self::first(this).add(len as usize) };
        // SAFETY: no reader looks at it before `len` covers it.
        unsafe { place.write(entry) };
        // SAFETY: as the caller promises.
        unsafe { this.as_ref() }.len.store(len + 1, Ordering::Release);
    }

    /// Frees the array when every thread that is pinned now is unpinned.
    ///
    /// # Safety
    /// It is unlinked, and passed here once.
    unsafe fn retire(this: NonNull<Self>, guard: &Guard) {
        struct Retired<T>(NonNull<Versions<T>>);
        // SAFETY: nobody else frees the array, and its contents are not touched.
        unsafe impl<T> Send for Retired<T> {}
        impl<T: 'static> Retired<T> {
            fn free(self) {
                // SAFETY: every thread that might have searched it was unpinned since.
                unsafe { Versions::free(self.0) }
            }
        }
        // SAFETY: not freed before the epoch says so.
        account::freed(layout::<T>(unsafe { this.as_ref() }.capacity).size());
        let retired = Retired(this);
        // SAFETY: unlinked, as the caller promises; the closure uses nothing else.
        unsafe { guard.defer_free(this.as_ptr().cast(), move || retired.free()) };
    }

    /// Frees the array at once. Its contents are their owners'.
    ///
    /// # Safety
    /// Nobody uses it, nor will.
    unsafe fn free(this: NonNull<Self>) {
        // SAFETY: as the caller promises.
        let layout = layout::<T>(unsafe { this.as_ref() }.capacity);
        // SAFETY: from `allocate` with this layout; entries need no drop.
        unsafe { dealloc(this.as_ptr().cast(), layout) };
    }
}
