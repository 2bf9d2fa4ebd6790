//! The store against the oracle.

#[path = "../../tests/support/mod.rs"]
mod support;

mod blocks;
mod edges;

use support::TestedTel;

hedgerow_testing::contract_tests!(TestedTel);
