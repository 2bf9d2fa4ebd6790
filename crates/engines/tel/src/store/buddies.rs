//! Free large blocks, which are split in halves and joined with their other halves again.

use super::free_block::Free;
use crate::layout::{CLASSES, bytes_of};
use std::collections::BTreeSet;
use std::ptr::NonNull;

/// Free blocks by class and address. Each lies in a [`BuddyRegion`], at a multiple of its size.
#[derive(Default)]
pub(super) struct Buddies {
    free: [BTreeSet<Free>; CLASSES],
}

/// A range of memory within which blocks are joined.
#[derive(Clone, Copy)]
pub(super) struct BuddyRegion {
    pub(super) first: NonNull<u8>,
    /// The class of the largest block that fits in it.
    pub(super) largest: u8,
}

impl BuddyRegion {
    /// The block whose union with this one is a block of the next class.
    fn buddy(self, memory: NonNull<u8>, class: u8) -> NonNull<u8> {
        let offset = memory.addr().get() - self.first.addr().get();
        let buddy = self.first.as_ptr().wrapping_add(offset ^ bytes_of(class));
        NonNull::new(buddy).expect("within the region")
    }
}

impl Buddies {
    /// Takes a block: the lowest of its class or, if there is none, the front of the lowest of the
    /// next larger class. O(classes · log blocks).
    pub(super) fn take(&mut self, class: u8) -> Option<NonNull<u8>> {
        let larger = (class..CLASSES as u8).find(|larger| !self.free[usize::from(*larger)].is_empty())?;
        let Free(memory) = self.free[usize::from(larger)].pop_first()?;
        for half in class..larger {
            let second = memory.as_ptr().wrapping_add(bytes_of(half));
            self.free[usize::from(half)].insert(Free(NonNull::new(second).expect("within a block")));
        }
        Some(memory)
    }

    /// Adds a block of a region, and joins it with its buddy as long as the buddy is free, too.
    /// O(classes · log blocks).
    pub(super) fn add(&mut self, mut memory: NonNull<u8>, mut class: u8, region: BuddyRegion) {
        while class < region.largest {
            let buddy = region.buddy(memory, class);
            if !self.free[usize::from(class)].remove(&Free(buddy)) {
                break;
            }
            memory = memory.min(buddy);
            class += 1;
        }
        self.free[usize::from(class)].insert(Free(memory));
    }

    /// The free blocks of a class.
    pub(super) fn blocks(&self, class: u8) -> impl Iterator<Item = NonNull<u8>> {
        self.free[usize::from(class)].iter().map(|Free(memory)| *memory)
    }
}
