//! The superseded versions of a chain: one array, oldest first, which readers search by bisection.
//!
//! 1. The pointer is null or points to an array whose first `len` entries are filled, ascending by
//!    birth. `len` only grows, and a filled entry keeps its birth.
//! 2. Only a holder of the lock of the chain's partition changes anything, so there is one writer
//!    at a time.
//! 3. An entry is filled before `len` covers it, and an array is complete before it is published
//!    (Release, Acquire).
//! 4. An entry owns the content of its version until the version is unlinked. Its birth stays, so
//!    that bisection needs no extra check.
//! 5. When an array is full, or more than half of its versions are unlinked, a new array with the
//!    remaining versions replaces it; when no version remains, null replaces it. The old array is
//!    freed once no reader can be searching it: readers are pinned while they search.

use hedgerow_in_memory::reclamation::account;
use hedgerow_model::CommitTimestamp;
use hedgerow_sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use hedgerow_sync::epoch::{self, Domain, Guard};
use hedgerow_sync::prefetch;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::{self, NonNull};
use std::slice;

/// The superseded versions of a chain.
pub(crate) struct Past<T: 'static>(AtomicPtr<Versions<T>>);

/// An array of versions: this header, followed by `capacity` entries.
#[repr(C)]
struct Versions<T> {
    len: AtomicU32,
    /// Number of filled entries that are unlinked. Used only under the lock.
    unlinked: AtomicU32,
    capacity: u32,
    entries: [PastVersion<T>; 0],
}

struct PastVersion<T> {
    born: CommitTimestamp,
    /// The content, possibly null; [`unlinked`] once the version is unlinked.
    content: AtomicPtr<T>,
}

/// Marks the entry of an unlinked version.
fn unlinked<T>() -> *mut T {
    ptr::without_provenance_mut(1)
}

impl<T: 'static> Default for Past<T> {
    fn default() -> Self {
        Past(AtomicPtr::new(ptr::null_mut()))
    }
}

impl<T: 'static> Past<T> {
    /// Returns true if there is no superseded version.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.load(Ordering::Acquire).is_null()
    }

    /// The content of the newest version born at or before `at`; null if that version is empty or
    /// there is none.
    ///
    /// `at` is a registered timestamp whose version was superseded. Pins the domain of the graph.
    /// O(log number of newer versions).
    pub(crate) fn find(&self, at: CommitTimestamp, domain: &Domain) -> *mut T {
        let _pin = domain.pin();
        let Some(versions) = NonNull::new(self.0.load(Ordering::Acquire)) else { return ptr::null_mut() };
        // SAFETY: the thread was pinned before the load, so the array is not freed meanwhile.
        let entries = unsafe { Versions::filled(versions) };
        let content = match position_of(entries, at) {
            Some(position) => entries[position].content.load(Ordering::Relaxed),
            None => ptr::null_mut(),
        };
        // Under the model checker, other threads run at each load: the array must be live after the
        // loads, too.
        epoch::check_live(versions.as_ptr());
        content
    }

    /// Prefetches the start of the array, the whole of a short one.
    #[inline]
    pub(crate) fn prefetch(&self) {
        prefetch(self.0.load(Ordering::Relaxed), size_of::<Versions<T>>() + 2 * size_of::<PastVersion<T>>());
    }

    /// Appends the version born at `born`, which is newer than all others, and takes ownership of
    /// its content. O(1) amortized.
    ///
    /// The caller holds the lock of the chain's partition.
    pub(crate) fn push(&self, born: CommitTimestamp, content: *mut T, domain: &Domain) {
        let versions = match NonNull::new(self.0.load(Ordering::Acquire)) {
            // SAFETY: linked, and only the holder of the lock, this thread, replaces it.
            Some(versions) if !unsafe { Versions::is_full(versions) } => versions,
            _ => {
                let larger = self.compacted(1);
                self.replace(larger.as_ptr(), &domain.pin());
                // Maintenance, which also frees, may never run.
                domain.free_if_due();
                larger
            }
        };
        // SAFETY: not full; linked, and only this thread changes it.
        unsafe { Versions::fill(versions, PastVersion { born, content: AtomicPtr::new(content) }) };
    }

    /// Unlinks the version born at `born` and returns its content, which may be null. O(log number
    /// of newer versions) on average.
    ///
    /// The caller holds the lock of the chain's partition, and no live timestamp sees the version.
    /// Panics if there is no such version.
    pub(crate) fn unlink(&self, born: CommitTimestamp, guard: &Guard<'_>) -> *mut T {
        let versions = NonNull::new(self.0.load(Ordering::Acquire)).expect("a filed version is linked");
        // SAFETY: linked, and only the holder of the lock, this thread, replaces it.
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

    /// Returns the content of the version born at `born`, and the content of the next newer version
    /// if that is superseded, too. Returns `None` if the version is gone.
    ///
    /// The caller holds the lock of the chain's partition. O(log number of newer versions), unless
    /// many newer versions were unlinked.
    pub(crate) fn with_newer(&self, born: CommitTimestamp) -> Option<(*mut T, Option<*mut T>)> {
        let entries = self.entries();
        let position = position_of(entries, born).filter(|position| entries[*position].born == born)?;
        let mut from_there = entries[position..].iter().filter(|entry| !entry.is_unlinked());
        let mut next = || from_there.next().map(|entry| entry.content.load(Ordering::Relaxed));
        (!entries[position].is_unlinked()).then(|| (next().unwrap_or_default(), next()))
    }

    /// The contents of all versions, newest first. The caller holds the lock of the chain's
    /// partition.
    pub(crate) fn contents(&self) -> impl Iterator<Item = *mut T> {
        let linked = self.entries().iter().rev().filter(|entry| !entry.is_unlinked());
        linked.map(|entry| entry.content.load(Ordering::Relaxed))
    }

    /// The size of the array in bytes. The caller holds the lock of the chain's partition.
    pub(crate) fn bytes(&self) -> usize {
        // SAFETY: linked, and only a holder of the lock replaces it.
        let versions = unsafe { self.0.load(Ordering::Acquire).as_ref() };
        versions.map_or(0, |versions| layout::<T>(versions.capacity).size())
    }

    /// The entries. The caller holds the lock.
    fn entries(&self) -> &[PastVersion<T>] {
        let versions = NonNull::new(self.0.load(Ordering::Acquire));
        // SAFETY: linked, and only a holder of the lock replaces it.
        versions.map_or(&[], |versions| unsafe { Versions::filled(versions) })
    }

    /// A new array with the versions that are still linked and spare room for at least `more`.
    #[cold]
    fn compacted(&self, more: usize) -> NonNull<Versions<T>> {
        let linked = || self.entries().iter().filter(|entry| !entry.is_unlinked());
        let count = linked().count();
        let new = Versions::allocate((count + more + count / 2).next_power_of_two());
        for PastVersion { born, content } in linked() {
            let content = AtomicPtr::new(content.load(Ordering::Relaxed));
            // SAFETY: newly allocated with room for all, and not shared yet.
            unsafe { Versions::fill(new, PastVersion { born: *born, content }) };
        }
        new
    }

    /// Replaces the array by another or none, and frees the old one once no reader can be searching
    /// it.
    fn replace(&self, new: *mut Versions<T>, guard: &Guard<'_>) {
        if let Some(old) = NonNull::new(self.0.swap(new, Ordering::AcqRel)) {
            // SAFETY: just unlinked by this thread, which holds the lock.
            unsafe { Versions::retire(old, guard) };
        }
    }
}

