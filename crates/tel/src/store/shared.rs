//! Large blocks, and what the shards have in common.

use super::Free;
use super::extent::{Extent, give_back_pages};
use crate::layout::{SMALLEST, bytes_of};
use std::ptr::NonNull;

/// The smallest class that is not cut out of chunks: 8 KiB.
pub(super) const LARGE: u8 = 7;

/// The largest class that is not the global allocator's: 512 KiB.
pub(super) const LARGEST: u8 = 13;

/// Free blocks from here on keep only their first page: 128 KiB.
const GIVEN_BACK_FROM: u8 = 11;

/// What is behind a lock for all threads.
#[derive(Default)]
pub(super) struct Shared {
    /// By class.
    free: [Vec<Free>; LARGEST as usize + 1],
    extents: Vec<Extent>,
}

impl Shared {
    /// Memory of a large class: free, split off, or never used. O(classes).
    pub(super) fn allocate(&mut self, class: u8) -> NonNull<u8> {
        let larger = (class..=LARGEST).find(|larger| !self.free[usize::from(*larger)].is_empty());
        let Some(larger) = larger else { return self.cut(class) };
        let Free(memory) = self.free[usize::from(larger)].pop().expect("found there");
        // Halves, of which the first is split on.
        for half in class..larger {
            let second = memory.as_ptr().wrapping_add(bytes_of(half));
            self.free[usize::from(half)].push(Free(NonNull::new(second).expect("within a block")));
        }
        memory
    }

    /// Memory that was never used.
    fn cut(&mut self, class: u8) -> NonNull<u8> {
        if let Some(memory) = self.extents.last_mut().and_then(|extent| extent.cut(bytes_of(class))) {
            return memory;
        }
        if let Some(last) = self.extents.last_mut() {
            // What is left of it, in blocks as large as fit.
            for class in (0..=LARGEST).rev() {
                while let Some(memory) = last.cut(bytes_of(class)) {
                    self.free[usize::from(class)].push(Free(memory));
                }
            }
        }
        let mut extent = Extent::new(self.extents.len(), bytes_of(LARGEST).max(SMALLEST));
        let memory = extent.cut(bytes_of(class)).expect("an extent has room for the largest block");
        self.extents.push(extent);
        memory
    }

    /// Takes a large block back. Nobody uses it.
    pub(super) fn free(&mut self, memory: NonNull<u8>, class: u8) {
        if class >= GIVEN_BACK_FROM {
            give_back_pages(memory, bytes_of(class));
        }
        self.free[usize::from(class)].push(Free(memory));
    }

    /// Takes over what a shard has too much of.
    pub(super) fn take_small(&mut self, class: u8, mut blocks: Vec<Free>) {
        self.free[usize::from(class)].append(&mut blocks);
    }

    /// Some blocks of a small class that a shard has none of.
    pub(super) fn give_small(&mut self, class: u8) -> Vec<Free> {
        let free = &mut self.free[usize::from(class)];
        let count = (super::KEPT_BYTES / 2 / bytes_of(class)).max(1);
        free.split_off(free.len().saturating_sub(count))
    }

    /// Bytes that are free and in memory.
    pub(super) fn free_bytes(&self) -> usize {
        let bytes = |(class, free): (u8, &Vec<Free>)| free.len() * bytes_of(class);
        (0..).zip(&self.free).map(bytes).sum()
    }
}
