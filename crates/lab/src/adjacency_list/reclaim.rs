//! Freeing the versions that nobody sees any more.

use super::engine::{AdjacencyList, Table, unit_of};
use super::garbage::{Fate, Part, Superseded};
use super::memory::MemoryChange;
use super::row::VERSION_BYTES;
use hedgerow_model::token::LiveTimestamps;
use hedgerow_model::{Reclaimed, Timestamp, UnitLocks};

/// Versions that are taken out of the garbage at a time.
const BATCH: usize = 1024;

impl AdjacencyList {
    /// Goes through the garbage of timestamps that are live no more: what another live timestamp
    /// sees moves there, the rest is freed until the budget ends.
    pub(super) fn reclaim_versions(
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
        pass.done
    }

    /// Bytes that superseded versions keep, by the timestamp they are filed under.
    pub(super) fn retained_bytes(&self) -> Vec<(Timestamp, usize)> {
        let bytes = |bucket: &[Superseded]| bucket.iter().map(|version| self.retained_by(version)).sum();
        self.garbage.buckets().iter().map(|(holder, bucket)| (*holder, bytes(bucket))).collect()
    }

    fn retained_by(&self, version: &Superseded) -> usize {
        match version.place.part {
            Part::Neighbour { .. } => VERSION_BYTES,
            Part::Vertex => {
                let cell = self.vertices.get(version.place.owner);
                cell.map_or(0, |cell| cell.read().retained_bytes(version.born))
            }
        }
    }

    /// Frees dead versions of one vertex, or of one of its rows. The vertex is locked.
    fn free_part(&self, versions: &[Superseded]) -> MemoryChange {
        let Some((label, direction)) = versions[0].place.part.table() else {
            return self.free_vertices(versions);
        };
        let table = self.table(label, direction).expect("a version is filed with the table that it is in");
        self.free_neighbours(table, versions)
    }

    fn free_vertices(&self, versions: &[Superseded]) -> MemoryChange {
        let cell = self.vertices.get(versions[0].place.owner).expect("a filed version has a vertex");
        let mut cell = cell.write();
        let freed: usize = versions.iter().map(|version| cell.remove_version(version.born)).sum();
        MemoryChange { live: 0, retained: -(freed as isize) }
    }

    /// Also takes the entries out of the row that are deleted for everybody now.
    fn free_neighbours(&self, table: &Table, versions: &[Superseded]) -> MemoryChange {
        let cell = table.rows.get(versions[0].place.owner).expect("a filed version has a row");
        let mut row = cell.write();
        let before = row.entries.heap_bytes();
        let mut neighbours = Vec::with_capacity(versions.len());
        for version in versions {
            if let Part::Neighbour { neighbour, .. } = version.place.part {
                row.remove_version(neighbour, version.born);
                neighbours.push(neighbour);
            }
        }
        neighbours.dedup();
        row.drop_absent(neighbours.into_iter());
        row.entries.shrink_if_sparse();
        let live = row.entries.heap_bytes() as isize - before as isize;
        MemoryChange { live, retained: -((versions.len() * VERSION_BYTES) as isize) }
    }
}

/// One reclamation.
struct Pass<'p> {
    engine: &'p AdjacencyList,
    live: &'p LiveTimestamps,
    units: &'p dyn UnitLocks,
    budget_bytes: usize,
    done: Reclaimed,
    /// What is to be filed again at the end, with its timestamp.
    left: Vec<(Timestamp, Superseded)>,
}

impl Pass<'_> {
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
        dead.sort_unstable_by_key(|version| version.place);
        for versions in dead.chunk_by(|one, next| one.place.owner == next.place.owner) {
            if self.done.bytes >= self.budget_bytes || !self.free(versions) {
                self.done.more = true;
                self.left.extend(versions.iter().map(|version| (holder, *version)));
            }
        }
    }

    /// Frees dead versions of one vertex; false if it is locked by somebody else.
    fn free(&mut self, versions: &[Superseded]) -> bool {
        let (engine, done) = (self.engine, &mut self.done);
        let unit = unit_of(versions[0].place.owner);
        self.units.try_with(unit, &mut |locks| {
            assert!(locks.covers(unit), "versions are freed without the lock of their vertex");
            let mut change = MemoryChange::default();
            let same_table =
                |one: &Superseded, next: &Superseded| one.place.part.table() == next.place.part.table();
            versions.chunk_by(same_table).for_each(|versions| change += engine.free_part(versions));
            engine.memory.add(change);
            done.versions += versions.len();
            done.bytes += (change.live + change.retained).unsigned_abs();
        })
    }
}
