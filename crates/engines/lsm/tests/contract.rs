//! The engine passes the contract of engines, and that of engines that own files, with so little
//! memory that every few commits cross all levels.
#![cfg(not(hedgerow_shuttle))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use support::TestedLsm;

hedgerow_testing::contract_tests!(TestedLsm);
hedgerow_testing::durable_tests!(TestedLsm);

#[test]
fn readers_see_whole_prefixes_beside_writers_flushes_and_compactions() {
    hedgerow_testing::scenario::readers_see_whole_prefixes_beside_writers_and_reclaimers::<TestedLsm>();
}
