//! Large blocks, and the state that shards share.

use super::buddies::{Buddies, BuddyRegion};
use super::classes::{GIVEN_BACK_FROM, KEPT_BYTES, LARGE, LARGEST};
use super::extent::{MemoryExtent, allocate_globally, give_back_pages, length};
use super::free_block::Free;
use super::scratch::{Full, ScratchFile};
use crate::layout::{CLASSES, bytes_of};
use hedgerow_sync::Arc;
use std::collections::BTreeMap;
use std::ptr::NonNull;

/// State that all threads share, behind a lock.
#[derive(Default)]
pub(super) struct SharedMemory {
    /// Free blocks of small classes.
    small: [Vec<Free>; LARGE as usize],
    extents: Extents,
    file: Option<BlockFile>,
}

impl SharedMemory {
    /// The shared state of a store with its memory in a file.
    pub(super) fn in_file(scratch: Arc<ScratchFile>) -> Self {
        let file = BlockFile { scratch, buddies: Buddies::default(), extents: 0, used_bytes: 0 };
        SharedMemory { file: Some(file), ..SharedMemory::default() }
    }

    /// Allocates a large block: a free one, a part of a larger one, or memory never used before.
    /// O(classes · log free blocks).
    ///
    /// # Errors
    /// The file cannot grow.
    pub(super) fn allocate(&mut self, class: u8) -> Result<NonNull<u8>, Full> {
        match &mut self.file {
            Some(file) => file.allocate(class),
            None => Ok(self.extents.allocate(class)),
        }
    }

    /// Allocates a large block, outside the file if that cannot grow.
    pub(super) fn allocate_surely(&mut self, class: u8) -> NonNull<u8> {
        match self.allocate(class) {
            Ok(memory) => memory,
            Err(_) if class > LARGEST => allocate_globally(bytes_of(class)),
            Err(_) => self.extents.allocate(class),
        }
    }

    /// Frees a large block. O(classes · log free blocks).
    pub(super) fn free(&mut self, memory: NonNull<u8>, class: u8) {
        match self.file.as_mut().filter(|file| file.scratch.has(memory)) {
            Some(file) => file.free(memory, class),
            None => self.extents.free(memory, class),
        }
    }

    /// Takes over a shard's surplus blocks.
    pub(super) fn take_small(&mut self, class: u8, mut blocks: Vec<Free>) {
        self.small[usize::from(class)].append(&mut blocks);
    }

    /// Gives some blocks of a small class to a shard that has none.
    pub(super) fn give_small(&mut self, class: u8) -> Vec<Free> {
        let free = &mut self.small[usize::from(class)];
        let count = (KEPT_BYTES / 2 / bytes_of(class)).max(1);
        free.split_off(free.len().saturating_sub(count))
    }

    /// Returns the free bytes in memory that was used before, and in the part of the file whose
    /// disk space is reserved.
    pub(super) fn free_bytes(&self) -> usize {
        let bytes = |(class, free): (u8, &Vec<Free>)| free.len() * bytes_of(class);
        let small: usize = (0..).zip(&self.small).map(bytes).sum();
        small + self.extents.free_bytes() + self.file.as_ref().map_or(0, BlockFile::free_bytes)
    }

    /// Bytes of the extents and of the file, in use or not.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        let extents =
            self.extents.extents.values().map(|extent| bytes_of(extent.region().largest)).sum::<usize>();
        extents + self.file.as_ref().map_or(0, |file| file.scratch.length())
    }

    /// Number of free blocks of a class.
    #[cfg(test)]
    pub(super) fn free_blocks(&self, class: u8) -> usize {
        let in_file = self.file.as_ref().map_or(0, |file| file.buddies.blocks(class).count());
        self.extents.buddies.blocks(class).count() + in_file
    }

    /// Gives back the disk space that free blocks keep.
    #[cfg(test)]
    pub(super) fn give_back_free(&self) {
        self.file.iter().for_each(BlockFile::give_back_free);
    }
}

/// Blocks in extents of anonymous memory.
#[derive(Default)]
struct Extents {
    buddies: Buddies,
    /// By address.
    extents: BTreeMap<Free, MemoryExtent>,
    used_bytes: usize,
}

