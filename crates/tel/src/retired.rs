//! Blocks that were replaced, until no reader can be reading them.

use crate::index::BlockAt;
use crate::layout::bytes_of;
use crate::store::BlockStore;
use hedgerow_sync::epoch::{Domain, Waiting};

/// The readers of a graph, and the blocks that wait for them. They count as used until they are back in the store.
#[derive(Default)]
pub(crate) struct RetiredBlocks {
    pub(crate) domain: Domain,
    waiting: Waiting<BlockAt>,
}

impl RetiredBlocks {
    /// Retires a block.
    ///
    /// # Safety
    /// It is unlinked, and is retired once.
    pub(crate) unsafe fn add(&self, block: BlockAt) {
        let bytes = bytes_of(block.class()) + Waiting::<BlockAt>::NOTE_BYTES;
        self.waiting.add(&self.domain, block, bytes, |block, mark| {
            mark(block.address().as_ptr());
        });
    }

    /// Returns blocks to their store that no reader can be reading, and frees other memory that was unlinked. Returns the bytes.
    pub(crate) fn free_passed(&self, store: &BlockStore) -> usize {
        let (bytes, passed) = self.waiting.take_passed(&self.domain);
        passed.into_iter().for_each(|block| free(block, store));
        bytes + self.domain.free_passed()
    }

    /// Like [`RetiredBlocks::free_passed`], unless little was retired since. For writers, as there may be no maintenance. O(1) then.
    #[inline]
    pub(crate) fn free_if_due(&self, store: &BlockStore) {
        if self.is_due() {
            self.free_passed(store);
        }
    }

    /// Whether a [look](RetiredBlocks::free_passed) is worthwhile. O(1).
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        self.waiting.is_due() || self.domain.is_due()
    }

    /// Bytes that wait. O(1).
    pub(crate) fn bytes(&self) -> usize {
        self.waiting.bytes() + self.domain.waiting_bytes()
    }

    /// Returns all blocks to their store, when no reader is left.
    pub(crate) fn clear(&mut self, store: &BlockStore) {
        self.waiting.take_all().for_each(|block| free(block, store));
    }
}

fn free(block: BlockAt, store: &BlockStore) {
    // SAFETY: retired once, and no reader is left that may have found it.
    unsafe { store.free(block.address(), block.class()) };
}
