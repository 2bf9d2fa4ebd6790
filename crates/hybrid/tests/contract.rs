//! The engine passes the contract of engines, with a log that is archived every few commits.
#![cfg(not(hedgerow_shuttle))]

mod support;

use support::TestedHybrid;

hedgerow_testing::contract_tests!(TestedHybrid);
hedgerow_testing::label_tests!(TestedHybrid);

#[test]
fn readers_see_whole_prefixes_beside_writers_and_archiving() {
    hedgerow_testing::scenario::readers_see_whole_prefixes_beside_writers_and_reclaimers::<TestedHybrid>();
}
