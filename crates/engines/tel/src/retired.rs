//! Replaced blocks, kept until no reader can be reading them.

use crate::index::BlockAt;
use crate::layout::bytes_of;
use crate::store::BlockStore;
use hedgerow_sync::epoch::{Domain, Waiting};

/// The readers of a graph, and the retired blocks that wait for them. Blocks count as used until
/// they return to the store.
#[derive(Default)]
pub(crate) struct RetiredBlocks {
    pub(crate) domain: Domain,
    waiting: Waiting<BlockAt>,
}

impl RetiredBlocks {
    /// Retires a block.
    ///
    /// # Safety
    /// The block is unlinked, and is retired once.
    pub(crate) unsafe fn add(&self, block: BlockAt) {
        let bytes = bytes_of(block.class()) + Waiting::<BlockAt>::NOTE_BYTES;
        self.waiting.add(&self.domain, block, bytes, |block, mark| {
            mark(block.address().as_ptr());
        });
    }

    /// Returns the blocks that no reader can be reading to their store, and frees other unlinked
    /// memory. Returns the freed bytes.
    pub(crate) fn free_passed(&self, store: &BlockStore) -> usize {
        let (bytes, passed) = self.waiting.take_passed(&self.domain);
        passed.into_iter().for_each(|block| free(block, store));
        bytes + self.domain.free_passed()
    }

    /// Like [`RetiredBlocks::free_passed`], but does nothing, in O(1), if little was retired since
    /// the last time. For writers, because maintenance may never run.
    #[inline]
    pub(crate) fn free_if_due(&self, store: &BlockStore) {
        if self.is_due() {
            self.free_passed(store);
        }
    }

    /// Returns true if [`RetiredBlocks::free_passed`] is worthwhile. O(1).
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        self.waiting.is_due() || self.domain.is_due()
    }

    /// Returns the bytes that wait for readers. O(1).
    pub(crate) fn bytes(&self) -> usize {
        self.waiting.bytes() + self.domain.waiting_bytes()
    }

    /// Returns all blocks to their store. No reader is left.
    pub(crate) fn clear(&mut self, store: &BlockStore) {
        self.waiting.take_all().for_each(|block| free(block, store));
    }
}

fn free(block: BlockAt, store: &BlockStore) {
    // SAFETY: retired once, and no reader is left that may have found it.
    unsafe { store.free(block.address(), block.class()) };
}
