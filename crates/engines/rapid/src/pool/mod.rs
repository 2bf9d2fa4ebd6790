//! Memory for blocks and leaves: large regions on huge pages, divided by a good-fit allocator.
//!
//! The blocks of a graph grow and are copied at random, so that a general-purpose allocator
//! scatters them over 4 KiB pages. In regions of tens of mebibytes on huge pages, readers access
//! most of them without a TLB miss, and adjacent free pieces coalesce. A region that has become
//! empty is returned to the system.
//!
//! There is one pool per process, as with any allocator: graphs come and go and reuse each other's
//! memory. It is locked for the tens of nanoseconds that an allocation takes, when a block outgrows
//! its memory or is copied for a snapshot. Checked builds (`--cfg hedgerow_checked_memory`, Miri,
//! the model checker) use the global allocator instead, so that their tools see every piece.

mod region;

use hedgerow_sync::{Mutex, MutexGuard, OnceLock};
use region::Region;
use std::alloc::Layout;
use std::collections::BTreeMap;
use std::ptr::NonNull;

/// Maximum size of a piece in a region; larger pieces come from the global allocator.
const LARGEST: usize = region::BYTES / 8;

/// True if all pieces come from the global allocator.
const IS_BYPASSED: bool = cfg!(any(hedgerow_checked_memory, hedgerow_shuttle, miri));

/// Memory use of the pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolUse {
    /// Bytes of all regions, whether backed by physical memory or not.
    pub region_bytes: usize,
    /// Bytes of the regions that have ever been in use.
    pub touched_bytes: usize,
    /// Bytes of pieces in use.
    pub used_bytes: usize,
}

impl PoolUse {
    /// Bytes that cost memory but are in no piece: freed pieces, and gaps between pieces.
    #[must_use]
    pub fn free_bytes(&self) -> usize {
        self.touched_bytes - self.used_bytes
    }
}

/// Memory use of the pool, which all graphs of the process share. O(regions).
#[must_use]
pub fn pool_use() -> PoolUse {
    if IS_BYPASSED {
        // Also, models that run in parallel must not share a lock.
        return PoolUse::default();
    }
    let pool = lock();
    let regions = pool.regions.values();
    regions.fold(PoolUse::default(), |sum, region| PoolUse {
        region_bytes: sum.region_bytes + region::BYTES,
        touched_bytes: sum.touched_bytes + region.touched_bytes(),
        used_bytes: sum.used_bytes + region.used_bytes(),
    })
}

static POOL: OnceLock<Mutex<Pool>> = OnceLock::new();

fn lock() -> MutexGuard<'static, Pool> {
    POOL.get_or_init(Mutex::default).lock()
}

/// The regions by address.
#[derive(Default)]
struct Pool {
    regions: BTreeMap<usize, Region>,
    /// The region that last had room.
    current: usize,
}

/// The size handed out for `bytes`, after the allocator's rounding.
#[inline]
pub(crate) const fn rounded(bytes: usize) -> usize {
    (bytes + region::HEADER).next_multiple_of(region::GRANULE) - region::HEADER
}

/// Allocates memory of a [`rounded`] size, aligned to 16.
pub(crate) fn allocate(bytes: usize) -> NonNull<u8> {
    debug_assert_eq!(bytes, rounded(bytes));
    if IS_BYPASSED || bytes > LARGEST {
        return allocate_globally(layout(bytes));
    }
    lock().allocate(bytes)
}

/// Frees memory.
///
/// # Safety
/// It came from [`allocate`] with the same size, and is not used any more.
pub(crate) unsafe fn free(memory: NonNull<u8>, bytes: usize) {
    if IS_BYPASSED || bytes > LARGEST {
        // SAFETY: the caller's promise; pieces of this size came from the global allocator.
        unsafe { std::alloc::dealloc(memory.as_ptr(), layout(bytes)) };
        return;
    }
    // SAFETY: the caller's promise.
    unsafe { lock().free(memory, bytes) }
}

impl Pool {
    fn allocate(&mut self, bytes: usize) -> NonNull<u8> {
        if let Some(memory) = self.regions.get_mut(&self.current).and_then(|region| region.allocate(bytes)) {
            return memory;
        }
        for (address, region) in &mut self.regions {
            if let Some(memory) = region.allocate(bytes) {
                self.current = *address;
                return memory;
            }
        }
        let mut region = Region::new();
        let memory = region.allocate(bytes).expect("a new region has room for the largest piece");
        self.current = region.address();
        self.regions.insert(region.address(), region);
        memory
    }

    /// # Safety
    /// The contract of [`free`].
    unsafe fn free(&mut self, memory: NonNull<u8>, bytes: usize) {
        let at_most = self.regions.range_mut(..=memory.addr().get()).next_back();
        let (address, region) = at_most.expect("a piece lies in a region");
        // SAFETY: regions do not overlap, so this region handed out the piece.
        unsafe { region.free(memory, bytes) };
        let (address, is_empty) = (*address, region.used_bytes() == 0);
        if is_empty && self.regions.len() > 1 {
            self.regions.remove(&address);
        }
    }
}

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, 16).expect("sizes are far below the largest")
}

fn allocate_globally(layout: Layout) -> NonNull<u8> {
    // SAFETY: no size is zero.
    let memory = unsafe { std::alloc::alloc(layout) };
    NonNull::new(memory).unwrap_or_else(|| std::alloc::handle_alloc_error(layout))
}

#[cfg(all(test, not(any(hedgerow_checked_memory, hedgerow_shuttle, miri))))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Pieces keep their content, and all memory is returned.
        #[test]
        fn pieces_do_not_overlap(steps in prop::collection::vec((0..40_usize, 1..60_000_usize), 1..200)) {
            let mut pool = Pool::default();
            let mut pieces: Vec<(NonNull<u8>, usize, u8)> = Vec::new();
            for (number, (choice, bytes)) in steps.into_iter().enumerate() {
                if choice < pieces.len() {
                    let (memory, bytes, mark) = pieces.swap_remove(choice);
                    // SAFETY: from the pool, with this size, and written whole below.
                    let piece = unsafe { std::slice::from_raw_parts(memory.as_ptr(), bytes) };
                    prop_assert!(piece.iter().all(|byte| *byte == mark));
                    // SAFETY: as above, and not used again.
                    unsafe { pool.free(memory, bytes) };
                    continue;
                }
                let (bytes, mark) = (rounded(bytes), number as u8);
                let memory = pool.allocate(bytes);
                prop_assert_eq!(memory.addr().get() % 16, 0);
                // SAFETY: `bytes` bytes were just handed out.
                unsafe { memory.write_bytes(mark, bytes) };
                pieces.push((memory, bytes, mark));
            }
            let used: usize = pool.regions.values().map(Region::used_bytes).sum();
            prop_assert_eq!(used, pieces.iter().map(|(_, bytes, _)| bytes).sum::<usize>());
            // SAFETY: from the pool, each once.
            pieces.into_iter().for_each(|(memory, bytes, _)| unsafe { pool.free(memory, bytes) });
            prop_assert!(pool.regions.values().all(|region| region.used_bytes() == 0));
        }
    }

    #[test]
    fn an_empty_region_is_returned_to_the_system() {
        let mut pool = Pool::default();
        let bytes = rounded(LARGEST - 100);
        let pieces: Vec<_> = (0..40).map(|_| pool.allocate(bytes)).collect();
        assert!(pool.regions.len() > 2);
        // SAFETY: from the pool, each once.
        pieces.into_iter().for_each(|memory| unsafe { pool.free(memory, bytes) });
        assert_eq!(pool.regions.len(), 1);
    }
}
