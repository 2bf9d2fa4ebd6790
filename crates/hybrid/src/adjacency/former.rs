//! The chains of blocks that a row had before it was rewritten or outgrew one, for readers of older versions.

use crate::adjacency::block::{Block, BlockLink};
use crate::adjacency::versions::RowVersion;

/// A chain of blocks that a row had in the versions from one round up to before another.
pub(super) struct FormerChain {
    first: BlockLink,
    since: u32,
    until: u32,
    /// The last version of the row with this chain. Those before it that are retained are kept with the chain itself.
    last: RowVersion,
}

impl FormerChain {
    pub(super) fn new(first: Option<Block<'_>>, since: u32, until: u32, last: RowVersion) -> Self {
        let link = BlockLink::default();
        first.into_iter().for_each(|first| link.set(first));
        FormerChain { first: link, since, until, last }
    }

    pub(super) fn first(&self) -> Option<Block<'_>> {
        self.first.get()
    }

    pub(super) fn blocks(&self) -> impl Iterator<Item = Block<'_>> {
        std::iter::successors(self.first(), |block| block.next())
    }

    /// Whether a version that is retained has it. `retained` ascends.
    pub(super) fn is_retained(&self, retained: &[u32]) -> bool {
        RowVersion { round: self.since, entries: 0 }.is_retained(self.until, retained)
    }

    /// Whether the row had it in a round.
    pub(super) fn has(&self, round: u32) -> bool {
        (self.since..self.until).contains(&round)
    }

    /// The last version with it, if that is not after a round.
    pub(super) fn last_up_to(&self, round: u32) -> Option<RowVersion> {
        Some(self.last).filter(|last| last.round <= round)
    }

    pub(super) fn copy(&self) -> Self {
        FormerChain::new(self.first(), self.since, self.until, self.last)
    }
}

/// Several chains before one, the newest first.
pub(super) struct FormerChains {
    newest: FormerChain,
    before: Box<[FormerChain]>,
}

impl FormerChains {
    pub(super) fn new(newest: FormerChain, before: Box<[FormerChain]>) -> Self {
        FormerChains { newest, before }
    }
}

/// The chains before one: the newest, and those before it that were retained when this was made. Only chains that still are
/// may be read.
#[derive(Clone, Copy)]
pub(super) enum Former<'a> {
    None,
    /// Most rows that have any have one.
    One(&'a FormerChain),
    More(&'a FormerChains),
}

impl<'a> Former<'a> {
    /// The newest first.
    pub(super) fn iter(self) -> impl Iterator<Item = &'a FormerChain> {
        let (newest, before): (_, &[FormerChain]) = match self {
            Former::None => (None, &[]),
            Former::One(one) => (Some(one), &[]),
            Former::More(more) => (Some(&more.newest), &more.before),
        };
        newest.into_iter().chain(before)
    }

    /// The round from which on the row has another chain than these.
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
