//! The store against the oracle.

mod support;

mod edges;
mod memory;
// The same random commits, snapshots and reclamations as for the other engines.
#[path = "../../../../rapid/src/tests/random.rs"]
mod random;

use super::engine::AdjacencyList;
use super::memory::MemoryChange;
use super::row::VERSION_BYTES;
use hedgerow_model::Engine as _;
use support::pipeline::Pipeline;

/// The engine under test, as the tests call it that other engines share.
type Store = AdjacencyList;

impl AdjacencyList {
    /// What the counters have to say, by a walk over every vertex and every row.
    fn count_bytes(&self) -> MemoryChange {
        let mut total = MemoryChange::default();
        for (_, cell) in self.vertices.populated(0..u32::MAX) {
            total += cell.read().count_bytes();
        }
        for (_, cell) in self.tables.iter().flat_map(|table| table.rows.populated(0..u32::MAX)) {
            let row = cell.read();
            row.assert_is_sound();
            let retained = (row.versions() * VERSION_BYTES) as isize;
            total += MemoryChange { live: row.entries.heap_bytes() as isize, retained };
        }
        total
    }
}

impl Pipeline<Store> {
    /// The counters say what a walk over everything finds.
    fn assert_counters_are_exact(&self) {
        let (used, counted) = (self.engine.memory(), self.engine.count_bytes());
        assert_eq!(
            (used.live_bytes as isize, used.retained_bytes as isize),
            (counted.live, counted.retained)
        );
    }
}
