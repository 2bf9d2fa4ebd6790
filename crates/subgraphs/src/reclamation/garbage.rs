//! Superseded versions, filed under the timestamps that keep them.

use hedgerow_model::Timestamp;
use hedgerow_model::token::LiveTimestamps;
use hedgerow_sync::Mutex;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// A version that lived from `born` up to, not including, `superseded`.
#[derive(Clone, Copy, Debug)]
pub struct Superseded<P> {
    /// Where it belongs.
    pub place: P,
    /// The commit that made it.
    pub born: Timestamp,
    /// The commit that made its successor.
    pub superseded: Timestamp,
}

/// What becomes of a superseded version.
enum Fate {
    /// This live timestamp sees it.
    KeptFor(Timestamp),
    /// Nobody sees it or will.
    Dead,
    /// It was superseded after the live timestamps were collected.
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

/// Buckets of superseded versions, each under a timestamp that keeps it or did until lately.
///
/// The lock is taken last and for moments: a commit takes it while it holds locks of units, and
/// nobody takes the lock of a unit while holding this one.
pub struct Garbage<P> {
    buckets: Mutex<BTreeMap<Timestamp, Vec<Superseded<P>>>>,
}

impl<P> Default for Garbage<P> {
    fn default() -> Self {
        Garbage { buckets: Mutex::default() }
    }
}

impl<P: Copy> Garbage<P> {
    /// Files versions under `holder`. O(versions).
    pub fn file(&self, holder: Timestamp, versions: SmallVec<[Superseded<P>; 2]>) {
        if !versions.is_empty() {
            self.buckets.lock().entry(holder).or_default().extend(versions);
        }
    }

    /// Files each version under the timestamp beside it.
    pub(super) fn file_each(&self, versions: Vec<(Timestamp, Superseded<P>)>) {
        if versions.is_empty() {
            return;
        }
        let mut buckets = self.buckets.lock();
        for (holder, version) in versions {
            buckets.entry(holder).or_default().push(version);
        }
    }

    /// Takes up to `most` versions out of one bucket whose timestamp is not live.
    pub(super) fn take_expired(
        &self,
        live: &LiveTimestamps,
        most: usize,
    ) -> Option<(Timestamp, Vec<Superseded<P>>)> {
        let mut buckets = self.buckets.lock();
        let holder = first_expired(&buckets, live)?;
        let bucket = buckets.get_mut(&holder)?;
        if bucket.len() > most {
            return Some((holder, bucket.split_off(bucket.len() - most)));
        }
        buckets.remove_entry(&holder)
    }

    /// Files those versions of a batch that another live timestamp sees under that, and gives those that nobody sees. What
    /// cannot be decided yet is added to `left`, with the `holder` that it was filed under.
    pub(super) fn sort_out(
        &self,
        live: &LiveTimestamps,
        holder: Timestamp,
        batch: Vec<Superseded<P>>,
        left: &mut Vec<(Timestamp, Superseded<P>)>,
    ) -> Vec<Superseded<P>> {
        let mut dead = Vec::with_capacity(batch.len());
        let mut kept = Vec::new();
        for version in batch {
            match version.fate(live) {
                Fate::KeptFor(other) => kept.push((other, version)),
                Fate::Dead => dead.push(version),
                Fate::Undecided => left.push((holder, version)),
            }
        }
        self.file_each(kept);
        dead
    }

    /// Whether there is a bucket whose timestamp is not live.
    pub(super) fn has_expired(&self, live: &LiveTimestamps) -> bool {
        first_expired(&self.buckets.lock(), live).is_some()
    }

    /// A copy of all buckets, ascending by timestamp.
    pub fn buckets(&self) -> Vec<(Timestamp, Vec<Superseded<P>>)> {
        self.buckets.lock().iter().map(|(holder, bucket)| (*holder, bucket.clone())).collect()
    }
}

/// O(live buckets before it · log live).
fn first_expired<P>(
    buckets: &BTreeMap<Timestamp, Vec<Superseded<P>>>,
    live: &LiveTimestamps,
) -> Option<Timestamp> {
    buckets.keys().copied().find(|holder| !live.contains(*holder))
}