impl<T: 'static> Drop for Past<T> {
    /// Frees the array. The owner has taken the contents.
    fn drop(&mut self) {
        if let Some(versions) = NonNull::new(self.0.load(Ordering::Acquire)) {
            epoch::check_live(versions.as_ptr());
            // SAFETY: borrowed exclusively; arrays replaced earlier belong to the domain.
            unsafe { Versions::free(versions) };
        }
    }
}

/// Returns the position of the newest entry born at or before `at`. Gallops from the newest entry,
/// since most readers look for recent ones: O(log number of newer entries).
#[inline]
fn position_of<T>(entries: &[PastVersion<T>], at: CommitTimestamp) -> Option<usize> {
    let is_seen = |entry: &PastVersion<T>| {
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

impl<T> PastVersion<T> {
    fn is_unlinked(&self) -> bool {
        self.content.load(Ordering::Relaxed) == unlinked()
    }
}

fn layout<T>(capacity: u32) -> Layout {
    let entries = Layout::array::<PastVersion<T>>(capacity as usize);
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

    /// The address of the first entry.
    fn first(this: NonNull<Self>) -> *mut PastVersion<T> {
        // SAFETY: only an address within the allocation is computed.
        unsafe { &raw mut (*this.as_ptr()).entries }.cast()
    }

    /// The filled entries.
    ///
    /// # Safety
    /// The array is not freed during `'v`.
    #[inline]
    unsafe fn filled<'v>(this: NonNull<Self>) -> &'v [PastVersion<T>] {
        epoch::check_live(this.as_ptr());
        // SAFETY: not freed, as the caller promises; the header is changed through atomics only.
        let len = unsafe { this.as_ref() }.len.load(Ordering::Acquire);
        // SAFETY: `len` entries are filled, and are changed through atomics only.
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
    /// The array is neither freed nor full, and no other thread fills it.
    unsafe fn fill(this: NonNull<Self>, entry: PastVersion<T>) {
        // SAFETY: as the caller promises.
        let len = unsafe { this.as_ref() }.len.load(Ordering::Relaxed);
        // SAFETY: within the capacity, as the array is not full.
        let place = unsafe { Self::first(this).add(len as usize) };
        // SAFETY: readers do not access it before `len` covers it.
        unsafe { place.write(entry) };
        // SAFETY: as the caller promises.
        unsafe { this.as_ref() }.len.store(len + 1, Ordering::Release);
    }

    /// Frees the array once every thread that is pinned now has unpinned.
    ///
    /// # Safety
    /// It is unlinked, and is retired once.
    unsafe fn retire(this: NonNull<Self>, guard: &Guard<'_>) {
        unsafe fn free<T: 'static>(array: *mut u8) {
            let array = NonNull::new(array.cast::<Versions<T>>()).expect("it was not null");
            // SAFETY: no reader can be searching it any more. This touches no content, so any
            // thread may free it.
            unsafe { Versions::free(array) }
        }
        // SAFETY: it is not freed before the call below.
        let bytes = layout::<T>(unsafe { this.as_ref() }.capacity).size();
        account::freed(bytes);
        // SAFETY: unlinked, as the caller promises.
        unsafe { guard.defer_free(this.as_ptr().cast(), bytes, free::<T>) };
    }

    /// Frees the array at once, but not its contents.
    ///
    /// # Safety
    /// It is not in use, and will not be.
    unsafe fn free(this: NonNull<Self>) {
        // SAFETY: as the caller promises.
        let layout = layout::<T>(unsafe { this.as_ref() }.capacity);
        // SAFETY: from `allocate` with this layout; entries need no drop.
        unsafe { dealloc(this.as_ptr().cast(), layout) };
    }
}
