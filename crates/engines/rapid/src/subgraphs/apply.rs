//! Applying staged changes.

use crate::subgraphs::ahead;
use crate::subgraphs::chain::Chain;
use crate::subgraphs::container::Container;
use crate::subgraphs::directory::PartitionDirectory;
use crate::subgraphs::garbage::{ChainTable, Superseded};
use crate::subgraphs::graph::Subgraphs;
use crate::subgraphs::owned::Content;
use crate::subgraphs::stage::{Planned, SubgraphChanges};
use hedgerow_in_memory::reclamation::MemoryChange;
use hedgerow_model::ChangeSlice;
use hedgerow_model::token::Stamp;
use smallvec::SmallVec;

impl<C: Container> Subgraphs<C> {
    /// Applies every change. Superseded versions that a snapshot may see are filed under the newest
    /// registered timestamp, after the memory counters include them, so that their reclamation
    /// subtracts bytes that were counted.
    pub(crate) fn apply_changes(&self, stamp: Stamp, changes: SubgraphChanges<'_, C>) {
        assert!(std::ptr::eq(self, changes.engine), "changes are applied to the store that staged them");
        let mut applied =
            Applied { engine: self, stamp, memory: MemoryChange::default(), superseded: SmallVec::new() };
        for planned in changes.vertices {
            applied.link(&self.vertices, planned);
        }
        let groups: SmallVec<[ChangeSlice<'_>; 2]> = changes.adjacencies.iter().map(Planned::edits).collect();
        for (number, planned) in changes.adjacencies.into_iter().enumerate() {
            let ChainTable::Adjacency(table) = planned.place.table else {
                unreachable!("an adjacency has a table")
            };
            let chains = &self.table_at(table).chains;
            ahead::fetch(chains, &groups, number, |chain, _, look| chain.look(stamp, look));
            applied.link(chains, planned);
        }
        self.memory.add(applied.memory);
        self.garbage.file(stamp.newest_registered(), applied.superseded);
        self.records.apply(stamp, changes.records);
    }
}

/// Results of applying a commit so far.
struct Applied<'e, C: Container> {
    engine: &'e Subgraphs<C>,
    stamp: Stamp,
    memory: MemoryChange,
    superseded: SmallVec<[Superseded; 2]>,
}

impl<C: Container> Applied<'_, C> {
    #[inline]
    fn link<T: Content>(&mut self, chains: &PartitionDirectory<Chain<T>>, planned: Planned<'_, T>) {
        let Planned { place, successor } = planned;
        let chain = chains.get_or_create(place.partition, &self.engine.memory);
        let linked = chain.link(successor, self.stamp, &self.engine.domain);
        self.memory += linked.memory;
        let superseded = self.stamp.at();
        self.superseded.extend(linked.kept.map(|born| Superseded { place, born, superseded }));
    }
}
