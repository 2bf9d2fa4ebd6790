//! Version chains: the one place where versions are linked, walked and freed.
//!
//! This is the only module of the crate with `unsafe` code. Its invariants:
//!
//! 1. `head` and every `older` are null or came from `Box::into_raw` of a version whose `born` and
//!    `content` never change again. Births descend strictly along a chain.
//! 2. Links are changed only by a holder of the exclusive lock of the chain's partition
//!    ([`HeldLocks`], checked when the change is set up), so there is one writer at a time.
//! 3. A version leaves its chain in two ways, and is dropped once through the epoch afterwards:
//!    - as a head born at or after a stamp's `editable_from`: nobody sees it or will ([`Stamp`]);
//!    - as a superseded version whose lifetime, from its birth to its superseding, has no live
//!      timestamp ([`LiveTimestamps`](hedgerow_model::token::LiveTimestamps), asked by the
//!      reclamation before it calls [`Chain::unlink`]).
//! 4. So the version that a registered timestamp sees is linked as long as the timestamp is
//!    registered, and a walk from the head, pinned, comes by it: the versions before it are newer
//!    than the timestamp, linked or just unlinked, and the `older` of an unlinked version leads to
//!    what followed when it was unlinked, which the pin keeps from being dropped.
//!
//! `tests/shuttle.rs` checks them under the model checker. The tests below also run under Miri, with
//! tree borrows, because `crossbeam-epoch` breaks the stacked ones:
//! `MIRIFLAGS="-Zmiri-tree-borrows -Zmiri-permissive-provenance -Zmiri-ignore-leaks" cargo +nightly miri test -p hedgerow-rapid --lib chain`

use crate::memory::MemoryChange;
use hedgerow_model::token::{HeldLocks, Registered, Stamp};
use hedgerow_model::{LockUnit, Timestamp};
use hedgerow_sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use hedgerow_sync::epoch::{self, Guard};
use std::marker::PhantomData;
use std::ptr;

/// What a version holds. Never changed once published.
pub(crate) trait Content: Send + Sync + 'static {
    /// Bytes on the heap, those shared with other versions included.
    fn heap_bytes(&self) -> usize;

    /// Those of the bytes on the heap that `newer` shares.
    fn shared_bytes(&self, newer: &Self) -> usize;
}

/// The bytes that a version with this content takes.
pub(crate) fn version_bytes<T: Content>(content: &T) -> usize {
    size_of::<Version<T>>() + content.heap_bytes()
}

/// A state of one block, from its birth until the birth of the next.
struct Version<T> {
    born: Timestamp,
    bytes: usize,
    /// Bytes not shared with the next newer version; 0 for the newest. Written under the lock.
    unshared_bytes: AtomicUsize,
    older: AtomicPtr<Version<T>>,
    content: T,
}

impl<T> Version<T> {
    /// The next older version, or null.
    #[inline]
    fn older(&self) -> *mut Version<T> {
        let older = self.older.load(Ordering::Acquire);
        // Under the model checker others run at the load: this version has to be live after it, too.
        epoch::check_live(self);
        older
    }
}

impl<T: Content> Version<T> {
    /// Recounts the bytes that `newer`, now the next newer version, does not share; the difference.
    fn recount_unshared(&self, newer: &Version<T>) -> isize {
        let unshared = self.bytes - self.content.shared_bytes(&newer.content);
        let before = self.unshared_bytes.load(Ordering::Relaxed);
        self.unshared_bytes.store(unshared, Ordering::Relaxed);
        unshared as isize - before as isize
    }
}

/// The versions of one block, newest first.
pub(crate) struct Chain<T: Content> {
    head: AtomicPtr<Version<T>>,
}

impl<T: Content> Default for Chain<T> {
    fn default() -> Self {
        Chain { head: AtomicPtr::new(ptr::null_mut()) }
    }
}

/// A version that is built but not linked. Dropping it changes nothing.
pub(crate) struct Successor<'l, T: Content> {
    chain: &'l Chain<T>,
    locks: PhantomData<&'l HeldLocks<'l>>,
    /// The birth of the head that the content was derived from.
    base: Option<Timestamp>,
    version: Box<Version<T>>,
}

/// What linking a version did.
pub(crate) struct Linked {
    pub(crate) memory: MemoryChange,
    /// The birth of the version that is superseded and kept.
    pub(crate) kept: Option<Timestamp>,
}

