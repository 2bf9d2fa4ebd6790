//! Reclamation of garbage: superseded versions of any kind that no live timestamp sees.
//!
//! A superseded version that may be visible is filed as [`Garbage`] under the newest registered
//! timestamp. When that timestamp is no longer live, [`reclaim`] inspects the version: it refiles
//! it under another live timestamp within the version's lifetime, or frees it under the lock of its
//! unit. So the cost of reclamation is proportional to the number of retained versions, and a
//! budget bounds the cost of a call, including inspections. Versions of many timestamps are freed
//! in batches, so that an engine can free the versions of a unit together.
//!
//! In-memory engines also share [`Memory`], their memory counters; [`Directory`], the table of all
//! their vertices or partitions; and [`map`], which allocates large pieces of memory.

pub mod account;
mod directory;
mod garbage;
mod mapping;
mod memory;

pub use directory::Directory;
pub use garbage::{Garbage, Superseded};
pub use mapping::{map, mapped_bytes, unmap};
pub use memory::{Memory, MemoryChange};

use hedgerow_model::token::{HeldLocks, LiveTimestamps};
use hedgerow_model::{CommitTimestamp, LockUnit, Reclaimed, UnitLocks};
use std::cmp::Reverse;

/// Versions taken out of the garbage at a time.
const BATCH: usize = if cfg!(hedgerow_shuttle) { 2 } else { 1 << 13 };

/// Versions freed first, to estimate the size of a version.
const FIRST: usize = 64;

/// Minimum charge to the budget for inspecting a version, in bytes, whether it is freed or not.
const INSPECTION_BYTES: usize = 128;

/// An engine that files the versions that it supersedes.
pub trait Versioned {
    /// Location of a version.
    type Place: Copy;

    /// The filed versions.
    fn garbage(&self) -> &Garbage<Self::Place>;

    /// The memory counters.
    fn counters(&self) -> &Memory;

    /// Returns the lock that covers a place.
    fn unit_of(place: &Self::Place) -> LockUnit;

    /// Frees filed versions that are garbage. All belong to `unit`, which is locked, and descend by
    /// birth.
    fn free(
        &self,
        locks: &HeldLocks<'_>,
        unit: LockUnit,
        versions: &mut [Superseded<Self::Place>],
    ) -> MemoryChange;

