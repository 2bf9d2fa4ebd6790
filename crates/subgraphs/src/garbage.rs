//! Superseded versions, filed under the timestamps that keep them.

use hedgerow_model::Timestamp;
use hedgerow_model::token::LiveTimestamps;
use hedgerow_sync::Mutex;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// The block that a chain holds the versions of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) table: Table,
    pub(crate) partition: u32,
}

/// A table of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Table {
    /// The vertices.
    Vertices,
    /// The adjacency at this position.
    Adjacency(u32),
}

/// A version that lived from `born` up to, not including, `superseded`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Superseded {
    pub(crate) place: Place,
    pub(crate) born: Timestamp,
    pub(crate) superseded: Timestamp,
}

/// What becomes of a superseded version.
pub(crate) enum Fate {
    /// This live timestamp sees it.
    KeptFor(Timestamp),
    /// Nobody sees it or will.
    Dead,
    /// It was superseded after the live timestamps were collected.
    Undecided,
}

impl Superseded {
    pub(crate) fn fate(&self, live: &LiveTimestamps) -> Fate {
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
#[derive(Default)]
pub(crate) struct Garbage {
    buckets: Mutex<BTreeMap<Timestamp, Vec<Superseded>>>,
}

impl Garbage {
    /// Files versions under `holder`. O(versions).
    pub(crate) fn file(&self, holder: Timestamp, versions: SmallVec<[Superseded; 2]>) {
        if !versions.is_empty() {
            self.buckets.lock().entry(holder).or_default().extend(versions);
        }
    }

    /// Files each version under the timestamp beside it.
    pub(crate) fn file_each(&self, versions: Vec<(Timestamp, Superseded)>) {
        if versions.is_empty() {
            return;
        }
        let mut buckets = self.buckets.lock();
        for (holder, version) in versions {
            buckets.entry(holder).or_default().push(version);
        }
    }

    /// Takes up to `most` versions out of one bucket whose timestamp is not live.
    pub(crate) fn take_expired(
        &self,
        live: &LiveTimestamps,
        most: usize,
    ) -> Option<(Timestamp, Vec<Superseded>)> {
        let mut buckets = self.buckets.lock();
        let holder = first_expired(&buckets, live)?;
        let bucket = buckets.get_mut(&holder)?;
        if bucket.len() > most {
            return Some((holder, bucket.split_off(bucket.len() - most)));
        }
        buckets.remove_entry(&holder)
    }

    /// Whether there is a bucket whose timestamp is not live.
    pub(crate) fn has_expired(&self, live: &LiveTimestamps) -> bool {
        first_expired(&self.buckets.lock(), live).is_some()
    }

    /// A copy of all buckets, ascending by timestamp.
    pub(crate) fn buckets(&self) -> Vec<(Timestamp, Vec<Superseded>)> {
        self.buckets.lock().iter().map(|(holder, bucket)| (*holder, bucket.clone())).collect()
    }
}

/// O(live buckets before it · log live).
fn first_expired(buckets: &BTreeMap<Timestamp, Vec<Superseded>>, live: &LiveTimestamps) -> Option<Timestamp> {
    buckets.keys().copied().find(|holder| !live.contains(*holder))
}