impl Extents {
    /// Allocates a block of a class up to [`LARGEST`].
    fn allocate(&mut self, class: u8) -> NonNull<u8> {
        let memory = self.buddies.take(class).unwrap_or_else(|| {
            let extent = MemoryExtent::new(self.extents.len(), bytes_of(LARGEST));
            let BuddyRegion { first, largest } = extent.region();
            self.buddies.add(first, largest, extent.region());
            self.extents.insert(Free(first), extent);
            self.buddies.take(class).expect("an extent has room for the largest block")
        });
        self.used_bytes += bytes_of(class);
        self.extent_of(memory).use_up_to(memory, bytes_of(class));
        memory
    }

    fn free(&mut self, memory: NonNull<u8>, class: u8) {
        if class >= GIVEN_BACK_FROM {
            give_back_pages(memory, bytes_of(class));
        }
        self.used_bytes -= bytes_of(class);
        let region = self.extent_of(memory).region();
        self.buddies.add(memory, class, region);
    }

    fn extent_of(&mut self, memory: NonNull<u8>) -> &mut MemoryExtent {
        let (_, extent) = self.extents.range_mut(..=Free(memory)).next_back().expect("blocks lie in extents");
        extent
    }

    fn free_bytes(&self) -> usize {
        self.extents.values().map(MemoryExtent::used_before).sum::<usize>() - self.used_bytes
    }
}

/// Blocks in a file, which is one region.
struct BlockFile {
    scratch: Arc<ScratchFile>,
    buddies: Buddies,
    /// The number of times that the file grew for blocks up to [`LARGEST`].
    extents: usize,
    used_bytes: usize,
}

impl BlockFile {
    fn allocate(&mut self, class: u8) -> Result<NonNull<u8>, Full> {
        let memory = loop {
            match self.buddies.take(class) {
                Some(memory) => break memory,
                None => self.grow(class)?,
            }
        };
        let reserve = || self.scratch.reserve(memory, bytes_of(class));
        let reserved = reserve().or_else(|_| {
            self.give_back_free();
            reserve()
        });
        if let Err(full) = reserved {
            self.buddies.add(memory, class, self.region());
            return Err(full);
        }
        self.used_bytes += bytes_of(class);
        Ok(memory)
    }

    /// Grows the file so that it has room for a block of a class, after this call or the next. For
    /// blocks up to [`LARGEST`], reserves the disk space of many.
    fn grow(&mut self, class: u8) -> Result<(), Full> {
        let (memory, bytes) = if class <= LARGEST {
            let grown = self.scratch.extend(length(self.extents, bytes_of(LARGEST)), bytes_of(LARGEST))?;
            self.extents += 1;
            grown
        } else {
            // The memory up to the next multiple of its size may be joined with free memory before
            // it to a block of this class.
            self.scratch.align(bytes_of(class))?
        };
        let (mut rest, end) = (memory, memory.addr().get() + bytes);
        while rest.addr().get() < end {
            let offset = rest.addr().get() - self.region().first.addr().get();
            let fits = |class: &u8| {
                offset.is_multiple_of(bytes_of(*class)) && rest.addr().get() + bytes_of(*class) <= end
            };
            let class = (0..CLASSES as u8).rev().find(fits).expect("the file grows by whole blocks");
            self.buddies.add(rest, class, self.region());
            let next = rest.as_ptr().wrapping_add(bytes_of(class));
            rest = NonNull::new(next).expect("within the file, or at its end");
        }
        Ok(())
    }

    fn free(&mut self, memory: NonNull<u8>, class: u8) {
        if class >= GIVEN_BACK_FROM {
            self.scratch.give_back(memory, bytes_of(class));
        }
        self.used_bytes -= bytes_of(class);
        self.buddies.add(memory, class, self.region());
    }

    /// Gives back the disk space of free blocks joined from smaller ones, which kept it.
    fn give_back_free(&self) {
        for class in GIVEN_BACK_FROM..CLASSES as u8 {
            self.buddies.blocks(class).for_each(|memory| self.scratch.give_back(memory, bytes_of(class)));
        }
    }

    fn region(&self) -> BuddyRegion {
        BuddyRegion { first: self.scratch.first(), largest: CLASSES as u8 - 1 }
    }

    fn free_bytes(&self) -> usize {
        self.scratch.reserved_bytes() - self.used_bytes
    }
}
