//! The concurrency contract under the model checker:
//!
//! ```sh
//! RUSTFLAGS="--cfg hedgerow_shuttle" CARGO_TARGET_DIR=target/shuttle \
//!     cargo test -p hedgerow-tel --test shuttle
//! ```
#![cfg(hedgerow_shuttle)]

mod support;

hedgerow_testing::model_tests!(support::TestedTel);