impl<T: Content> Chain<T> {
    /// The content at a registered timestamp. O(versions newer than it).
    #[inline]
    pub(crate) fn at<'s>(&'s self, at: &'s Registered) -> Option<&'s T> {
        if self.head.load(Ordering::Acquire).is_null() {
            return None;
        }
        let _pin = epoch::pin();
        let mut pointer = self.head.load(Ordering::Acquire);
        // SAFETY: pinned since before the head was loaded, so that by invariant 4 neither what
        // head or `older` led to is dropped meanwhile. The last one, which is returned, is kept
        // for as long as `at` is registered, which is at least `'s`.
        while let Some(version) = unsafe { deref::<T>(pointer) } {
            if version.born <= at.at() {
                return Some(&version.content);
            }
            pointer = version.older();
        }
        None
    }

    /// The newest content, under the chain's lock. Panics if `unit` is not locked. O(1).
    #[inline]
    pub(crate) fn newest<'l>(&'l self, locks: &'l HeldLocks<'_>, unit: LockUnit) -> Option<&'l T> {
        Some(&self.locked_head(locks, unit)?.content)
    }

    /// A version that will follow the newest. Panics if `unit`, the chain's lock, is not held.
    pub(crate) fn succeed<'l>(
        &'l self,
        locks: &'l HeldLocks<'_>,
        unit: LockUnit,
        content: T,
    ) -> Successor<'l, T> {
        let base = self.locked_head(locks, unit).map(|head| head.born);
        let version = Box::new(Version {
            born: Timestamp::ZERO,
            bytes: version_bytes(&content),
            unshared_bytes: AtomicUsize::new(0),
            older: AtomicPtr::new(ptr::null_mut()),
            content,
        });
        Successor { chain: self, locks: PhantomData, base, version }
    }

    /// Unlinks the superseded version born at `born`, which no live timestamp sees, and leaves
    /// it to the epoch. Panics if `unit`, the chain's lock, is not held, or if there is no such version.
    /// O(versions newer than it).
    pub(crate) fn unlink(
        &self,
        locks: &HeldLocks<'_>,
        unit: LockUnit,
        born: Timestamp,
        guard: &Guard,
    ) -> MemoryChange {
        let mut newer = self.locked_head(locks, unit).expect("a superseded version has a successor");
        let (pointer, version) = loop {
            let pointer = newer.older();
            // SAFETY: linked, and this thread holds the lock under which versions are unlinked.
            let version = unsafe { deref::<T>(pointer) }.expect("a filed version is linked");
            if version.born == born {
                break (pointer, version);
            }
            newer = version;
        };
        let older = version.older();
        newer.older.store(older, Ordering::Release);
        // SAFETY: `older` is linked, under the lock that this thread holds.
        let now_unshared = unsafe { deref::<T>(older) }.map_or(0, |older| older.recount_unshared(newer));
        let freed = version.unshared_bytes.load(Ordering::Relaxed) as isize;
        // SAFETY: unlinked above under the lock, by invariant 3 invisible to everyone, and only once,
        // because it is not found in the chain again.
        unsafe { guard.defer_drop(pointer) };
        MemoryChange { live: 0, retained: now_unshared - freed }
    }

    /// What [`MemoryChange`] counts as retained for the version born at `born`; 0 if it is gone.
    pub(crate) fn retained_bytes(&self, born: Timestamp) -> usize {
        let _pin = epoch::pin();
        let mut pointer = self.head.load(Ordering::Acquire);
        // SAFETY: pinned since before the head was loaded, see invariant 4.
        while let Some(version) = unsafe { deref::<T>(pointer) } {
            if version.born == born {
                return version.unshared_bytes.load(Ordering::Relaxed);
            }
            pointer = version.older();
        }
        0
    }

    fn locked_head<'l>(&'l self, locks: &'l HeldLocks<'_>, unit: LockUnit) -> Option<&'l Version<T>> {
        assert!(locks.covers(unit), "partition {} is used without its lock", unit.0);
        let head = self.head.load(Ordering::Acquire);
        // SAFETY: only a holder of the lock unlinks a head. For `'l` that is the holder of
        // `locks`, who by the contract of `Stamp` reads nothing through them once it has applied.
        unsafe { deref(head) }
    }
}

