//! The comparison of Hedgerow with other stores.

use crate::run::{Tally, cargo, command, step, tests};
use anyhow::{Context, Result};

/// Builds and runs the comparison with these arguments.
pub fn run(without_rocksdb: bool, arguments: &[String]) -> Result<()> {
    let features = if without_rocksdb { "" } else { "--features rocksdb" };
    let mut run = cargo(&format!("run --release -p hedgerow-compare {features} --"));
    let done = step("comparison of stores", run.args(arguments));
    done.context("if it was RocksDB that could not be built: docs/bench.md says what it needs, --without-rocksdb omits it")
}

/// Lints and tests the comparison with RocksDB, whose build takes too long for every run of the
/// tests.
pub fn test_with_rocksdb() -> Result<Tally> {
    if !has_libclang() {
        return Ok(Tally::skipped(
            "comparison with RocksDB",
            "its bindings need libclang, which is not installed",
        ));
    }
    let package = "-p hedgerow-compare --features rocksdb";
    let lints = format!("clippy {package} --all-targets --quiet -- -D warnings");
    step("lints of the comparison with RocksDB", &mut cargo(&lints))?;
    tests("comparison with RocksDB", &mut cargo(&format!("test {package} --quiet --no-fail-fast")), "")
}

/// Returns true if the generator of bindings finds its library, by its environment variable or in
/// the usual folders.
fn has_libclang() -> bool {
    let listed = command("ldconfig", "-p").output().map_or(Vec::new(), |output| output.stdout);
    let is_libclang = |line: &str| {
        let name = line.trim_start();
        name.starts_with("libclang.so") || name.starts_with("libclang-") && !name.starts_with("libclang-cpp")
    };
    std::env::var_os("LIBCLANG_PATH").is_some() || String::from_utf8_lossy(&listed).lines().any(is_libclang)
}
