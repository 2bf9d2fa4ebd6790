//! The engine against the oracle.

#[path = "../../tests/support/mod.rs"]
mod support;

mod edges;
mod large_sets;
mod memory;

use support::TestedRapid;

type Pipeline = hedgerow_testing::pipeline::Pipeline<TestedRapid>;

hedgerow_testing::contract_tests!(TestedRapid);
hedgerow_testing::accounting_tests!(TestedRapid);
