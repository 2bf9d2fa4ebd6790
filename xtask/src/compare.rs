//! Hedgerow and other stores side by side. Their crate is a workspace of its own, built only here.

use crate::run::{cargo, step};
use anyhow::{Context, Result};

/// Builds and runs the comparison with these arguments.
pub fn run(without_rocksdb: bool, arguments: &[String]) -> Result<()> {
    let features = if without_rocksdb { "" } else { "--features rocksdb" };
    let mut run = cargo(&format!("run --release --manifest-path crates/compare/Cargo.toml {features} --"));
    // Beside the other outputs, wherever it is called from.
    run.args(arguments).env("CARGO_TARGET_DIR", "target/compare");
    let done = step("comparison of stores", &mut run);
    done.context("if it was RocksDB that could not be built: docs/bench.md says what it needs, --without-rocksdb leaves it away")
}
