//! Chains of blocks that no retained version has, until no reader can be passing by them.

use crate::adjacency::extra::FormerChain;
use hedgerow_sync::Mutex;
use hedgerow_sync::epoch::{self, GracePeriod};

/// Replaced chains that no retained version has.
///
/// A reader of an old version may have loaded the first block of one as the newest of its row, to find the way to its own chain. It
/// is pinned until it has, so the memory of retired chains may be used again after a grace period.
#[derive(Default)]
pub(super) struct RetiredChains(Mutex<Vec<Retired>>);

/// Chains that were retired together.
struct Retired {
    chains: Vec<FormerChain>,
    period: GracePeriod,
}

impl RetiredChains {
    /// Begins the grace period of chains that no row and no retained version has.
    pub(super) fn add(&self, chains: Vec<FormerChain>) {
        if chains.is_empty() {
            return;
        }
        let blocks = chains.iter().flat_map(FormerChain::blocks);
        let period = GracePeriod::begin(blocks.map(|block| block.address().as_ptr().cast_const()));
        self.0.lock().push(Retired { chains, period });
    }

    /// Takes out the chains whose grace period has passed: nothing uses them.
    pub(super) fn take_passed(&self) -> Vec<FormerChain> {
        let retired = std::mem::take(&mut *self.0.lock());
        if retired.is_empty() {
            return Vec::new();
        }
        epoch::free_deferred(retired.len());
        let (passed, kept): (Vec<_>, Vec<_>) =
            retired.into_iter().partition(|retired| retired.period.has_passed());
        self.0.lock().extend(kept);
        passed.into_iter().flat_map(|retired| retired.chains).collect()
    }

    /// Takes out all chains, for an owner that no reader has.
    pub(super) fn take_all(&mut self) -> impl Iterator<Item = FormerChain> {
        self.0.get_mut().drain(..).flat_map(|retired| retired.chains)
    }
}
