//! Large blocks, and the state that shards share.

use super::Free;
use super::extent::{MemoryExtent, allocate_globally, give_back_pages};
use super::scratch::{Full, ScratchFile};
use crate::layout::{CLASSES, SMALLEST, bytes_of};
use hedgerow_sync::Arc;
use std::ptr::NonNull;

/// The smallest class that is not divided from chunks: 8 KiB.
pub(super) const LARGE: u8 = 7;

/// The largest class that is taken from extents: 512 KiB.
pub(super) const LARGEST: u8 = 13;

/// The smallest class whose free blocks return their pages, except the first, which a file does not
/// keep either: 128 KiB.
const GIVEN_BACK_FROM: u8 = 11;

/// State that all threads share, behind a lock.
#[derive(Default)]
pub(super) struct SharedMemory {
    /// Free blocks by class. Those beyond [`LARGEST`] lie in the file.
    free: [Vec<Free>; CLASSES],
    extents: Vec<MemoryExtent>,
    scratch: Option<Arc<ScratchFile>>,
}

impl SharedMemory {
    /// The shared state of a store with its memory in a file.
    pub(super) fn in_file(scratch: Arc<ScratchFile>) -> Self {
        SharedMemory { scratch: Some(scratch), ..SharedMemory::default() }
    }

    /// Allocates a large block: a free one, a part of a larger one, or memory never used before.
    /// O(classes).
    ///
    /// # Errors
    /// The file cannot grow.
    pub(super) fn allocate(&mut self, class: u8) -> Result<NonNull<u8>, Full> {
        let larger = (class..CLASSES as u8).find(|larger| !self.free[usize::from(*larger)].is_empty());
        let Some(larger) = larger else { return self.cut(class) };
        let Free(memory) = self.free[usize::from(larger)].pop().expect("found there");
        // Only the part in use needs its room on the disk again.
        let reserved = larger.min(class.max(GIVEN_BACK_FROM));
        self.split(memory, larger, reserved);
        if reserved >= GIVEN_BACK_FROM
            && let Some(scratch) = self.scratch.as_ref().filter(|scratch| scratch.has(memory))
            && let Err(full) = scratch.reserve(memory, bytes_of(reserved))
        {
            self.free[usize::from(reserved)].push(Free(memory));
            return Err(full);
        }
        self.split(memory, reserved, class);
        Ok(memory)
    }

    /// Allocates a large block, outside the file if that cannot grow.
    pub(super) fn allocate_surely(&mut self, class: u8) -> NonNull<u8> {
        if let Ok(memory) = self.allocate(class) {
            return memory;
        }
        if class > LARGEST {
            return allocate_globally(bytes_of(class));
        }
        let mut extent = MemoryExtent::new(0, bytes_of(LARGEST));
        let memory = extent.cut(bytes_of(class)).expect("an extent has room for the largest block");
        self.extents.push(extent);
        memory
    }

    /// Splits a block into one of a smaller class at its front, and free halves.
    fn split(&mut self, memory: NonNull<u8>, class: u8, smaller: u8) {
        for half in smaller..class {
            let second = memory.as_ptr().wrapping_add(bytes_of(half));
            self.free[usize::from(half)].push(Free(NonNull::new(second).expect("within a block")));
        }
    }

    /// Takes memory that was never used.
    fn cut(&mut self, class: u8) -> Result<NonNull<u8>, Full> {
        if class > LARGEST {
            let scratch =
                self.scratch.as_ref().expect("without a file, such blocks come from the global allocator");
            return scratch.extend(bytes_of(class), bytes_of(class)).map(|(memory, _)| memory);
        }
        if let Some(memory) = self.extents.last_mut().and_then(|extent| extent.cut(bytes_of(class))) {
            return Ok(memory);
        }
        if let Some(last) = self.extents.last_mut() {
            // Free the rest of it, in blocks as large as fit.
            for class in (0..=LARGEST).rev() {
                while let Some(memory) = last.cut(bytes_of(class)) {
                    self.free[usize::from(class)].push(Free(memory));
                }
            }
        }
        let (number, least) = (self.extents.len(), bytes_of(LARGEST).max(SMALLEST));
        let mut extent = match &self.scratch {
            Some(scratch) => MemoryExtent::in_file(number, least, scratch)?,
            None => MemoryExtent::new(number, least),
        };
        let memory = extent.cut(bytes_of(class)).expect("an extent has room for the largest block");
        self.extents.push(extent);
        Ok(memory)
    }

    /// Frees a large block.
    pub(super) fn free(&mut self, memory: NonNull<u8>, class: u8) {
        if class >= GIVEN_BACK_FROM {
            match self.scratch.as_ref().filter(|scratch| scratch.has(memory)) {
                Some(scratch) => scratch.give_back(memory, bytes_of(class)),
                None => give_back_pages(memory, bytes_of(class)),
            }
        }
        self.free[usize::from(class)].push(Free(memory));
    }

    /// Takes over a shard's surplus blocks.
    pub(super) fn take_small(&mut self, class: u8, mut blocks: Vec<Free>) {
        self.free[usize::from(class)].append(&mut blocks);
    }

    /// Gives some blocks of a small class to a shard that has none.
    pub(super) fn give_small(&mut self, class: u8) -> Vec<Free> {
        let free = &mut self.free[usize::from(class)];
        let count = (super::KEPT_BYTES / 2 / bytes_of(class)).max(1);
        free.split_off(free.len().saturating_sub(count))
    }

    /// Free bytes. Blocks beyond [`LARGEST`] take neither memory nor disk room while they are free.
    pub(super) fn free_bytes(&self) -> usize {
        let bytes = |(class, free): (u8, &Vec<Free>)| free.len() * bytes_of(class);
        (0..=LARGEST).zip(&self.free).map(bytes).sum()
    }
}
