//! Entry counts of the versions of a row: the degree array of the paper, in two words per row
//! (GraphOne, 4: the multi-versioned degree array).

use hedgerow_sync::atomic::{AtomicU64, Ordering};

/// A version of a row: its number of entries, including deleted ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RowVersion {
    /// The round that made the version.
    pub(super) round: u32,
    pub(super) entries: u32,
}

impl RowVersion {
    fn to_bits(self) -> u64 {
        u64::from(self.round) << 32 | u64::from(self.entries)
    }

    fn from_bits(bits: u64) -> Self {
        RowVersion { round: (bits >> 32) as u32, entries: bits as u32 }
    }

    /// Returns true if a retained version of the adjacency has this version of the row, which the
    /// version of round `successor` follows. `retained` ascends.
    pub(super) fn is_retained(self, successor: u32, retained: &[u32]) -> bool {
        let at_or_after = retained.partition_point(|round| *round < self.round);
        retained.get(at_or_after).is_some_and(|round| *round < successor)
    }
}

/// The newest two versions of a row; all zero if the row never had entries.
///
/// One thread at a time stores versions, with ascending rounds. A reader finds the newest version
/// up to its round without a lock, since a store replaces the older of the two, and only when no
/// reader needs it, or it is kept elsewhere.
#[derive(Default)]
pub(super) struct NewestVersions([AtomicU64; 2]);

impl NewestVersions {
    /// Returns the newest version up to a round, or `None` if both are newer.
    #[inline]
    pub(super) fn at(&self, round: u32) -> Option<RowVersion> {
        let [one, other] = self.load();
        let newest = |one: RowVersion, other: RowVersion| if one.round >= other.round { one } else { other };
        match (one.round <= round, other.round <= round) {
            (true, true) => Some(newest(one, other)),
            (true, false) => Some(one),
            (false, true) => Some(other),
            (false, false) => None,
        }
    }

    /// Returns the newest version.
    #[inline]
    pub(super) fn newest(&self) -> RowVersion {
        let [one, other] = self.load();
        one.max(other)
    }

    /// Returns the version that the next store replaces, and the round of its successor.
    pub(super) fn replaced(&self) -> (RowVersion, u32) {
        let [one, other] = self.load();
        (one.min(other), one.max(other).round)
    }

    /// Stores a version that is newer than both. The caller's earlier writes happen before a reader
    /// finds the version.
    pub(super) fn store(&self, version: RowVersion) {
        let [one, other] = self.load();
        debug_assert!(version.round > one.max(other).round, "rounds ascend");
        self.0[usize::from(other < one)].store(version.to_bits(), Ordering::Release);
    }

    /// Loads both versions as they were at one time.
    #[inline]
    fn load(&self) -> [RowVersion; 2] {
        let [one, other] = &self.0;
        loop {
            // No version is stored twice. So if the first one is unchanged, it was current when the
            // second one was loaded.
            let first = one.load(Ordering::Acquire);
            let second = other.load(Ordering::Acquire);
            if one.load(Ordering::Relaxed) == first {
                return [first, second].map(RowVersion::from_bits);
            }
        }
    }
}

#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests {
    use super::*;

    #[test]
    fn the_newest_two_versions_are_found_by_round() {
        let versions = NewestVersions::default();
        let version = |round, entries| RowVersion { round, entries };
        assert_eq!(versions.at(0), Some(version(0, 0)));
        versions.store(version(3, 7));
        assert_eq!([0, 2, 3, 9].map(|round| versions.at(round).unwrap().entries), [0, 0, 7, 7]);
        versions.store(version(5, 8));
        assert_eq!(versions.replaced(), (version(3, 7), 5));
        versions.store(version(6, 9));
        assert_eq!(
            [4, 5, 6, 7].map(|round| versions.at(round)),
            [None, Some(version(5, 8)), Some(version(6, 9)), Some(version(6, 9))]
        );
        assert_eq!(versions.at(u32::MAX), Some(version(6, 9)));
    }

    #[test]
    fn a_version_is_retained_if_a_retained_round_is_in_its_life() {
        let version = RowVersion { round: 4, entries: 1 };
        let is_retained = |successor, retained: &[u32]| version.is_retained(successor, retained);
        assert!(is_retained(6, &[2, 4]) && is_retained(6, &[5]) && is_retained(9, &[1, 8, 20]));
        assert!(!is_retained(6, &[]) && !is_retained(6, &[3, 6]) && !is_retained(6, &[7]));
    }
}
