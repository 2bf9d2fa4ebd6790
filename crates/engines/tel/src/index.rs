//! Maps a vertex and a label to a block, in one stored direction (LiveGraph, section 4, "label
//! index blocks").
//!
//! A slot is empty, points to a block if the vertex has edges of one label, or points to a list of
//! labels. A block's address is a multiple of 64; its low bits contain its class, so that a scan
//! knows the size of a block before it accesses it.

use crate::block::{EntryLog, OwnedBlock};
use crate::directory::{Slot, VertexDirectory};
use crate::retired::RetiredBlocks;
use crate::store::BlockStore;
use hedgerow_in_memory::reclamation::Memory;
use hedgerow_in_memory::vertices::Keeps;
use hedgerow_model::{LabelId, VertexId};
use hedgerow_sync::atomic::Ordering;
use hedgerow_sync::{epoch, prefetch};
use std::ptr::NonNull;

/// The bit that distinguishes a list from a block.
const LIST: usize = 1;

/// The bits of a block's class, above the list bit.
const CLASS: usize = 31 << 1;

/// The blocks of all vertices in one stored direction.
#[derive(Default)]
pub(crate) struct BlockIndex {
    pub(crate) directory: VertexDirectory,
}

/// The blocks of a vertex that has edges of several labels, ascending by label. The set of labels
/// never changes.
pub(crate) struct LabelBlocks(Box<[(LabelId, Slot)]>);

impl LabelBlocks {
    fn bytes(&self) -> usize {
        size_of::<LabelBlocks>() + size_of_val(&*self.0)
    }

    #[inline]
    fn slot(&self, label: LabelId) -> Option<&Slot> {
        let position = self.0.binary_search_by_key(&label, |(label, _)| *label).ok()?;
        Some(&self.0[position].1)
    }
}

/// The target of a slot.
pub(crate) enum SlotTarget<'a> {
    Nothing,
    Block(BlockAt),
    Labels(&'a LabelBlocks),
}

/// The address and class of a block.
#[derive(Clone, Copy)]
pub(crate) struct BlockAt {
    memory: NonNull<u8>,
    class: u8,
}

// SAFETY: an address, used as the contracts of `EntryLog` and `BlockStore` allow.
unsafe impl Send for BlockAt {}

impl BlockAt {
    #[inline]
    fn of(pointer: *mut u8) -> Option<BlockAt> {
        let class = (pointer.addr() & CLASS) >> 1;
        let memory = NonNull::new(pointer.map_addr(|address| address & !(CLASS | LIST)))?;
        Some(BlockAt { memory, class: class as u8 })
    }

    fn tagged((memory, class): (NonNull<u8>, u8)) -> *mut u8 {
        memory.as_ptr().map_addr(|address| address | usize::from(class) << 1)
    }

    #[inline]
    pub(crate) fn class(self) -> u8 {
        self.class
    }

    pub(crate) fn address(self) -> NonNull<u8> {
        self.memory
    }

    /// Prefetches the start of the block, at most `most` bytes.
    #[inline]
    pub(crate) fn prefetch(self, most: usize) {
        prefetch(self.memory.as_ptr(), most.min(crate::layout::bytes_of(self.class)));
    }
}

/// The list that a slot points to.
#[inline]
fn labels_at(linked: *mut u8) -> *mut LabelBlocks {
    linked.map_addr(|address| address & !LIST).cast()
}

/// Decodes the target of a slot.
#[inline]
fn target<'a>(slot: &Slot, _keeps: &'a impl Keeps) -> SlotTarget<'a> {
    let pointer = slot.load(Ordering::Acquire);
    if pointer.addr() & LIST == 0 {
        return BlockAt::of(pointer).map_or(SlotTarget::Nothing, SlotTarget::Block);
    }
    let labels = labels_at(pointer);
    epoch::check_live(labels);
    // SAFETY: linked by `BlockIndex::link`, and not dropped while `_keeps` is borrowed.
    SlotTarget::Labels(unsafe { &*labels })
}

