//! Superseded versions, filed under the timestamps that retain them.

use crossbeam_utils::CachePadded;
use hedgerow_model::CommitTimestamp;
use hedgerow_model::token::LiveTimestamps;
use hedgerow_sync::{Mutex, MutexGuard};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// A superseded version, with the lifetime `born..superseded`.
#[derive(Clone, Copy, Debug)]
pub struct Superseded<P> {
    /// Location of the version in its engine.
    pub place: P,
    /// Timestamp of the commit that created the version.
    pub born: CommitTimestamp,
    /// Timestamp of the commit that superseded the version.
    pub superseded: CommitTimestamp,
}

/// Decision about a superseded version.
enum Fate {
    /// Visible at this live timestamp.
    KeptFor(CommitTimestamp),
    /// Invisible for good.
    Dead,
    /// Superseded after the live timestamps were collected: not decidable yet.
    Undecided,
}

impl<P> Superseded<P> {
    fn fate(&self, live: &LiveTimestamps) -> Fate {
        match live.holder(self.born..self.superseded) {
            Some(holder) => Fate::KeptFor(holder),
            None if live.decides(self.superseded) => Fate::Dead,
            None => Fate::Undecided,
        }
    }
}

/// Superseded versions, by the timestamp that retains or recently retained them.
type FiledVersions<P> = BTreeMap<CommitTimestamp, Vec<Superseded<P>>>;

/// Number of shares of the buckets.
const SHARES: usize = if cfg!(hedgerow_shuttle) { 2 } else { 16 };

/// Buckets of superseded versions, distributed over several shares.
///
/// Opening a snapshot waits for stamped commits, which file the versions that they supersede. With
/// one lock, and more threads than cores, a holder that is not running would stall all of them. So
/// a commit files into any share that is free.
///
/// The locks of shares are taken last and briefly: a commit takes one while it holds the locks of
/// units, and no thread takes the lock of a unit, or of a second share, while it holds one.
pub struct Garbage<P> {
    shares: [CachePadded<Mutex<FiledVersions<P>>>; SHARES],
}

impl<P> Default for Garbage<P> {
    fn default() -> Self {
        Garbage { shares: std::array::from_fn(|_| CachePadded::default()) }
    }
}

impl<P: Copy> Garbage<P> {
    /// Files versions under `holder`. O(versions).
    pub fn file(&self, holder: CommitTimestamp, versions: SmallVec<[Superseded<P>; 2]>) {
        if !versions.is_empty() {
            self.share_for(holder).entry(holder).or_default().extend(versions);
        }
    }

    /// Locks the preferred share of `holder`, or the next free one: a commit files after its stamp,
    /// so new snapshots would wait with it for the holder of a lock.
    fn share_for(&self, holder: CommitTimestamp) -> MutexGuard<'_, FiledVersions<P>> {
        let (before, from_first) = self.shares.split_at(holder.0 as usize % SHARES);
        let free = from_first.iter().chain(before).find_map(|share| share.try_lock());
        free.unwrap_or_else(|| from_first[0].lock())
    }

    /// Files each version under the timestamp paired with it.
    pub(crate) fn file_each(&self, versions: Vec<(CommitTimestamp, Superseded<P>)>) {
        if versions.is_empty() {
            return;
        }
        let mut buckets = self.share_for(versions[0].0);
        for (holder, version) in versions {
            buckets.entry(holder).or_default().push(version);
        }
    }

    /// Starts a walk over the versions filed under timestamps that are no longer live.
    pub(crate) fn expired<'g>(&'g self, live: &'g LiveTimestamps) -> Expired<'g, P> {
        Expired { garbage: self, live, passed: [CommitTimestamp(u64::MAX); SHARES] }
    }

    /// Refiles the versions of a batch that another live timestamp sees. Returns the garbage.
    /// Appends undecided versions to `left`, with the timestamps that they were filed under.
    pub(crate) fn sort_out(
        &self,
        live: &LiveTimestamps,
        batch: Vec<(CommitTimestamp, Superseded<P>)>,
        left: &mut Vec<(CommitTimestamp, Superseded<P>)>,
    ) -> Vec<Superseded<P>> {
        let mut dead = Vec::with_capacity(batch.len());
        let mut kept = Vec::new();
        for (holder, version) in batch {
            match version.fate(live) {
                Fate::KeptFor(other) => kept.push((other, version)),
                Fate::Dead => dead.push(version),
                Fate::Undecided => left.push((holder, version)),
            }
        }
        self.file_each(kept);
        dead
    }

    /// Returns true if versions are filed under a timestamp that is no longer live.
    /// O(buckets · log live).
    pub fn has_expired(&self, live: &LiveTimestamps) -> bool {
        let end = CommitTimestamp(u64::MAX);
        self.shares.iter().any(|share| newest_expired(&share.lock(), live, end).is_some())
    }

    /// Returns a copy of all buckets.
    pub fn buckets(&self) -> BTreeMap<CommitTimestamp, Vec<Superseded<P>>> {
        let mut all = FiledVersions::new();
        for share in &self.shares {
            for (holder, bucket) in &*share.lock() {
                all.entry(*holder).or_default().extend(bucket);
            }
        }
        all
    }
}

