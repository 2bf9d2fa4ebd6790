//! The store against the oracle.

#[path = "../../tests/support/mod.rs"]
mod support;

mod edges;
mod memory;
mod random;

use crate::chain::Content;
use crate::engine::Rapid;
use crate::memory::MemoryChange;
use crate::partition::PARTITIONS;

impl Rapid {
    /// What the counters have to say, by a walk over every chain.
    fn count_bytes(&self) -> MemoryChange {
        fn count<T: Content>(
            total: &mut MemoryChange,
            chains: &crate::directory::Directory<crate::chain::Chain<T>>,
        ) {
            chains.populated(0..PARTITIONS as u32).for_each(|(_, chain)| *total += chain.count_bytes());
        }
        let mut total = MemoryChange::default();
        count(&mut total, &self.vertices);
        self.adjacencies.iter().for_each(|table| count(&mut total, &table.chains));
        total
    }

    fn assert_counters_are_exact(&self) {
        let used = self.memory();
        let counted = self.count_bytes();
        assert_eq!(
            (used.live_bytes as isize, used.retained_bytes as isize),
            (counted.live, counted.retained)
        );
    }
}

use hedgerow_model::Engine as _;
