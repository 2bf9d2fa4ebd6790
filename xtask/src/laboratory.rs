//! The laboratory: a workspace of its own in `lab/`, which depends on the product.

use crate::changes::changed;
use crate::run::{Tally, cargo, command, step, tests};
use crate::sanitizers::{self, Extent};
use crate::workspace::{laboratory, packages};
use anyhow::{Context, Result};
use std::process::Command;

/// The research engines, whose tests need little of the product.
const ENGINES: &str = "hedgerow-lab-engines";

/// The command.
const COMMAND: &str = "hedgerow-lab";

/// Returns a cargo command in the laboratory's workspace.
fn lab(arguments: &str) -> Command {
    let (subcommand, rest) = arguments.split_once(' ').unwrap_or((arguments, ""));
    let mut command = cargo(&format!("{subcommand} --manifest-path lab/Cargo.toml {rest}"));
    command.env("CARGO_TARGET_DIR", "target/lab");
    command
}

/// Lints the laboratory and tests its engines, if it changed or is built from a package that
/// changed.
pub fn test_if_changed() -> Result<Tally> {
    let all = [packages()?, laboratory()?].concat();
    let changed = changed(&all);
    if !laboratory()?.iter().any(|package| changed.contains(&package.name)) {
        eprintln!("== laboratory: nothing that it is built from has changed");
        return Ok(Tally::default());
    }
    lint("")?;
    tests("laboratory", &mut lab(&format!("test -p {ENGINES} --quiet --no-fail-fast")), "")
}

/// Lints and tests the laboratory, RocksDB included if it can be built; runs its models, and its
/// engines under Miri and AddressSanitizer.
pub fn test(iterations: u32) -> Result<Tally> {
    let (features, skipped) = match has_libclang() {
        true => ("--features hedgerow-lab/rocksdb", Tally::default()),
        false => ("", Tally::skipped("RocksDB", "its bindings need libclang, which is not installed")),
    };
    lint(features)?;
    let all = format!("test --workspace {features} --quiet --no-fail-fast");
    let tally = skipped.plus(tests("laboratory", &mut lab(&all), "")?);
    let mut models = lab(&format!("test -p {ENGINES} --quiet --test shuttle"));
    models
        .env("RUSTFLAGS", "--cfg hedgerow_shuttle")
        .env("CARGO_TARGET_DIR", "target/shuttle")
        .env("SHUTTLE_ITERATIONS", iterations.to_string());
    let tally = tally.plus(tests("models of the laboratory", &mut models, "")?);
    let engines: Vec<_> = laboratory()?.into_iter().filter(|package| package.name == ENGINES).collect();
    let tally = tally.plus(sanitizers::miri(&engines, Extent::Full)?);
    Ok(tally.plus(sanitizers::address(&engines)?))
}

fn lint(features: &str) -> Result<()> {
    step("formatting of the laboratory", &mut lab("fmt --all --check"))?;
    let lints = format!("clippy --locked --workspace --all-targets {features} --quiet -- -D warnings");
    step("lints of the laboratory", &mut lab(&lints))
}

/// Builds and runs the comparison of stores with these arguments.
pub fn compare(without_rocksdb: bool, arguments: &[String]) -> Result<()> {
    let features = if without_rocksdb { "" } else { "--features rocksdb" };
    let mut run = lab(&format!("run --release -p {COMMAND} {features} -- compare"));
    let done = step("comparison of stores", run.args(arguments));
    done.context("if it was RocksDB that could not be built: docs/bench.md says what it needs, --without-rocksdb omits it")
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
