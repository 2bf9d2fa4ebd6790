//! What changes did.

use hedgerow_model::{Direction, EdgeChange, EdgeValue, Topology};

/// What changes did.
#[derive(Clone, Debug)]
pub struct Tally {
    topology: Topology,
    stored: Direction,
    /// Entries that are different now.
    pub changed: u64,
    /// Edges that did not exist before.
    pub added: u64,
    /// Edges that existed before.
    pub removed: u64,
}

impl Tally {
    /// Nothing done yet, in the adjacency of a direction.
    #[must_use]
    pub fn new(topology: Topology, stored: Direction) -> Self {
        Tally { topology, stored, changed: 0, added: 0, removed: 0 }
    }

    /// Counts a change of an entry that was `found` or not; whether it makes a difference.
    ///
    /// An entry that is found and gets a value is changed if the value is `different`.
    #[inline]
    pub fn count(
        &mut self,
        change: &EdgeChange,
        found: bool,
        different: impl FnOnce(EdgeValue) -> bool,
    ) -> bool {
        let stands_for_edge =
            || u64::from(self.topology.is_canonical_entry(self.stored, change.owner, change.neighbour));
        let changes = match (found, change.value) {
            (true, Some(value)) => different(value),
            (true, None) => {
                self.removed += stands_for_edge();
                true
            }
            (false, Some(_)) => {
                self.added += stands_for_edge();
                true
            }
            (false, None) => false,
        };
        self.changed += u64::from(changes);
        changes
    }

    /// Entries that are different now.
    #[must_use]
    pub fn changed(&self) -> u64 {
        self.changed
    }

    /// Edges that did not exist before, and edges that exist no more. An edge is counted at the one entry that stands for it.
    #[must_use]
    pub fn edges(&self) -> (u64, u64) {
        (self.added, self.removed)
    }
}
