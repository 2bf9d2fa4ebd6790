//! Making prepared blocks part of the graph.

use crate::chain::Content;
use crate::engine::Rapid;
use crate::garbage::Superseded;
use crate::memory::MemoryChange;
use crate::prepare::{Link, RapidChanges};
use hedgerow_model::token::Stamp;
use hedgerow_sync::epoch::{self, Guard};

impl Rapid {
    /// Links every block. What was superseded and may be seen is filed under the newest
    /// registered timestamp, after the counters know of it, so that reclaiming it finds it counted.
    pub(crate) fn apply_changes(&self, stamp: Stamp, changes: RapidChanges<'_>) {
        assert!(std::ptr::eq(self, changes.engine), "changes are applied to the store that prepared them");
        let mut applied = Applied { stamp, memory: MemoryChange::default(), superseded: Vec::new() };
        let guard = epoch::pin();
        changes.vertices.into_iter().for_each(|link| applied.link(link, &guard));
        changes.adjacencies.into_iter().for_each(|link| applied.link(link, &guard));
        self.memory.add(applied.memory);
        self.garbage.file(stamp.newest_registered(), applied.superseded);
    }
}

/// What the links of a commit did so far.
struct Applied {
    stamp: Stamp,
    memory: MemoryChange,
    superseded: Vec<Superseded>,
}

impl Applied {
    fn link<T: Content>(&mut self, link: Link<'_, T>, guard: &Guard) {
        let linked = link.successor.link(self.stamp, guard);
        self.memory += linked.memory;
        let superseded = self.stamp.at();
        self.superseded.extend(linked.kept.map(|born| Superseded { place: link.place, born, superseded }));
    }
}
