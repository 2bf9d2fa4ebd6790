//! Memory for blocks: powers of two out of large pieces that never move (LiveGraph, section 4, "memory management").
//!
//! Small blocks have free lists in shards, of which a thread uses one; a shard takes chunks from what all share, which are large
//! blocks themselves. Large blocks are split into halves where none of the size is free, and give the pages behind them back
//! to the system while they are free. The largest come from the global allocator. A store of blocks in a file that is mapped
//! into memory would differ in [`extent`](self::extent) only.
//!
//! Checked builds (`--cfg hedgerow_checked_memory`, Miri, the model checker) use the global allocator for all, so that their
//! tools see every block.

mod extent;
mod shared;

use crate::layout::{CLASSES, bytes_of};
use extent::{allocate_globally, free_globally};
use hedgerow_sync::Mutex;
use hedgerow_sync::atomic::{AtomicUsize, Ordering};
use shared::{LARGE, LARGEST, Shared};
use std::cell::Cell;
use std::ptr::NonNull;

/// Whether all blocks come from the global allocator.
pub(crate) const IS_BYPASSED: bool = cfg!(any(hedgerow_checked_memory, hedgerow_shuttle, miri));

/// Free lists that threads share.
const SHARDS: usize = if IS_BYPASSED { 1 } else { 16 };

/// The class of the chunks that shards cut up.
const CHUNK: u8 = 10;

/// Free bytes of one class that a shard keeps for itself; what is more it shares.
const KEPT_BYTES: usize = 1 << 18;

/// Where blocks come from and go to.
pub(crate) struct BlockStore {
    shards: Box<[Mutex<Shard>]>,
    shared: Mutex<Shared>,
}

/// Memory that is free, by class.
#[derive(Default)]
struct Shard {
    free: [Vec<Free>; LARGE as usize],
}

/// A block that nobody uses.
struct Free(NonNull<u8>);

// SAFETY: nobody else uses it.
unsafe impl Send for Free {}

impl Default for BlockStore {
    fn default() -> Self {
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        BlockStore { shards, shared: Mutex::default() }
    }
}

static NEXT_SHARD: AtomicUsize = AtomicUsize::new(0);

std::thread_local! {
    static SHARD: Cell<Option<usize>> = const { Cell::new(None) };
}

/// The shard of this thread.
#[inline]
fn shard_number() -> usize {
    SHARD.with(|shard| match shard.get() {
        Some(number) => number,
        None => {
            let number = NEXT_SHARD.fetch_add(1, Ordering::Relaxed) % SHARDS;
            shard.set(Some(number));
            number
        }
    })
}

impl BlockStore {
    /// Memory of a class, aligned to 64. What is in it is not defined.
    pub(crate) fn allocate(&self, class: u8) -> NonNull<u8> {
        if IS_BYPASSED || class > LARGEST {
            return allocate_globally(bytes_of(class));
        }
        if class >= LARGE {
            return self.shared.lock().allocate(class);
        }
        let mut shard = self.shards[shard_number()].lock();
        if let Some(Free(memory)) = shard.free[usize::from(class)].pop() {
            return memory;
        }
        shard.refill(class, &self.shared)
    }

    /// Gives memory back.
    ///
    /// # Safety
    /// It came from this store with the same class, and nobody uses it any more.
    pub(crate) unsafe fn free(&self, memory: NonNull<u8>, class: u8) {
        if IS_BYPASSED || class > LARGEST {
            // SAFETY: the caller's promise; blocks of this class came from there.
            return unsafe { free_globally(memory, bytes_of(class)) };
        }
        if class >= LARGE {
            return self.shared.lock().free(memory, class);
        }
        let mut shard = self.shards[shard_number()].lock();
        let free = &mut shard.free[usize::from(class)];
        free.push(Free(memory));
        if free.len() * bytes_of(class) > KEPT_BYTES {
            let half = free.split_off(free.len() / 2);
            self.shared.lock().take_small(class, half);
        }
    }

