//! Making prepared changes part of the graph.

use crate::container::Container;
use crate::engine::Subgraphs;
use crate::garbage::Superseded;
use crate::memory::MemoryChange;
use crate::owned::Content;
use crate::prepare::{Link, SubgraphChanges};
use hedgerow_model::token::Stamp;
use smallvec::SmallVec;

impl<C: Container> Subgraphs<C> {
    /// Makes every change. What was superseded and may be seen is filed under the newest
    /// registered timestamp, after the counters know of it, so that reclaiming it finds it counted.
    pub(crate) fn apply_changes(&self, stamp: Stamp, changes: SubgraphChanges<'_, C>) {
        assert!(std::ptr::eq(self, changes.engine), "changes are applied to the store that prepared them");
        let mut applied = Applied { stamp, memory: MemoryChange::default(), superseded: SmallVec::new() };
        changes.vertices.into_iter().for_each(|link| applied.link(link));
        changes.adjacencies.into_iter().for_each(|link| applied.link(link));
        self.memory.add(applied.memory);
        self.garbage.file(stamp.newest_registered(), applied.superseded);
    }
}

/// What the links of a commit did so far.
struct Applied {
    stamp: Stamp,
    memory: MemoryChange,
    superseded: SmallVec<[Superseded; 2]>,
}

impl Applied {
    fn link<T: Content>(&mut self, link: Link<'_, T>) {
        let linked = link.successor.link(self.stamp);
        self.memory += linked.memory;
        let superseded = self.stamp.at();
        self.superseded.extend(linked.kept.map(|born| Superseded { place: link.place, born, superseded }));
    }
}
