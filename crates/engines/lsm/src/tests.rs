//! The engine passes the contract of engines while snapshots keep everything that they scan, in
//! pieces of few owners.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../tests/support/mod.rs"]
mod support;

use hedgerow_testing::durable;

type Keeping = support::TestedLsm<{ 64 << 20 }>;

hedgerow_testing::contract_tests!(Keeping);

#[test]
fn any_sequence_of_commits_flushes_and_openings_is_read() {
    durable::any_sequence_of_commits_flushes_and_openings_keeps_what_is_durable::<Keeping>();
}
