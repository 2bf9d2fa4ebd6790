//! What few rows have: deletions, versions for snapshots that stay open, the blocks before a rewrite, which neighbors a
//! long row has.

use crate::adjacency::block::{Block, Chain};
use crate::adjacency::members::Members;
use crate::adjacency::versions::RowVersion;
use arc_swap::ArcSwapOption;
use hedgerow_sync::atomic::AtomicPtr;
use hedgerow_sync::{Arc, Mutex, MutexGuard};

/// The deletion of an entry of a row. It names the entry by its position (GraphOne, 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Deletion {
    /// The round from which on the entry is deleted.
    round: u32,
    position: u32,
}

/// A chain of blocks that a row had in the versions from one round up to before another.
pub(super) struct FormerChain {
    pub(super) chain: Chain,
    pub(super) since: u32,
    pub(super) until: u32,
}

impl FormerChain {
    pub(super) fn new(first: Option<Block<'_>>, since: u32, until: u32) -> Self {
        let chain = Chain::default();
        first.into_iter().for_each(|first| chain.set_first(first));
        FormerChain { chain, since, until }
    }

    /// Whether a version that is retained has it. `retained` ascends.
    pub(super) fn is_retained(&self, retained: &[u32]) -> bool {
        RowVersion { round: self.since, entries: 0 }.is_retained(self.until, retained)
    }

    /// Whether the row had it in a round.
    pub(super) fn has(&self, round: u32) -> bool {
        (self.since..self.until).contains(&round)
    }

    pub(super) fn blocks(&self) -> impl Iterator<Item = Block<'_>> {
        std::iter::successors(self.chain.first(), |block| block.next())
    }

    pub(super) fn copy(&self) -> Self {
        FormerChain::new(self.chain.first(), self.since, self.until)
    }
}

/// What few rows have beside blocks. Belongs to the first block of a chain.
pub(super) struct RowExtra {
    /// The round from which on the row has this chain.
    pub(super) since: u32,
    /// The chains before this one that were retained when it was made. Only those that still are may be read.
    pub(super) former: Vec<FormerChain>,
    /// The note that this took the place of: readers may still have it.
    pub(super) replaced_note: AtomicPtr<u8>,
    /// In the order in which they were made. Each round that deletes entries replaces the list by a longer one; the row is rewritten before
    /// there are many.
    deletions: ArcSwapOption<Vec<Deletion>>,
    /// Versions before the newest two that are retained, ascending.
    older: ArcSwapOption<Vec<RowVersion>>,
    /// Only the thread that writes the row uses it.
    members: Mutex<Option<Box<Members>>>,
}

impl RowExtra {
    /// That of a chain that a row has from a round on, after these chains.
    pub(super) fn after(since: u32, former: Vec<FormerChain>) -> Box<Self> {
        Box::new(RowExtra {
            since,
            former,
            replaced_note: AtomicPtr::default(),
            deletions: ArcSwapOption::empty(),
            older: ArcSwapOption::empty(),
            members: Mutex::default(),
        })
    }

    /// The newest of the older versions that is not after a round.
    pub(super) fn older_at(&self, round: u32) -> Option<RowVersion> {
        let older = self.older.load();
        let older = older.as_deref()?;
        let after = older.partition_point(|version| version.round <= round);
        after.checked_sub(1).map(|place| older[place])
    }

    /// Keeps a version that `successor` follows, and forgets those that are no longer retained. O(older versions).
    pub(super) fn keep(&self, version: RowVersion, successor: u32, retained: &[u32]) {
        let older = self.older.load();
        let mut versions: Vec<RowVersion> = older.iter().flat_map(|older| older.iter()).copied().collect();
        versions.push(version);
        let ends = versions.iter().skip(1).map(|version| version.round).chain([successor]);
        let kept = versions.iter().zip(ends).filter(|(version, end)| version.is_retained(*end, retained));
        self.older.store(Some(Arc::new(kept.map(|(version, _)| *version).collect())));
    }

    /// The number of deletions that a reader at a round sees. O(log deletions).
    pub(super) fn deleted_at(&self, round: u32) -> usize {
        let deletions = self.deletions.load();
        deletions
            .as_ref()
            .map_or(0, |deletions| deletions.partition_point(|deletion| deletion.round <= round))
    }

    /// Whether nothing was deleted. O(1).
    #[inline]
    pub(super) fn has_no_deletions(&self) -> bool {
        self.deletions.load().is_none()
    }

    /// The positions of the entries that are deleted for a reader at a round, in the order of the deletions.
    pub(super) fn deletions_at(&self, round: u32) -> impl Iterator<Item = u32> + use<> {
        let deletions = self.deletions.load_full();
        let all = (0..).map_while(move |place| deletions.as_ref()?.get(place).copied());
        all.take_while(move |deletion| deletion.round <= round).map(|deletion| deletion.position)
    }

    /// Deletes the entries at these positions, from a round on. O(deletions).
    pub(super) fn delete(&self, round: u32, positions: &[u32]) {
        let before = self.deletions.load();
        let before = before.iter().flat_map(|before| before.iter()).copied();
        let new = positions.iter().map(|position| Deletion { round, position: *position });
        self.deletions.store(Some(Arc::new(before.chain(new).collect())));
    }

    /// What is known of the neighbors of a long row, for the thread that writes it.
    pub(super) fn members(&self) -> MutexGuard<'_, Option<Box<Members>>> {
        self.members.lock()
    }

    /// Heap bytes.
    pub(super) fn bytes(&self) -> usize {
        let members = self.members.lock().as_ref().map_or(0, |members| members.bytes());
        let former = self.former.len() * size_of::<FormerChain>();
        size_of::<Self>() + former + bytes_of(&self.deletions) + bytes_of(&self.older) + members
    }
}

/// Heap bytes of a list, with its two counts of references.
fn bytes_of<T>(list: &ArcSwapOption<Vec<T>>) -> usize {
    let counted = size_of::<[usize; 2]>() + size_of::<Vec<T>>();
    list.load().as_ref().map_or(0, |list| counted + list.capacity() * size_of::<T>())
}
