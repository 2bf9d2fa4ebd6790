//! The note of a row, in its first block: the former chains of the row, or the state that only few
//! rows have.

use crate::adjacency::block::ChainedBlock;
use crate::adjacency::extra::RowExtra;
use crate::adjacency::former::{Former, FormerChain, FormerChains, FormerLink, MORE, ONE, former_in};
use hedgerow_sync::atomic::{AtomicPtr, Ordering};
use hedgerow_sync::epoch;

/// The note of a row, in its first block.
#[derive(Clone, Copy)]
pub(super) enum BlockNote<'a> {
    /// The former chains of the row, if any: all that a short row notes.
    Former(Former<'a>),
    Extra(&'a RowExtra),
}

impl<'a> BlockNote<'a> {
    /// Returns the round since which the row has this chain.
    #[inline]
    pub(super) fn since(self) -> u32 {
        match self {
            BlockNote::Former(former) => former.until(),
            BlockNote::Extra(extra) => extra.since,
        }
    }

    /// Returns the state that only few rows have.
    #[inline]
    pub(super) fn extra(self) -> Option<&'a RowExtra> {
        match self {
            BlockNote::Extra(extra) => Some(extra),
            BlockNote::Former(_) => None,
        }
    }

    /// Returns the former chains of the row, newest first.
    pub(super) fn former(self) -> impl Iterator<Item = &'a FormerChain> {
        let former = match self {
            BlockNote::Former(former) => former,
            BlockNote::Extra(extra) => extra.former.get(),
        };
        former.iter()
    }

    /// Heap bytes.
    pub(super) fn bytes(self) -> usize {
        match self {
            BlockNote::Former(former) => former.bytes(),
            BlockNote::Extra(extra) => extra.bytes(),
        }
    }
}

impl<'a> ChainedBlock<'a> {
    /// Returns the note of the row that begins with this block.
    #[inline]
    pub(super) fn note(self) -> BlockNote<'a> {
        let note = self.note_word().load(Ordering::Acquire);
        // Checked after the load, before which the model checker runs other tasks.
        epoch::check_live(self.address().as_ptr());
        if note.is_null() || note.addr() & (ONE | MORE) != 0 {
            // SAFETY: null or set by `set_former`; the former chains stay until the first block is
            // freed, even if another note takes their place.
            return BlockNote::Former(unsafe { former_in(note) });
        }
        // SAFETY: set by `extra_or_new`, and freed with the first block of its row.
        BlockNote::Extra(unsafe { &*note.cast::<RowExtra>() })
    }

    /// Notes the former chains of the row, newest first: `newest`, then `before`. The caller writes
    /// the row, and no reader has this block yet.
    pub(super) fn set_former(self, newest: FormerChain, before: impl Iterator<Item = FormerChain>) {
        let before: Box<[FormerChain]> = before.collect();
        let (note, tag) = match before.is_empty() {
            true => (Box::into_raw(Box::new(newest)).cast::<u8>(), ONE),
            false => (Box::into_raw(Box::new(FormerChains::new(newest, before))).cast(), MORE),
        };
        self.note_word().store(note.map_addr(|address| address | tag), Ordering::Release);
    }

    /// Returns the extra state of the row that begins with this block, and creates it if there is
    /// none. The caller writes the row.
    pub(super) fn extra_or_new(self) -> &'a RowExtra {
        let note = self.note();
        if let Some(extra) = note.extra() {
            return extra;
        }
        let former = FormerLink(AtomicPtr::new(self.note_word().load(Ordering::Relaxed)));
        let extra = Box::into_raw(RowExtra::after(note.since(), former));
        self.note_word().store(extra.cast(), Ordering::Release);
        // SAFETY: it is freed with the first block of its row.
        unsafe { &*extra }
    }

    /// Frees the note of a block that no reader has.
    pub(super) fn free_note(self) {
        let mut note = self.note_word().swap(std::ptr::null_mut(), Ordering::Relaxed);
        if !note.is_null() && note.addr() & (ONE | MORE) == 0 {
            // SAFETY: from `Box::into_raw` in `extra_or_new`, and taken once.
            let extra = unsafe { Box::from_raw(note.cast::<RowExtra>()) };
            note = extra.former.0.load(Ordering::Relaxed);
        }
        let untagged = note.map_addr(|address| address & !(ONE | MORE));
        match note.addr() & (ONE | MORE) {
            // SAFETY: from `Box::into_raw` in `set_former`, and taken once, out of this note or the
            // note that took its place.
            ONE => drop(unsafe { Box::from_raw(untagged.cast::<FormerChain>()) }),
            // SAFETY: as above.
            MORE => drop(unsafe { Box::from_raw(untagged.cast::<FormerChains>()) }),
            _ => {}
        }
    }
}