impl<T: Content> Successor<'_, T> {
    /// Makes this the newest version, born at the stamp.
    ///
    /// A head that nobody can see is replaced; another one is kept behind this. O(1), and for
    /// large neighbour sets the comparison of their leaves.
    pub(crate) fn link(self, stamp: Stamp, guard: &Guard) -> Linked {
        let Successor { chain, mut version, base, .. } = self;
        let head_pointer = chain.head.load(Ordering::Acquire);
        // SAFETY: linked, and the lock under which heads are unlinked is held by whoever made this successor.
        let head = unsafe { deref::<T>(head_pointer) };
        assert!(
            head.map(|head| head.born) == base,
            "a change was applied to another state than it was prepared for"
        );
        assert!(base.is_none_or(|base| base < stamp.at()), "stamps reach a chain in ascending order");
        version.born = stamp.at();
        let mut memory = MemoryChange { live: version.bytes as isize, retained: 0 };
        let Some(head) = head else {
            chain.publish(version);
            return Linked { memory, kept: None };
        };
        memory.live -= head.bytes as isize;
        let replaces = head.born >= stamp.editable_from();
        let older = if replaces { head.older() } else { head_pointer };
        // SAFETY: the head or what it links to, both linked under the lock.
        memory.retained = unsafe { deref::<T>(older) }.map_or(0, |older| older.recount_unshared(&version));
        version.older = AtomicPtr::new(older);
        let kept = (!replaces).then_some(head.born);
        chain.publish(version);
        if replaces {
            // SAFETY: unlinked by the publication, invisible to everyone by invariant 3, and only
            // once, because it is not reachable from the chain any more.
            unsafe { guard.defer_drop(head_pointer) };
        }
        Linked { memory, kept }
    }
}

impl<T: Content> Chain<T> {
    fn publish(&self, version: Box<Version<T>>) {
        self.head.store(Box::into_raw(version), Ordering::Release);
    }

    /// Walks the chain and counts what [`MemoryChange`] counts step by step. For tests.
    #[cfg(test)]
    pub(crate) fn count_bytes(&self) -> MemoryChange {
        let _pin = epoch::pin();
        let mut counted = MemoryChange::default();
        let mut newer: Option<&Version<T>> = None;
        let mut pointer = self.head.load(Ordering::Acquire);
        // SAFETY: pinned since before the head was loaded, see invariant 4.
        while let Some(version) = unsafe { deref::<T>(pointer) } {
            match newer {
                None => counted.live = version_bytes(&version.content) as isize,
                Some(newer) => {
                    let shared = version.content.shared_bytes(&newer.content);
                    counted.retained += (version_bytes(&version.content) - shared) as isize;
                }
            }
            newer = Some(version);
            pointer = version.older();
        }
        counted
    }
}

impl<T: Content> Drop for Chain<T> {
    fn drop(&mut self) {
        let mut pointer = self.head.load(Ordering::Acquire);
        while !pointer.is_null() {
            epoch::check_live(pointer);
            // SAFETY: a box by invariant 1, reachable only from this chain, which nobody else
            // borrows; what was unlinked is not reachable and belongs to the epoch.
            let version = unsafe { Box::from_raw(pointer) };
            pointer = version.older();
        }
    }
}

/// The version behind a pointer that is null or valid.
///
/// # Safety
/// The version, if any, is not dropped during `'v`.
#[inline]
unsafe fn deref<'v, T>(pointer: *mut Version<T>) -> Option<&'v Version<T>> {
    if !pointer.is_null() {
        epoch::check_live(pointer);
    }
    // SAFETY: null, or from a box that lives during `'v`, as the caller promises; nobody makes an
    // exclusive reference to a published version before it is dropped.
    unsafe { pointer.as_ref() }
}