    /// Returns the bytes that a filed version retains, or 0 if it is gone or cannot be read now.
    fn retained_by(&self, version: &Superseded<Self::Place>, units: &UnitLocks<'_>) -> usize;
}

/// Processes the versions filed under timestamps that are no longer live: refiles the versions that
/// another live timestamp sees, and frees the rest until the budget is used up.
pub fn reclaim<V: Versioned>(
    engine: &V,
    live: &LiveTimestamps,
    units: &UnitLocks<'_>,
    budget_bytes: usize,
) -> Reclaimed {
    let mut pass = Pass { engine, live, units, budget_bytes, done: Reclaimed::default(), left: Vec::new() };
    let expired = in_batches(engine.garbage(), live, budget_bytes, |batch| {
        pass.sort_out(batch);
        pass.done.bytes
    });
    pass.done.more |= expired;
    engine.garbage().file_each(pass.left);
    pass.done
}

/// Reclaims versions that are freed without a lock: `free` frees one and returns its bytes.
pub fn reclaim_unlocked<P: Copy>(
    garbage: &Garbage<P>,
    live: &LiveTimestamps,
    budget_bytes: usize,
    free: impl Fn(P) -> usize,
) -> Reclaimed {
    let (mut done, mut left) = (Reclaimed::default(), Vec::new());
    let expired = in_batches(garbage, live, budget_bytes, |batch| {
        for version in garbage.sort_out(live, batch, &mut left) {
            if done.bytes >= budget_bytes {
                done.more = true;
                left.push((version.born, version));
                continue;
            }
            done.versions += 1;
            done.bytes += free(version.place);
        }
        done.bytes
    });
    done.more |= expired;
    garbage.file_each(left);
    done
}

/// Passes the versions filed under timestamps that are no longer live to `process`, in batches,
/// until inspections or frees use up the budget. `process` returns the bytes freed so far. Returns
/// true if versions are left.
fn in_batches<P: Copy>(
    garbage: &Garbage<P>,
    live: &LiveTimestamps,
    budget_bytes: usize,
    mut process: impl FnMut(Vec<(CommitTimestamp, Superseded<P>)>) -> usize,
) -> bool {
    let mut expired = garbage.expired(live);
    let (mut inspected, mut freed_bytes) = (0, 0);
    while let left @ 1.. = budget_bytes.saturating_sub(freed_bytes.max(inspected * INSPECTION_BYTES)) {
        let batch = expired.take((left / INSPECTION_BYTES).clamp(1, BATCH));
        if batch.is_empty() {
            break;
        }
        inspected += batch.len();
        freed_bytes = process(batch);
    }
    garbage.has_expired(live)
}

/// Returns the bytes that superseded versions retain, by the timestamp that the versions are filed
/// under. O(filed versions).
pub fn retained<V: Versioned>(engine: &V, units: &UnitLocks<'_>) -> Vec<(CommitTimestamp, usize)> {
    let bytes = |bucket: &[Superseded<V::Place>]| -> usize {
        bucket.iter().map(|version| engine.retained_by(version, units)).sum()
    };
    engine.garbage().buckets().iter().map(|(holder, bucket)| (*holder, bytes(bucket))).collect()
}

/// One run of [`reclaim`].
struct Pass<'p, V: Versioned> {
    engine: &'p V,
    live: &'p LiveTimestamps,
    units: &'p UnitLocks<'p>,
    budget_bytes: usize,
    done: Reclaimed,
    /// Versions to file again at the end, with their timestamps.
    left: Vec<(CommitTimestamp, Superseded<V::Place>)>,
}

impl<V: Versioned> Pass<'_, V> {
    /// Sorts out a batch of versions. Files garbage that cannot be freed now under its birth, which
    /// is not live either.
    fn sort_out(&mut self, batch: Vec<(CommitTimestamp, Superseded<V::Place>)>) {
        let mut dead = self.engine.garbage().sort_out(self.live, batch, &mut self.left);
        // Newest first, the order in which engines find versions.
        dead.sort_unstable_by_key(|version| (V::unit_of(&version.place), Reverse(version.born)));
        for mut versions in dead.chunk_by_mut(|one, next| V::unit_of(&one.place) == V::unit_of(&next.place)) {
            while !versions.is_empty() {
                let (now, later) = versions.split_at_mut(self.within_budget(versions.len()));
                if now.is_empty() || !self.free(now) {
                    self.done.more = true;
                    let left = now.iter().chain(&*later);
                    self.left.extend(left.map(|version| (version.born, *version)));
                    break;
                }
                versions = later;
            }
        }
    }

    /// Returns the number of versions to free together within the budget, given the average size of
    /// those freed so far.
    fn within_budget(&self, versions: usize) -> usize {
        let Reclaimed { versions: freed, bytes, .. } = self.done;
        match self.budget_bytes.saturating_sub(bytes) {
            0 => 0,
            _ if freed == 0 => versions.min(FIRST),
            left => (left / (bytes / freed).max(1)).clamp(1, versions),
        }
    }

    /// Frees dead versions of one unit; returns false if another thread holds its lock.
    fn free(&mut self, versions: &mut [Superseded<V::Place>]) -> bool {
        let (engine, done) = (self.engine, &mut self.done);
        let unit = V::unit_of(&versions[0].place);
        (self.units)(unit, &mut |locks| {
            assert!(locks.covers(unit), "versions are freed without the lock of their unit");
            let change = engine.free(locks, unit, versions);
            engine.counters().add(change);
            done.versions += versions.len();
            done.bytes += (change.live + change.retained).unsigned_abs();
        })
    }
}