impl BlockIndex {
    /// The block of a label behind a slot, if any. O(log labels of the vertex).
    #[inline]
    pub(crate) fn log_at<'a>(slot: &Slot, label: LabelId, keeps: &'a impl Keeps) -> Option<EntryLog<'a>> {
        match target(slot, keeps) {
            SlotTarget::Nothing => None,
            SlotTarget::Block(BlockAt { memory, class }) => {
                // SAFETY: linked with this class, and kept.
                let log = unsafe { EntryLog::new(memory, class) };
                (log.label() == label).then_some(log)
            }
            SlotTarget::Labels(labels) => {
                let BlockAt { memory, class } = BlockAt::of(labels.slot(label)?.load(Ordering::Acquire))?;
                // SAFETY: as above.
                Some(unsafe { EntryLog::new(memory, class) })
            }
        }
    }

    /// The block of a vertex and a label, if there is one.
    #[inline]
    pub(crate) fn log<'a>(
        &self,
        owner: VertexId,
        label: LabelId,
        keeps: &'a impl Keeps,
    ) -> Option<EntryLog<'a>> {
        Self::log_at(self.directory.get(owner.get())?, label, keeps)
    }

    /// Returns the class of a label's block behind a slot, which approximates the amount to read.
    ///
    /// Does not check the label if the vertex has a single one.
    #[inline]
    pub(crate) fn class_at(slot: &Slot, label: LabelId, keeps: &impl Keeps) -> Option<u8> {
        match target(slot, keeps) {
            SlotTarget::Nothing => None,
            SlotTarget::Block(block) => Some(block.class()),
            SlotTarget::Labels(labels) => {
                Some(BlockAt::of(labels.slot(label)?.load(Ordering::Acquire))?.class())
            }
        }
    }

    /// Prefetches the start of the block that a slot points to, unless its target is a list.
    #[inline]
    pub(crate) fn prefetch_block(slot: &Slot, most: usize) {
        let pointer = slot.load(Ordering::Relaxed);
        if pointer.addr() & LIST == 0
            && let Some(block) = BlockAt::of(pointer)
        {
            block.prefetch(most);
        }
    }

    /// Links a block, or none, in place of the vertex's block for the label. Returns the growth of
    /// the lists of labels in bytes.
    ///
    /// # Safety
    /// The owner is locked. This thread no longer uses the former block.
    pub(crate) unsafe fn link(
        &self,
        owner: VertexId,
        label: LabelId,
        block: Option<OwnedBlock<'_>>,
        (retired, memory): (&RetiredBlocks, &Memory),
        keeps: &impl Keeps,
    ) -> isize {
        let linked = block.map_or(std::ptr::null_mut(), |block| BlockAt::tagged(block.into_linked()));
        let slot = self.directory.get_or_create(owner.get(), memory);
        let former = slot.load(Ordering::Acquire);
        match target(slot, keeps) {
            SlotTarget::Nothing => slot.store(linked, Ordering::Release),
            SlotTarget::Block(old) => {
                // SAFETY: linked, and the owner is locked.
                let old_label = unsafe { EntryLog::new(old.memory, old.class) }.label();
                if old_label == label {
                    slot.store(linked, Ordering::Release);
                    // SAFETY: just unlinked.
                    unsafe { retired.add(old) };
                } else if !linked.is_null() {
                    let mut labels = [(old_label, BlockAt::tagged((old.memory, old.class))), (label, linked)];
                    labels.sort_unstable_by_key(|(label, _)| *label);
                    return Self::link_labels(slot, labels.into_iter());
                }
            }
            SlotTarget::Labels(labels) => match labels.slot(label) {
                Some(of_label) => {
                    let old = BlockAt::of(of_label.load(Ordering::Acquire));
                    of_label.store(linked, Ordering::Release);
                    if let Some(old) = old {
                        // SAFETY: just unlinked.
                        unsafe { retired.add(old) };
                    }
                    let is_empty = |(_, slot): &(LabelId, Slot)| slot.load(Ordering::Acquire).is_null();
                    if linked.is_null() && labels.0.iter().all(is_empty) {
                        slot.store(linked, Ordering::Release);
                        // SAFETY: just unlinked.
                        return unsafe { Self::retire_labels(former, retired) };
                    }
                }
                None if linked.is_null() => {}
                None => {
                    let kept = labels.0.iter().map(|(label, slot)| (*label, slot.load(Ordering::Acquire)));
                    let before = labels.0.partition_point(|(other, _)| *other < label);
                    let first = kept.clone().take(before);
                    let longer = first.chain(std::iter::once((label, linked))).chain(kept.skip(before));
                    let grown = Self::link_labels(slot, longer);
                    // SAFETY: just unlinked.
                    return grown + unsafe { Self::retire_labels(former, retired) };
                }
            },
        }
        0
    }

    fn link_labels(slot: &Slot, labels: impl Iterator<Item = (LabelId, *mut u8)>) -> isize {
        let labels = labels.map(|(label, block)| (label, Slot::new(block))).collect();
        let labels = Box::new(LabelBlocks(labels));
        let bytes = labels.bytes();
        let pointer = Box::into_raw(labels).cast::<u8>();
        slot.store(pointer.map_addr(|address| address | LIST), Ordering::Release);
        bytes as isize
    }

    /// # Safety
    /// The slot pointed to a list, which is unlinked, and is retired once.
    unsafe fn retire_labels(linked: *mut u8, retired: &RetiredBlocks) -> isize {
        let labels = labels_at(linked);
        // SAFETY: the list is valid until it is dropped.
        let bytes = unsafe { &*labels }.bytes();
        // SAFETY: from `Box::into_raw` in `link_labels`, and unlinked.
        unsafe { retired.domain.pin().defer_drop(labels, bytes) };
        -(bytes as isize)
    }

    /// Passes each block and its bytes to `count`, and the bytes of all lists, without a log. All
    /// vertices are locked. O(entries).
    pub(crate) fn count_bytes(&self, keeps: &impl Keeps, mut count: impl FnMut(Option<EntryLog<'_>>, usize)) {
        let mut block = |BlockAt { memory, class }: BlockAt| {
            // SAFETY: linked with this class.
            let log = unsafe { EntryLog::new(memory, class) };
            count(Some(log), log.bytes());
        };
        let mut lists = 0;
        for (_, slot) in self.directory.entries(0..u32::MAX) {
            match target(slot, keeps) {
                SlotTarget::Nothing => {}
                SlotTarget::Block(at) => block(at),
                SlotTarget::Labels(labels) => {
                    lists += labels.bytes();
                    let blocks =
                        labels.0.iter().filter_map(|(_, slot)| BlockAt::of(slot.load(Ordering::Acquire)));
                    blocks.for_each(&mut block);
                }
            }
        }
        count(None, lists);
    }

    /// Frees all blocks and lists, when no reader is left.
    pub(crate) fn clear(&mut self, store: &BlockStore) {
        for (_, slot) in self.directory.entries(0..u32::MAX) {
            let pointer = slot.swap(std::ptr::null_mut(), Ordering::AcqRel);
            if pointer.addr() & LIST == 0 {
                free(BlockAt::of(pointer), store);
                continue;
            }
            let labels = pointer.map_addr(|address| address & !LIST).cast::<LabelBlocks>();
            // SAFETY: from `Box::into_raw` in `link_labels`, linked until now.
            let labels = unsafe { Box::from_raw(labels) };
            labels.0.iter().for_each(|(_, slot)| free(BlockAt::of(slot.load(Ordering::Acquire)), store));
        }
    }
}

/// Frees a block that is no longer in use.
fn free(block: Option<BlockAt>, store: &BlockStore) {
    if let Some(BlockAt { memory, class }) = block {
        // SAFETY: it was linked; `clear` is exclusive.
        unsafe { store.free(memory, class) };
    }
}
