//! The engine against the oracle.

#[path = "../../tests/support/mod.rs"]
mod support;

mod blocks;
mod edges;
#[cfg(all(target_os = "linux", not(any(hedgerow_checked_memory, hedgerow_shuttle, miri))))]
mod in_file;
mod logs;
mod records;
mod times;

use support::TestedTel;

hedgerow_testing::contract_tests!(TestedTel);
hedgerow_testing::accounting_tests!(TestedTel);
