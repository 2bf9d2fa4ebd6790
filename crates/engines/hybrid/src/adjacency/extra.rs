//! State that only few rows have: deletions, versions for long-lived snapshots, the set of
//! neighbors of a long row.

use crate::adjacency::former::FormerLink;
use crate::adjacency::members::Members;
use crate::adjacency::versions::RowVersion;
use arc_swap::ArcSwapOption;
use hedgerow_sync::{Arc, Mutex, MutexGuard};

/// The deletion of an entry of a row, identified by its position (GraphOne, 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Deletion {
    /// The round since which the entry is deleted.
    round: u32,
    position: u32,
}

/// State that only few rows have, owned by the first block of a chain.
pub(super) struct RowExtra {
    /// The round since which the row has this chain.
    pub(super) since: u32,
    /// The chains before this one.
    pub(super) former: FormerLink,
    /// Deletions in the order in which they were made. Each round that deletes entries replaces the
    /// list by a longer one; the row is rewritten before there are many.
    deletions: ArcSwapOption<Vec<Deletion>>,
    /// Retained versions older than the newest two, ascending.
    older: ArcSwapOption<Vec<RowVersion>>,
    /// Used only by the thread that writes the row.
    members: Mutex<Option<Box<Members>>>,
}

impl RowExtra {
    /// Creates the state of a chain that a row has since a round, after the former chains.
    pub(super) fn after(since: u32, former: FormerLink) -> Box<Self> {
        Box::new(RowExtra {
            since,
            former,
            deletions: ArcSwapOption::empty(),
            older: ArcSwapOption::empty(),
            members: Mutex::default(),
        })
    }

    /// Returns the newest of the older versions that is not after a round.
    pub(super) fn older_at(&self, round: u32) -> Option<RowVersion> {
        let older = self.older.load();
        let older = older.as_deref()?;
        let after = older.partition_point(|version| version.round <= round);
        after.checked_sub(1).map(|place| older[place])
    }

    /// Keeps a version, which the version of round `successor` follows, and forgets versions that
    /// are no longer retained. O(older versions).
    pub(super) fn keep(&self, version: RowVersion, successor: u32, retained: &[u32]) {
        let older = self.older.load();
        let mut versions: Vec<RowVersion> = older.iter().flat_map(|older| older.iter()).copied().collect();
        versions.push(version);
        let ends = versions.iter().skip(1).map(|version| version.round).chain([successor]);
        let kept = versions.iter().zip(ends).filter(|(version, end)| version.is_retained(*end, retained));
        self.older.store(Some(Arc::new(kept.map(|(version, _)| *version).collect())));
    }

    /// Returns the number of deletions that a reader at a round sees. O(log deletions).
    pub(super) fn deleted_at(&self, round: u32) -> usize {
        let deletions = self.deletions.load();
        deletions
            .as_ref()
            .map_or(0, |deletions| deletions.partition_point(|deletion| deletion.round <= round))
    }

    /// Returns true if nothing was deleted. O(1).
    #[inline]
    pub(super) fn has_no_deletions(&self) -> bool {
        self.deletions.load().is_none()
    }

    /// Returns the positions of the entries deleted for a reader at a round, in the order of the
    /// deletions.
    pub(super) fn deletions_at(&self, round: u32) -> impl Iterator<Item = u32> + use<> {
        let deletions = self.deletions.load_full();
        let all = (0..).map_while(move |place| deletions.as_ref()?.get(place).copied());
        all.take_while(move |deletion| deletion.round <= round).map(|deletion| deletion.position)
    }

    /// Deletes the entries at these positions, since a round. O(deletions).
    pub(super) fn delete(&self, round: u32, positions: &[u32]) {
        let before = self.deletions.load();
        let before = before.iter().flat_map(|before| before.iter()).copied();
        let new = positions.iter().map(|position| Deletion { round, position: *position });
        self.deletions.store(Some(Arc::new(before.chain(new).collect())));
    }

    /// Locks the set of neighbors of a long row, for the thread that writes the row.
    pub(super) fn members(&self) -> MutexGuard<'_, Option<Box<Members>>> {
        self.members.lock()
    }

    /// Heap bytes.
    pub(super) fn bytes(&self) -> usize {
        let members = self.members.lock().as_ref().map_or(0, |members| members.bytes());
        let former = self.former.get().bytes();
        size_of::<Self>() + former + bytes_of(&self.deletions) + bytes_of(&self.older) + members
    }
}

/// Heap bytes of a list, with its two counts of references.
fn bytes_of<T>(list: &ArcSwapOption<Vec<T>>) -> usize {
    let counted = size_of::<[usize; 2]>() + size_of::<Vec<T>>();
    list.load().as_ref().map_or(0, |list| counted + list.capacity() * size_of::<T>())
}
