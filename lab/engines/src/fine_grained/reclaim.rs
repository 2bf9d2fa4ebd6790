//! Freeing superseded versions of vertices and edges.

use super::entries::Entries;
use super::garbage::{Part, Place, Superseded};
use super::graph::{FineGrained, Table, unit_of};
use super::row::VERSION_BYTES;
use hedgerow_in_memory::reclamation::{Garbage, Memory, MemoryChange, Versioned};
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{LockUnit, UnitLocks};

impl<E: Entries> Versioned for FineGrained<E> {
    type Place = Place;

    fn garbage(&self) -> &Garbage<Place> {
        &self.garbage
    }

    fn counters(&self) -> &Memory {
        &self.memory
    }

    fn unit_of(place: &Place) -> LockUnit {
        unit_of(place.owner)
    }

    /// Frees versions by part of the vertex, each under its own lock.
    fn free(&self, _locks: &HeldLocks<'_>, _unit: LockUnit, versions: &mut [Superseded]) -> MemoryChange {
        versions.sort_by_key(|version| version.place);
        let same_table =
            |one: &Superseded, next: &Superseded| one.place.part.table() == next.place.part.table();
        let mut change = MemoryChange::default();
        versions.chunk_by(same_table).for_each(|versions| change += self.free_part(versions));
        change
    }

    fn retained_by(&self, version: &Superseded, _units: &UnitLocks<'_>) -> usize {
        match version.place.part {
            Part::Neighbor { .. } => VERSION_BYTES,
            Part::Vertex => {
                let cell = self.vertices.get(version.place.owner);
                cell.map_or(0, |cell| cell.read().retained_bytes(version.born))
            }
        }
    }
}

impl<E: Entries> FineGrained<E> {
    /// Frees dead versions of one vertex, or of one of its rows. The vertex is locked.
    fn free_part(&self, versions: &[Superseded]) -> MemoryChange {
        let Some((label, direction)) = versions[0].place.part.table() else {
            return self.free_vertices(versions);
        };
        let table = self.table(label, direction).expect("a version is filed with the table that it is in");
        self.free_neighbors(table, versions)
    }

    fn free_vertices(&self, versions: &[Superseded]) -> MemoryChange {
        let cell = self.vertices.get(versions[0].place.owner).expect("a filed version has a vertex");
        let mut cell = cell.write();
        let freed = cell.remove_versions(versions.iter().map(|version| version.born));
        MemoryChange { live: 0, retained: -(freed as isize) }
    }

    /// Also removes the entries that are now deleted at every live timestamp.
    fn free_neighbors(&self, table: &Table<E>, versions: &[Superseded]) -> MemoryChange {
        let cell = table.rows.get(versions[0].place.owner).expect("a filed version has a row");
        let mut row = cell.write();
        let before = row.entries.heap_bytes();
        let mut neighbors = Vec::new();
        for versions in versions.chunk_by(|one, next| one.place.part == next.place.part) {
            if let Part::Neighbor { neighbor, .. } = versions[0].place.part {
                row.remove_versions(neighbor, versions.iter().map(|version| version.born));
                neighbors.push(neighbor);
            }
        }
        row.entries.drop_absent(neighbors.into_iter());
        row.entries.shrink_if_sparse();
        let live = row.entries.heap_bytes() as isize - before as isize;
        MemoryChange { live, retained: -((versions.len() * VERSION_BYTES) as isize) }
    }
}
