//! The model checker's scenario on operating system threads.
#![cfg(not(hedgerow_shuttle))]

mod support;

use hedgerow_testing::scenario;
use support::TestedTel;

#[test]
fn readers_see_whole_prefixes_beside_writers_and_reclaimers() {
    scenario::readers_see_whole_prefixes_beside_writers_and_reclaimers::<TestedTel>();
}
