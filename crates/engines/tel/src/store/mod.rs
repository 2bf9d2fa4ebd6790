//! The allocator of blocks: powers of two from large extents that never move (LiveGraph, section 4,
//! "memory management").
//!
//! Small blocks have free lists in shards, of which each thread uses one; a shard takes chunks,
//! which are large blocks themselves, from the shared state. Large blocks are split in halves if
//! none of their size is free. Two free halves are joined again, so that extents do not break up
//! over time. The larger ones return their pages to the kernel while they are free. The largest
//! blocks come from the global allocator.
//!
//! A store may have its memory in a [file](self::scratch) instead, including the largest blocks.
//! Then it can run out: callers that can fail use [`BlockStore::allocate`]; callers that cannot
//! fail get memory outside the file, and from then on [`BlockStore::is_full`] makes callers take
//! the path that can fail. So little memory lies outside the file.
//!
//! Checked builds (`--cfg hedgerow_checked_memory`, Miri, the model checker) use the global
//! allocator for everything, so that their tools see every block.

mod buddies;
mod classes;
mod extent;
mod free_block;
mod scratch;
mod shared;

pub(crate) use scratch::Full;

use crate::layout::bytes_of;
use classes::{CHUNK, KEPT_BYTES, LARGE, LARGEST};
use extent::{allocate_globally, free_globally};
use free_block::Free;
use hedgerow_sync::atomic::{AtomicUsize, Ordering};
use hedgerow_sync::{Arc, Mutex};
use scratch::ScratchFile;
use shared::SharedMemory;
use std::cell::Cell;
use std::io;
use std::path::Path;
use std::ptr::NonNull;

/// True if all blocks come from the global allocator.
pub(crate) const IS_BYPASSED: bool = cfg!(any(hedgerow_checked_memory, hedgerow_shuttle, miri));

/// Number of free lists that threads share.
const SHARDS: usize = if IS_BYPASSED { 1 } else { 16 };

/// The allocator of blocks.
pub(crate) struct BlockStore {
    shards: Box<[Mutex<FreeShard>]>,
    shared: Mutex<SharedMemory>,
    scratch: Option<Arc<ScratchFile>>,
}

/// Free memory by class.
#[derive(Default)]
struct FreeShard {
    free: [Vec<Free>; LARGE as usize],
}

impl Default for BlockStore {
    fn default() -> Self {
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        BlockStore { shards, shared: Mutex::default(), scratch: None }
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
    /// Creates a store with its memory in a file in this directory, which may grow to `limit`
    /// bytes. Checked builds use no file.
    ///
    /// # Errors
    /// The file cannot be created.
    pub(crate) fn in_file(directory: &Path, limit: Option<usize>) -> io::Result<Self> {
        if IS_BYPASSED {
            return Ok(BlockStore::default());
        }
        let scratch = Arc::new(ScratchFile::new(directory, limit)?);
        let shared = Mutex::new(SharedMemory::in_file(Arc::clone(&scratch)));
        Ok(BlockStore { shared, scratch: Some(scratch), ..BlockStore::default() })
    }

    /// Allocates memory of a class, aligned to 64, with undefined content.
    ///
    /// # Errors
    /// The file cannot grow.
    pub(crate) fn allocate(&self, class: u8) -> Result<NonNull<u8>, Full> {
        self.allocate_with(class, SharedMemory::allocate)
    }

    /// Allocates memory of a class for a caller that cannot fail any more.
    pub(crate) fn allocate_surely(&self, class: u8) -> NonNull<u8> {
        let allocated = self.allocate_with(class, |shared, class| Ok(shared.allocate_surely(class)));
        allocated.unwrap_or_else(|Full { .. }| unreachable!("there is memory elsewhere"))
    }

    fn allocate_with(
        &self,
        class: u8,
        allocate: impl FnOnce(&mut SharedMemory, u8) -> Result<NonNull<u8>, Full>,
    ) -> Result<NonNull<u8>, Full> {
        if IS_BYPASSED || class > LARGEST && self.scratch.is_none() {
            return Ok(allocate_globally(bytes_of(class)));
        }
        if class >= LARGE {
            return allocate(&mut self.shared.lock(), class);
        }
        let mut shard = self.shards[shard_number()].lock();
        if let Some(Free(memory)) = shard.free[usize::from(class)].pop() {
            return Ok(memory);
        }
        shard.refill(class, &self.shared, allocate)
    }

    /// Returns true if the last attempt to grow the file failed, so that callers must take the path
    /// that can fail. O(1).
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.scratch.as_ref().is_some_and(|scratch| scratch.is_full())
    }

    /// Frees memory.
    ///
    /// # Safety
    /// It came from this store with the same class, and is not used any more.
    pub(crate) unsafe fn free(&self, memory: NonNull<u8>, class: u8) {
        let in_file = || self.scratch.as_ref().is_some_and(|scratch| scratch.has(memory));
        if IS_BYPASSED || class > LARGEST && !in_file() {
            // SAFETY: the caller's promise; blocks of this class outside the file came from the
            // global allocator.
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

    /// Bytes of the extents or of the file, in use or not.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        self.shared.lock().bytes()
    }

    /// Free bytes in the store. O(classes · shards + extents).
    pub(crate) fn free_bytes(&self) -> usize {
        let of_shard = |shard: &Mutex<FreeShard>| -> usize {
            let shard = shard.lock();
            (0..).zip(&shard.free).map(|(class, free)| free.len() * bytes_of(class)).sum()
        };
        self.shards.iter().map(of_shard).sum::<usize>() + self.shared.lock().free_bytes()
    }
}

impl FreeShard {
    /// Allocates memory of a small class: from blocks that other shards returned, or from a chunk
    /// whose rest is kept.
    fn refill(
        &mut self,
        class: u8,
        shared: &Mutex<SharedMemory>,
        allocate: impl FnOnce(&mut SharedMemory, u8) -> Result<NonNull<u8>, Full>,
    ) -> Result<NonNull<u8>, Full> {
        let mut shared = shared.lock();
        let given = shared.give_small(class);
        let free = &mut self.free[usize::from(class)];
        if !given.is_empty() {
            *free = given;
        } else {
            // A whole multiple: both are powers of two.
            let chunk = allocate(&mut shared, CHUNK)?;
            let count = bytes_of(CHUNK) / bytes_of(class);
            // Ascending order of use: blocks that are allocated in sequence lie in sequence.
            let blocks = (0..count).rev().map(|number| {
                let offset = number * bytes_of(class);
                let address = chunk.as_ptr().wrapping_add(offset);
                Free(NonNull::new(address).expect("within a chunk"))
            });
            free.extend(blocks);
        }
        let Free(memory) = free.pop().expect("a chunk is larger than a small block");
        Ok(memory)
    }
}

#[cfg(all(test, not(any(hedgerow_checked_memory, hedgerow_shuttle, miri))))]
mod tests;
