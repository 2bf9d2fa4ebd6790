//! Freeing superseded versions of partitions.

use crate::subgraphs::container::Container;
use crate::subgraphs::garbage::{ChainPlace, ChainTable, Superseded};
use crate::subgraphs::graph::Subgraphs;
use crate::subgraphs::partition::unit_of;
use hedgerow_in_memory::reclamation::{Garbage, Memory, MemoryChange, Versioned};
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{LockUnit, UnitLocks};
use hedgerow_sync::epoch::Guard;

impl<C: Container> Versioned for Subgraphs<C> {
    type Place = ChainPlace;

    fn garbage(&self) -> &Garbage<ChainPlace> {
        &self.garbage
    }

    fn counters(&self) -> &Memory {
        &self.memory
    }

    fn unit_of(place: &ChainPlace) -> LockUnit {
        unit_of(place.partition)
    }

    fn free(&self, locks: &HeldLocks<'_>, unit: LockUnit, versions: &mut [Superseded]) -> MemoryChange {
        let guard = self.domain.pin();
        let mut change = MemoryChange::default();
        versions.iter().for_each(|version| change += self.unlink(locks, unit, version, &guard));
        change
    }

    fn retained_by(&self, version: &Superseded, units: &UnitLocks<'_>) -> usize {
        let ChainPlace { table, partition } = version.place;
        let unit = unit_of(partition);
        let mut bytes = None;
        units(unit, &mut |locks| {
            bytes = match table {
                ChainTable::Vertices => {
                    let chain = self.vertices.get(partition);
                    chain.map(|chain| chain.retained_bytes(locks, unit, version.born))
                }
                ChainTable::Adjacency(position) => {
                    let chain = self.table_at(position).chains.get(partition);
                    chain.map(|chain| chain.retained_bytes(locks, unit, version.born))
                }
            };
        });
        bytes.unwrap_or(0)
    }
}

impl<C: Container> Subgraphs<C> {
    fn unlink(
        &self,
        locks: &HeldLocks<'_>,
        unit: LockUnit,
        version: &Superseded,
        guard: &Guard<'_>,
    ) -> MemoryChange {
        let ChainPlace { table, partition } = version.place;
        match table {
            ChainTable::Vertices => {
                let chain = self.vertices.get(partition).expect("a filed version has a chain");
                chain.unlink(locks, unit, version.born, guard)
            }
            ChainTable::Adjacency(position) => {
                let chains = &self.table_at(position).chains;
                let chain = chains.get(partition).expect("a filed version has a chain");
                chain.unlink(locks, unit, version.born, guard)
            }
        }
    }
}
