//! The store against the oracle.

#[path = "../../tests/support/mod.rs"]
mod support;

mod edges;
mod large_sets;
mod memory;
mod random;

use crate::Rapid;
use hedgerow_model::Engine as _;
use support::pipeline::Pipeline;

/// The engine under test, as the tests call it that other engines share.
type Store = Rapid;

impl Pipeline<Store> {
    /// The counters say what a walk over everything finds.
    fn assert_counters_are_exact(&self) {
        assert_eq!(self.engine.memory(), self.engine.recount_memory(&self.locks()));
    }
}