/// A walk over the versions filed under timestamps that are no longer live, from the newest
/// timestamp to the oldest: engines find the newest versions of a unit first.
///
/// It visits each timestamp once: versions filed later under a timestamp already passed remain.
pub(crate) struct Expired<'g, P> {
    garbage: &'g Garbage<P>,
    live: &'g LiveTimestamps,
    /// Per share, the exclusive end of the timestamps left to visit.
    passed: [CommitTimestamp; SHARES],
}

impl<P: Copy> Expired<'_, P> {
    /// Takes the next versions with their timestamps: about `most`, or fewer at the end. Takes from
    /// the shares in turn, because the versions of a unit are distributed over all of them.
    pub(crate) fn take(&mut self, most: usize) -> Vec<(CommitTimestamp, Superseded<P>)> {
        let mut taken = Vec::new();
        loop {
            let before = taken.len();
            for (share, passed) in self.garbage.shares.iter().zip(&mut self.passed) {
                let end = taken.len() + most.div_ceil(SHARES);
                let mut buckets = share.lock();
                while taken.len() < end
                    && let Some(holder) = newest_expired(&buckets, self.live, *passed)
                    && let Some(bucket) = buckets.get_mut(&holder)
                {
                    let kept = bucket.len().saturating_sub(end - taken.len());
                    taken.extend(bucket.drain(kept..).map(|version| (holder, version)));
                    *passed = holder.next();
                    if kept == 0 {
                        buckets.remove(&holder);
                        *passed = holder;
                    }
                }
            }
            if taken.len() == before || taken.len() >= most {
                return taken;
            }
        }
    }
}

/// Returns the newest timestamp before `end` that has a bucket and is no longer live.
/// O(later live buckets · log live).
fn newest_expired<P>(
    buckets: &FiledVersions<P>,
    live: &LiveTimestamps,
    end: CommitTimestamp,
) -> Option<CommitTimestamp> {
    buckets.range(..end).rev().map(|(holder, _)| *holder).find(|holder| !live.contains(*holder))
}

#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests {
    use super::*;

    #[test]
    fn filing_skips_shares_that_others_lock() {
        let (garbage, holder) = (Garbage::default(), CommitTimestamp(5));
        let version = |place| Superseded { place, born: CommitTimestamp(3), superseded: CommitTimestamp(7) };
        garbage.file(holder, SmallVec::from_iter([version(0)]));
        let held: Vec<_> = garbage.shares.iter().skip(1).map(|share| share.lock()).collect();
        garbage.file(holder, SmallVec::from_iter([version(1)]));
        drop(held);
        assert_eq!(garbage.buckets()[&holder].len(), 2);
    }
}
