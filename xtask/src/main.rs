//! Tasks of the project, run as `cargo xtask TASK`.

mod checks;
mod compare;
mod run;
mod sanitizers;
mod tidy;
mod tools;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Tasks of the project.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Formatting, lints, documentation, the fuzz targets compiled, all tests, and the concurrency models: what CI runs.
    Test,
    /// Only the style that no compiler checks: where unsafe, atomics and locks may stand.
    Tidy,
    /// Installs the programs that tests drive below `target/tools`, where they are not there yet.
    Tools,
    /// The concurrency models under the model checker.
    Shuttle {
        /// Random schedules per model.
        #[arg(long, default_value_t = 2_000)]
        iterations: u32,
    },
    /// The tests of the modules with unsafe code under miri (needs the nightly toolchain).
    Miri,
    /// The tests under `AddressSanitizer` (needs the nightly toolchain).
    Asan,
    /// The concurrent tests under `ThreadSanitizer` (needs the nightly toolchain with rust-src).
    Tsan,
    /// Hedgerow, RocksDB, LMDB and SQLite doing the same work side by side (builds them: many minutes the first time).
    Compare {
        /// Leave RocksDB away, which takes most of the build and needs libclang.
        #[arg(long)]
        without_rocksdb: bool,
        /// What is handed on; `cargo xtask compare -- --help` lists it.
        #[arg(last = true)]
        arguments: Vec<String>,
    },
    /// Long searches: many cases per property, many schedules per model.
    Soak {
        /// Cases per property test.
        #[arg(long, default_value_t = 4_000)]
        cases: u32,
        /// Random schedules per model.
        #[arg(long, default_value_t = 100_000)]
        iterations: u32,
    },
}

fn main() -> Result<()> {
    match Arguments::parse().task {
        Task::Test => checks::test(),
        Task::Tidy => tidy::check(),
        Task::Tools => tools::install_checker(),
        Task::Shuttle { iterations } => checks::shuttle(iterations).map(drop),
        Task::Miri => sanitizers::miri(),
        Task::Asan => sanitizers::address(),
        Task::Tsan => sanitizers::thread(),
        Task::Compare { without_rocksdb, arguments } => compare::run(without_rocksdb, &arguments),
        Task::Soak { cases, iterations } => checks::soak(cases, iterations),
    }
}