    /// Bytes that the store holds free. O(classes · shards).
    pub(crate) fn free_bytes(&self) -> usize {
        let of_shard = |shard: &Mutex<Shard>| -> usize {
            let shard = shard.lock();
            (0..).zip(&shard.free).map(|(class, free)| free.len() * bytes_of(class)).sum()
        };
        self.shards.iter().map(of_shard).sum::<usize>() + self.shared.lock().free_bytes()
    }
}

impl Shard {
    /// Memory of a small class: from what others gave back, else from a chunk of which the rest is kept.
    fn refill(&mut self, class: u8, shared: &Mutex<Shared>) -> NonNull<u8> {
        let mut shared = shared.lock();
        let given = shared.give_small(class);
        let free = &mut self.free[usize::from(class)];
        if !given.is_empty() {
            *free = given;
        } else {
            // Whole multiples: both are powers of two.
            let chunk = shared.allocate(CHUNK);
            let count = bytes_of(CHUNK) / bytes_of(class);
            // The first is used first: blocks that are made one after the other lie so.
            let blocks = (0..count).rev().map(|number| {
                let offset = number * bytes_of(class);
                let address = chunk.as_ptr().wrapping_add(offset);
                Free(NonNull::new(address).expect("within a chunk"))
            });
            free.extend(blocks);
        }
        let Free(memory) = free.pop().expect("a chunk is larger than a small block");
        memory
    }
}

const _: () = assert!(LARGE <= CHUNK && CHUNK <= LARGEST && (LARGEST as usize) < CLASSES);

#[cfg(all(test, not(any(hedgerow_checked_memory, hedgerow_shuttle, miri))))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Blocks keep what was written to them, and what is given back is used again.
        #[test]
        fn blocks_do_not_overlap(steps in prop::collection::vec((0..40_usize, 0..14_u8), 1..300)) {
            let store = BlockStore::default();
            let mut blocks: Vec<(NonNull<u8>, u8, u8)> = Vec::new();
            for (number, (choice, class)) in steps.into_iter().enumerate() {
                if choice < blocks.len() {
                    let (memory, class, mark) = blocks.swap_remove(choice);
                    // SAFETY: from the store, with this class, and written whole below.
                    let bytes = unsafe { std::slice::from_raw_parts(memory.as_ptr(), bytes_of(class)) };
                    prop_assert!(bytes.iter().all(|byte| *byte == mark));
                    // SAFETY: as above, and not used again.
                    unsafe { store.free(memory, class) };
                    continue;
                }
                let mark = number as u8;
                let memory = store.allocate(class);
                prop_assert_eq!(memory.addr().get() % 64, 0);
                // SAFETY: so many bytes were just handed out.
                unsafe { memory.write_bytes(mark, bytes_of(class)) };
                blocks.push((memory, class, mark));
            }
            let free = store.free_bytes();
            let used: usize = blocks.iter().map(|(_, class, _)| bytes_of(*class)).sum();
            // SAFETY: from the store, each once.
            blocks.into_iter().for_each(|(memory, class, _)| unsafe { store.free(memory, class) });
            prop_assert_eq!(store.free_bytes(), free + used);
        }
    }

    #[test]
    fn what_one_thread_gives_back_another_uses() {
        let store = BlockStore::default();
        let churn = |class: u8| {
            let blocks: Vec<NonNull<u8>> = (0..100_000).map(|_| store.allocate(class)).collect();
            // SAFETY: from the store, each once.
            blocks.into_iter().for_each(|memory| unsafe { store.free(memory, class) });
        };
        churn(0);
        let after_one = store.free_bytes();
        for _ in 0..4 {
            std::thread::scope(|scope| scope.spawn(|| churn(0)).join().expect("no panic"));
        }
        assert!(store.free_bytes() < 2 * after_one, "{} after {after_one}", store.free_bytes());
    }

    #[test]
    fn a_large_block_is_split_for_smaller_ones() {
        let store = BlockStore::default();
        let large = store.allocate(LARGEST);
        // SAFETY: from the store.
        unsafe { store.free(large, LARGEST) };
        let before = store.free_bytes();
        let one = store.allocate(LARGE);
        assert_eq!(store.free_bytes(), before - bytes_of(LARGE));
        // SAFETY: from the store.
        unsafe { store.free(one, LARGE) };
    }
}
