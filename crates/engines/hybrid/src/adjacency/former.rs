//! Former chains of blocks, from before a row was rewritten or outgrew its block, for readers of
//! older versions.

use crate::adjacency::block::{BlockLink, ChainedBlock};
use crate::adjacency::versions::RowVersion;
use hedgerow_sync::atomic::{AtomicPtr, Ordering};

/// Tag of a pointer to one former chain.
pub(super) const ONE: usize = 1;

/// Tag of a pointer to several former chains.
pub(super) const MORE: usize = 2;

/// A chain of blocks that a row had in the versions `since..until`.
pub(super) struct FormerChain {
    first: BlockLink,
    since: u32,
    until: u32,
    /// The last version of the row with this chain. Earlier ones that are retained are kept with
    /// the chain itself.
    last: RowVersion,
}

impl FormerChain {
    pub(super) fn new(first: Option<ChainedBlock<'_>>, since: u32, until: u32, last: RowVersion) -> Self {
        let link = BlockLink::default();
        first.into_iter().for_each(|first| link.set(first));
        FormerChain { first: link, since, until, last }
    }

    pub(super) fn first(&self) -> Option<ChainedBlock<'_>> {
        self.first.get()
    }

    pub(super) fn blocks(&self) -> impl Iterator<Item = ChainedBlock<'_>> {
        std::iter::successors(self.first(), |block| block.next())
    }

    /// Returns true if a retained version has the chain. `retained` ascends.
    pub(super) fn is_retained(&self, retained: &[u32]) -> bool {
        RowVersion { round: self.since, entries: 0 }.is_retained(self.until, retained)
    }

    /// Returns true if the row had the chain in a round.
    pub(super) fn has(&self, round: u32) -> bool {
        (self.since..self.until).contains(&round)
    }

    /// Returns the last version with the chain, if that is not after a round.
    pub(super) fn last_up_to(&self, round: u32) -> Option<RowVersion> {
        Some(self.last).filter(|last| last.round <= round)
    }

    pub(super) fn copy(&self) -> Self {
        FormerChain::new(self.first(), self.since, self.until, self.last)
    }
}

/// Several former chains, newest first.
pub(super) struct FormerChains {
    newest: FormerChain,
    before: Box<[FormerChain]>,
}

impl FormerChains {
    pub(super) fn new(newest: FormerChain, before: Box<[FormerChain]>) -> Self {
        FormerChains { newest, before }
    }
}

/// The former chains of a row: the newest, and the earlier ones that were retained when this was
/// made. Only chains that are still retained may be read.
#[derive(Clone, Copy)]
pub(super) enum Former<'a> {
    None,
    /// One chain, like most rows that have any.
    One(&'a FormerChain),
    More(&'a FormerChains),
}

impl<'a> Former<'a> {
    /// Returns the chains, newest first.
    pub(super) fn iter(self) -> impl Iterator<Item = &'a FormerChain> {
        let (newest, before): (_, &[FormerChain]) = match self {
            Former::None => (None, &[]),
            Former::One(one) => (Some(one), &[]),
            Former::More(more) => (Some(&more.newest), &more.before),
        };
        newest.into_iter().chain(before)
    }

    /// Returns the round since which the row has a later chain than these.
    #[inline]
    pub(super) fn until(self) -> u32 {
        match self {
            Former::None => 0,
            Former::One(one) => one.until,
            Former::More(more) => more.newest.until,
        }
    }

    /// Heap bytes.
    pub(super) fn bytes(self) -> usize {
        match self {
            Former::None => 0,
            Former::One(one) => size_of_val(one),
            Former::More(more) => size_of_val(more) + size_of_val(&*more.before),
        }
    }
}

/// A tagged pointer to former chains, or null. The chains live until the block whose note has the
/// link is freed.
#[derive(Default)]
pub(super) struct FormerLink(pub(super) AtomicPtr<u8>);

impl FormerLink {
    pub(super) fn get(&self) -> Former<'_> {
        // SAFETY: null or from `set_former`, and freed with the note that has this link.
        unsafe { former_in(self.0.load(Ordering::Relaxed)) }
    }
}

/// Returns the former chains behind a tagged pointer; none if it is null.
///
/// # Safety
/// The pointer is null or from `ChainedBlock::set_former`, and the chains live for `'a`.
#[inline]
pub(super) unsafe fn former_in<'a>(note: *mut u8) -> Former<'a> {
    let untagged = note.map_addr(|address| address & !(ONE | MORE));
    match note.addr() & (ONE | MORE) {
        // SAFETY: tagged by `set_former`, and valid by the promise of the caller.
        ONE => Former::One(unsafe { &*untagged.cast::<FormerChain>() }),
        // SAFETY: as above.
        MORE => Former::More(unsafe { &*untagged.cast::<FormerChains>() }),
        _ => Former::None,
    }
}