#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests {
    use super::*;
    use hedgerow_model::Counts;
    use hedgerow_sync::Arc;
    use hedgerow_sync::atomic::AtomicU64;

    const UNIT: LockUnit = LockUnit(0);

    /// Knows how many of its kind were dropped.
    struct Counted(u64, Arc<AtomicU64>);

    impl Drop for Counted {
        fn drop(&mut self) {
            self.1.fetch_add(1, Ordering::Relaxed);
        }
    }

    impl Content for Counted {
        fn heap_bytes(&self) -> usize {
            100
        }

        fn shared_bytes(&self, _newer: &Self) -> usize {
            10
        }
    }

    fn locks() -> HeldLocks<'static> {
        // SAFETY: the tests run their chain on one thread and hold no view across a link.
        unsafe { HeldLocks::all(Counts::default()) }
    }

    fn registered(at: u64) -> Registered {
        // SAFETY: the tests link, unlink and read as if this were registered until it is dropped.
        unsafe { Registered::new(Timestamp(at), Counts::default()) }
    }

    fn link(chain: &Chain<Counted>, value: u64, dropped: &Arc<AtomicU64>, editable_from: u64) -> Linked {
        // SAFETY: each test counts its stamps up, and its registered timestamps are below `editable_from`.
        let stamp = unsafe { Stamp::new(Timestamp(value), Timestamp(editable_from)) };
        let locks = locks();
        chain.succeed(&locks, UNIT, Counted(value, Arc::clone(dropped))).link(stamp, &epoch::pin())
    }

    fn read(chain: &Chain<Counted>, at: u64) -> Option<u64> {
        chain.at(&registered(at)).map(|content| content.0)
    }

    #[test]
    fn each_timestamp_reads_its_own_version() {
        let (chain, dropped) = (Chain::default(), Arc::default());
        assert_eq!(read(&chain, 9), None);
        assert_eq!(link(&chain, 2, &dropped, 0).kept, None);
        assert_eq!(link(&chain, 4, &dropped, 4).kept, Some(Timestamp(2)));
        assert_eq!([1, 2, 3, 4, 5].map(|at| read(&chain, at)), [None, Some(2), Some(2), Some(4), Some(4)]);
        assert_eq!(chain.newest(&locks(), UNIT).map(|content| content.0), Some(4));
    }

    #[test]
    fn a_head_that_nobody_can_see_is_replaced() {
        let (chain, dropped) = (Chain::default(), Arc::default());
        link(&chain, 2, &dropped, 0);
        link(&chain, 4, &dropped, 3);
        let linked = link(&chain, 5, &dropped, 3);
        assert_eq!(linked.kept, None);
        assert_eq!(linked.memory, MemoryChange::default());
        assert_eq!([2, 4, 5].map(|at| read(&chain, at)), [Some(2), Some(2), Some(5)]);
    }

    #[test]
    fn an_unlinked_version_is_gone_and_its_bytes_too() {
        let (chain, dropped) = (Chain::default(), Arc::default());
        let mut counted = MemoryChange::default();
        for value in 1..=4 {
            counted += link(&chain, value, &dropped, value).memory;
        }
        assert_eq!(counted, chain.count_bytes());
        counted += chain.unlink(&locks(), UNIT, Timestamp(2), &epoch::pin());
        assert_eq!(counted, chain.count_bytes());
        assert_eq!(chain.retained_bytes(Timestamp(2)), 0);
        assert_eq!([1, 3, 4].map(|at| read(&chain, at)), [Some(1), Some(3), Some(4)]);
        counted += chain.unlink(&locks(), UNIT, Timestamp(1), &epoch::pin());
        counted += chain.unlink(&locks(), UNIT, Timestamp(3), &epoch::pin());
        assert_eq!(counted.retained, 0);
        assert_eq!(counted, chain.count_bytes());
    }

    #[test]
    fn a_dropped_chain_drops_what_is_linked_and_a_dropped_successor_itself() {
        let (chain, dropped) = (Chain::default(), Arc::<AtomicU64>::default());
        for value in 1..=3 {
            link(&chain, value, &dropped, value);
        }
        drop(chain.succeed(&locks(), UNIT, Counted(9, Arc::clone(&dropped))));
        assert_eq!(dropped.load(Ordering::Relaxed), 1);
        drop(chain);
        assert_eq!(dropped.load(Ordering::Relaxed), 4);
    }

    #[test]
    #[should_panic(expected = "another state")]
    fn a_change_prepared_for_an_old_head_is_refused() {
        let (chain, dropped) = (Chain::default(), Arc::default());
        let locks = locks();
        let early = chain.succeed(&locks, UNIT, Counted(1, Arc::clone(&dropped)));
        link(&chain, 1, &dropped, 0);
        // SAFETY: the next stamp of this chain.
        let stamp = unsafe { Stamp::new(Timestamp(2), Timestamp(0)) };
        early.link(stamp, &epoch::pin());
    }

    #[test]
    #[should_panic(expected = "without its lock")]
    fn the_newest_version_needs_the_lock() {
        // SAFETY: no lock is held, and none is claimed.
        let none = unsafe { HeldLocks::stripes(&[], 0, Counts::default()) };
        Chain::<Counted>::default().newest(&none, UNIT);
    }

    /// Readers at registered timestamps walk while one writer links and unlinks.
    #[test]
    fn readers_walk_beside_a_writer() {
        let (chain, dropped) = (Chain::default(), Arc::default());
        link(&chain, 1, &dropped, 0);
        link(&chain, 2, &dropped, 2);
        std::thread::scope(|scope| {
            for at in [1, 2] {
                let chain = &chain;
                scope.spawn(move || (0..200).for_each(|_| assert_eq!(read(chain, at), Some(at))));
            }
            for value in 3..100 {
                // Timestamps 1 and 2 are registered; the version before is linked, then seen by nobody.
                let kept = link(&chain, value, &dropped, value.max(4) - 1).kept;
                if let Some(born) = kept.filter(|born| *born > Timestamp(2)) {
                    chain.unlink(&locks(), UNIT, born, &epoch::pin());
                }
            }
        });
    }
}
