//! Freeing old entries, and old versions of vertices, that are garbage.

use crate::block::{BlockWriter, EntryLog};
use crate::garbage::{NOTE_BYTES, Superseded, VersionPlace};
use crate::graph::{Tel, unit_of};
use crate::keeps::Locked;
use hedgerow_in_memory::reclamation::{Garbage, Memory, MemoryChange, Versioned, account};
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{CommitTimestamp, LockUnit, UnitLocks};
use hedgerow_sync::atomic::Ordering;
use std::ops::Range;

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

    /// Marks entries dead, and rewrites logs that thereby become sparse.
    fn free(&self, locks: &HeldLocks<'_>, _unit: LockUnit, versions: &mut [Superseded]) -> MemoryChange {
        versions.sort_by_key(|version| version.place.table);
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
                    let births = versions.iter().map(|version| version.born);
                    // SAFETY: the owner is locked.
                    change += unsafe { vertex.remove_versions(births, &keeps, &self.retired.domain.pin()) };
                }
            }
        }
        change
    }

    fn retained_by(&self, version: &Superseded, _units: &UnitLocks<'_>) -> usize {
        match version.place.table() {
            Some(_) => NOTE_BYTES,
            None => {
                let vertex = self.vertices.get(version.place.owner.get());
                vertex.map_or(0, |vertex| vertex.retained_bytes(version.born, &self.retired.domain.pin()))
            }
        }
    }
}

/// Marks entries of one log dead. The owner is locked.
///
/// O(freed entries · log entries), plus a pass over the entries of each commit that has an entry
/// not found by bisection.
fn bury(log: EntryLog<'_>, versions: &[Superseded]) {
    // SAFETY: the owner is locked, and the log was just looked up.
    let writer = unsafe { BlockWriter::new(log) };
    let mut not_found: Vec<&Superseded> = Vec::new();
    for version in versions {
        match find(log, version) {
            Some(position) => writer.bury(position),
            None => not_found.push(version),
        }
    }
    let key = |version: &&Superseded| (version.born, version.place.neighbor, version.superseded);
    not_found.sort_unstable_by_key(key);
    for of_commit in not_found.chunk_by(|one, next| one.born == next.born) {
        let mut buried = 0;
        for position in created_at(log, of_commit[0].born) {
            account::compared();
            let end = CommitTimestamp(log.invalidations()[position].load(Ordering::Relaxed));
            let wanted = (log.creations()[position], log.ids()[position], end);
            if of_commit.binary_search_by_key(&wanted, key).is_ok() {
                writer.bury(position);
                buried += 1;
            }
        }
        assert_eq!(buried, of_commit.len(), "a filed entry lies in its log");
    }
}

/// Finds a filed entry at the position where it was filed or, if it moved since, by its creation
/// and neighbor. Misses some entries of commits that did not write theirs in ascending order of
/// neighbors, which few do. O(log entries).
fn find(log: EntryLog<'_>, version: &Superseded) -> Option<usize> {
    let is_there = |position: &usize| *position < log.length() && is(log, *position, version);
    let filed_at = version.place.position as usize;
    if is_there(&filed_at) {
        return Some(filed_at);
    }
    let created = created_at(log, version.born);
    let among = log.ids()[created.clone()].binary_search(&version.place.neighbor).ok()?;
    Some(created.start + among).filter(is_there)
}

/// The positions of the entries that a commit created. O(log entries).
fn created_at(log: EntryLog<'_>, commit: CommitTimestamp) -> Range<usize> {
    let first = |is_before: &dyn Fn(CommitTimestamp) -> bool| {
        log.creations().partition_point(|creation| {
            account::compared();
            is_before(*creation)
        })
    };
    first(&|creation| creation < commit)..first(&|creation| creation <= commit)
}

/// Returns true if the entry at a position is the filed one.
fn is(log: EntryLog<'_>, position: usize, version: &Superseded) -> bool {
    log.ids()[position] == version.place.neighbor
        && log.creations()[position] == version.born
        && log.invalidations()[position].load(Ordering::Relaxed) == version.superseded.0
}
