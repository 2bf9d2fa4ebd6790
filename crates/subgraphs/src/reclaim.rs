//! Freeing the versions that nobody sees any more.

use crate::container::Container;
use crate::engine::Subgraphs;
use crate::garbage::{Fate, Place, Superseded, Table};
use crate::memory::MemoryChange;
use crate::partition::unit_of;
use hedgerow_model::token::{HeldLocks, LiveTimestamps};
use hedgerow_model::{Reclaimed, Timestamp, UnitLocks};
use hedgerow_sync::epoch::{self, Guard};

/// Versions that are taken out of the garbage at a time.
const BATCH: usize = 1024;

impl<C: Container> Subgraphs<C> {
    /// Goes through the garbage of timestamps that are live no more: what another live timestamp
    /// sees moves there, the rest is freed until the budget ends.
    pub(crate) fn reclaim_versions(
        &self,
        live: &LiveTimestamps,
        units: &dyn UnitLocks,
        budget_bytes: usize,
    ) -> Reclaimed {
        let mut pass =
            Pass { engine: self, live, units, budget_bytes, done: Reclaimed::default(), left: Vec::new() };
        while pass.done.bytes < budget_bytes {
            let Some((holder, batch)) = self.garbage.take_expired(live, BATCH) else { break };
            pass.sort_out(holder, batch);
        }
        pass.done.more |= self.garbage.has_expired(live);
        self.garbage.file_each(pass.left);
        epoch::pin().flush();
        pass.done
    }

    /// Bytes that superseded versions keep, by the timestamp they are filed under.
    pub(crate) fn retained_bytes(&self, units: &dyn UnitLocks) -> Vec<(Timestamp, usize)> {
        let bytes =
            |bucket: &[Superseded]| bucket.iter().map(|version| self.retained_by(version, units)).sum();
        self.garbage.buckets().iter().map(|(holder, bucket)| (*holder, bytes(bucket))).collect()
    }

    fn retained_by(&self, version: &Superseded, units: &dyn UnitLocks) -> usize {
        let Place { table, partition } = version.place;
        let unit = unit_of(partition);
        let mut bytes = None;
        units.try_with(unit, &mut |locks| {
            bytes = match table {
                Table::Vertices => {
                    let chain = self.vertices.get(partition);
                    chain.map(|chain| chain.retained_bytes(locks, unit, version.born))
                }
                Table::Adjacency(position) => {
                    let chain = self.adjacencies[position as usize].chains.get(partition);
                    chain.map(|chain| chain.retained_bytes(locks, unit, version.born))
                }
            };
        });
        bytes.unwrap_or(0)
    }

    fn unlink(&self, locks: &HeldLocks<'_>, version: &Superseded, guard: &Guard) -> MemoryChange {
        let Place { table, partition } = version.place;
        let (unit, born) = (unit_of(partition), version.born);
        match table {
            Table::Vertices => {
                let chain = self.vertices.get(partition).expect("a filed version has a chain");
                chain.unlink(locks, unit, born, guard)
            }
            Table::Adjacency(position) => {
                let chains = &self.adjacencies[position as usize].chains;
                chains.get(partition).expect("a filed version has a chain").unlink(locks, unit, born, guard)
            }
        }
    }
}

/// One reclamation.
struct Pass<'p, C: Container> {
    engine: &'p Subgraphs<C>,
    live: &'p LiveTimestamps,
    units: &'p dyn UnitLocks,
    budget_bytes: usize,
    done: Reclaimed,
    /// What is to be filed again at the end, with its timestamp.
    left: Vec<(Timestamp, Superseded)>,
}

impl<C: Container> Pass<'_, C> {
    /// Decides about versions that were filed under `holder`.
    fn sort_out(&mut self, holder: Timestamp, batch: Vec<Superseded>) {
        let mut dead = Vec::with_capacity(batch.len());
        let mut kept = Vec::new();
        for version in batch {
            match version.fate(self.live) {
                Fate::KeptFor(other) => kept.push((other, version)),
                Fate::Dead => dead.push(version),
                Fate::Undecided => self.left.push((holder, version)),
            }
        }
        self.engine.garbage.file_each(kept);
        dead.sort_unstable_by_key(|version| version.place.partition);
        for versions in dead.chunk_by(|one, next| one.place.partition == next.place.partition) {
            if self.done.bytes >= self.budget_bytes || !self.free(versions) {
                self.done.more = true;
                self.left.extend(versions.iter().map(|version| (holder, *version)));
            }
        }
    }

    /// Frees dead versions of one partition; false if it is locked by somebody else.
    fn free(&mut self, versions: &[Superseded]) -> bool {
        let (engine, done) = (self.engine, &mut self.done);
        let unit = unit_of(versions[0].place.partition);
        self.units.try_with(unit, &mut |locks| {
            let guard = epoch::pin();
            let mut change = MemoryChange::default();
            versions.iter().for_each(|version| change += engine.unlink(locks, version, &guard));
            engine.memory.add(change);
            done.versions += versions.len();
            done.bytes += change.retained.unsigned_abs();
        })
    }
}
