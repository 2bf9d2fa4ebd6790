//! Frees garbage: superseded versions that no live timestamp sees, whatever they are versions of.
//!
//! A superseded version that may be visible is filed as [`Garbage`] under the newest registered
//! timestamp. When that is no longer live, [`reclaim`] inspects the version: it is refiled under
//! another live timestamp within its lifetime, or freed under the lock of its unit. So the cost of
//! reclamation is proportional to what was retained, and a budget bounds that of a call: inspecting
//! a version takes a part of the budget, too. Versions are freed in batches of many timestamps, so
//! that an engine can free those of one unit together.
//!
//! Engines in memory also share the counters of their [`Memory`], [`Directory`], the table of
//! all their vertices or partitions, and the large pieces of memory that they [`map`].

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

/// Versions of a unit that are freed to know how large versions are.
const FIRST: usize = 64;

/// Bytes of the budget that inspecting a version takes at least, whether it is freed or not.
const INSPECTION_BYTES: usize = 128;

/// An engine that files the versions that it supersedes.
pub trait Versioned {
    /// Where a version belongs.
    type Place: Copy;

    /// The filed versions.
    fn garbage(&self) -> &Garbage<Self::Place>;

    /// The memory counters.
    fn counters(&self) -> &Memory;

    /// The lock that covers a place.
    fn unit_of(place: &Self::Place) -> LockUnit;

    /// Frees filed versions that are garbage. They all belong to `unit`, which is locked; the newest
    /// come first.
    fn free(
        &self,
        locks: &HeldLocks<'_>,
        unit: LockUnit,
        versions: &mut [Superseded<Self::Place>],
    ) -> MemoryChange;

    /// The bytes that a filed version retains; 0 if it is gone, or cannot be read now.
    fn retained_by(&self, version: &Superseded<Self::Place>, units: &dyn UnitLocks) -> usize;
}

/// Processes the garbage of timestamps that are no longer live: refiles what another live timestamp
/// sees, and frees the rest until the budget is used up.
pub fn reclaim<V: Versioned>(
    engine: &V,
    live: &LiveTimestamps,
    units: &dyn UnitLocks,
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

/// Reclaims versions that need no lock to be freed: `free` frees one and returns how many bytes
/// that was.
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

/// Passes the versions filed under timestamps that are no longer live to `process`, in batches, until
/// the budget is used up or the bytes that `process` has freed, which it returns. Returns whether there
/// are more.
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

/// Bytes that superseded versions retain, by the timestamp that they are filed under. O(filed
/// versions).
pub fn retained<V: Versioned>(engine: &V, units: &dyn UnitLocks) -> Vec<(CommitTimestamp, usize)> {
    let bytes = |bucket: &[Superseded<V::Place>]| -> usize {
        bucket.iter().map(|version| engine.retained_by(version, units)).sum()
    };
    engine.garbage().buckets().iter().map(|(holder, bucket)| (*holder, bytes(bucket))).collect()
}

/// One run of [`reclaim`].
struct Pass<'p, V: Versioned> {
    engine: &'p V,
    live: &'p LiveTimestamps,
    units: &'p dyn UnitLocks,
    budget_bytes: usize,
    done: Reclaimed,
    /// Versions to file again at the end, with their timestamps.
    left: Vec<(CommitTimestamp, Superseded<V::Place>)>,
}

impl<V: Versioned> Pass<'_, V> {
    /// Sorts out a batch of versions. Those that are garbage and cannot be freed now are filed under
    /// their birth, which is not live either.
    fn sort_out(&mut self, batch: Vec<(CommitTimestamp, Superseded<V::Place>)>) {
        let mut dead = self.engine.garbage().sort_out(self.live, batch, &mut self.left);
        // The newest first, which engines find first.
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

    /// How many of some versions to free together, as far as the others tell how large they are.
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
        self.units.try_with(unit, &mut |locks| {
            assert!(locks.covers(unit), "versions are freed without the lock of their unit");
            let change = engine.free(locks, unit, versions);
            engine.counters().add(change);
            done.versions += versions.len();
            done.bytes += (change.live + change.retained).unsigned_abs();
        })
    }
}
