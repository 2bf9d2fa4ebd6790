//! The engine passes the contract of engines, with a log that is archived every few commits.
#![cfg(not(hedgerow_shuttle))]

mod support;

use hedgerow_testing::scenario::Graph;
use support::TestedHybrid;

hedgerow_testing::contract_tests!(TestedHybrid);

#[test]
fn readers_see_whole_prefixes_beside_writers_and_archiving() {
    hedgerow_testing::scenario::readers_see_whole_prefixes_beside_writers_and_reclaimers::<TestedHybrid>();
}

#[test]
fn a_state_is_not_archived_once_a_later_one_is() {
    let graph = Graph::<TestedHybrid>::new(1);
    graph.write(0, [1]);
    let older = graph.open();
    graph.write(0, [2]);
    let later = graph.open();
    assert!(later.archive(true));
    assert!(!older.archive(true), "its last commits are still in the log for its readers");
    assert!(later.archive(true), "nothing is left to do");
    [older, later].iter().for_each(|snapshot| snapshot.read(2));
    graph.assert_reclaims_to_nothing();
}
