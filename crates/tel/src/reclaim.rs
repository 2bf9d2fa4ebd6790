//! Freeing old entries, and old versions of vertices, that are garbage.

use crate::block::{Log, Writer};
use crate::garbage::{NOTE_BYTES, Superseded, VersionPlace};
use crate::graph::{Tel, unit_of};
use crate::keeps::Locked;
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{LockUnit, UnitLocks};
use hedgerow_reclamation::{Garbage, Memory, MemoryChange, Versioned};
use hedgerow_sync::atomic::Ordering;
use hedgerow_sync::epoch;

impl Versioned for Tel {
    type Place = VersionPlace;

    fn garbage(&self) -> &Garbage<VersionPlace> {
        &self.garbage
    }

    fn counters(&self) -> &Memory {
        &self.memory
    }

    fn unit_of(place: &VersionPlace) -> LockUnit {
        unit_of(place.owner)
    }

    /// Marks entries dead, and rewrites logs that become sparse by that.
    fn free(&self, locks: &HeldLocks<'_>, _unit: LockUnit, versions: &mut [Superseded]) -> MemoryChange {
        versions.sort_unstable_by_key(|version| (version.place.table, version.place.position));
        let keeps = Locked::by(locks);
        let mut change = MemoryChange::default();
        for versions in versions.chunk_by(|one, next| one.place.table == next.place.table) {
            let place = versions[0].place;
            match place.table() {
                Some(table) => {
                    let log = self.log(self.table_at(table), place.owner, &keeps);
                    bury(log.expect("a filed entry lies in a log"), versions);
                    change.retained -= (versions.len() * NOTE_BYTES) as isize;
                    change += self.compact(place.owner, table, keeps);
                }
                None => {
                    let vertex = self.vertices.get(place.owner.get());
                    let vertex = vertex.expect("a filed version has a vertex");
                    let guard = epoch::pin();
                    for version in versions {
                        // SAFETY: the owner is locked.
                        change += unsafe { vertex.remove_version(version.born, &keeps, &guard) };
                    }
                }
            }
        }
        change
    }

    fn retained_by(&self, version: &Superseded, _units: &dyn UnitLocks) -> usize {
        match version.place.table() {
            Some(_) => NOTE_BYTES,
            None => {
                let vertex = self.vertices.get(version.place.owner.get());
                vertex.map_or(0, |vertex| vertex.retained_bytes(version.born, &epoch::pin()))
            }
        }
    }
}

/// Marks entries of one log dead. The owner is locked.
///
/// O(entries that are freed), or O(log) in total if entries moved since they were filed.
fn bury(log: Log<'_>, versions: &[Superseded]) {
    // SAFETY: the owner is locked, and the log was just looked up.
    let writer = unsafe { Writer::new(log) };
    let mut moved: Vec<&Superseded> = Vec::new();
    for version in versions {
        let position = version.place.position as usize;
        match position < log.length() && is(log, position, version) {
            true => writer.bury(position),
            false => moved.push(version),
        }
    }
    if moved.is_empty() {
        return;
    }
    let key = |version: &&Superseded| (version.born, version.place.neighbor, version.superseded);
    moved.sort_unstable_by_key(key);
    let mut buried = 0;
    for position in 0..log.length() {
        let end = hedgerow_model::CommitTimestamp(log.invalidations()[position].load(Ordering::Relaxed));
        let wanted = (log.creations()[position], log.ids()[position], end);
        if moved.binary_search_by_key(&wanted, key).is_ok() {
            writer.bury(position);
            buried += 1;
        }
    }
    assert_eq!(buried, moved.len(), "a filed entry lies in its log");
}

/// Whether the entry at a position is the one that was filed.
fn is(log: Log<'_>, position: usize, version: &Superseded) -> bool {
    log.ids()[position] == version.place.neighbor
        && log.creations()[position] == version.born
        && log.invalidations()[position].load(Ordering::Relaxed) == version.superseded.0
}
