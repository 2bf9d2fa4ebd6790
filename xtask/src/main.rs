//! Tasks of the project, run as `cargo xtask TASK`.

mod changes;
mod checks;
mod doors;
mod kafka;
mod laboratory;
mod run;
mod sanitizers;
mod tidy;
mod tokens;
mod tools;
mod words;
mod workspace;

use anyhow::Result;
use clap::{Parser, Subcommand};
use sanitizers::Extent;
use std::time::Instant;
use workspace::with_unsafe_code;

/// Tasks of the project.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Formatting, lints, documentation, the fuzz targets compiled, all tests, the concurrency
    /// models, and unsafe code that changed under Miri and `AddressSanitizer`: what CI runs.
    Test,
    /// Only the style that no compiler checks: where unsafe, atomics and locks are allowed.
    Tidy,
    /// Writes the tables of options in docs/cli.md anew, from the help of the commands; a test
    /// fails when they differ.
    CliDocs,
    /// Numbers of the places that a change of the interface of engines touches: traits, files and
    /// lines, counted, and the files of a put, traced (needs valgrind).
    Doors {
        /// Also list the files or items behind each number.
        #[arg(long)]
        list: bool,
    },
    /// Installs the programs that tests drive below `target/tools`, unless they are there already.
    Tools,
    /// The lints and tests of the command with the feature `kafka`, against a broker that Maven
    /// fetches into `target/kafka` (needs Java).
    Kafka,
    /// The concurrency models under the model checker.
    Shuttle {
        /// Random schedules per model.
        #[arg(long, default_value_t = 2_000)]
        iterations: u32,
    },
    /// The library tests of all packages with unsafe code under Miri (needs a nightly toolchain).
    Miri,
    /// The tests under `AddressSanitizer` (needs a nightly toolchain).
    Asan,
    /// The concurrent tests under `ThreadSanitizer` (needs a nightly toolchain with rust-src).
    Tsan,
    /// The laboratory's lints, tests and models.
    Lab {
        /// Random schedules per model.
        #[arg(long, default_value_t = 2_000)]
        iterations: u32,
    },
    /// Hedgerow, RocksDB, LMDB and SQLite doing the same work side by side (builds them: many
    /// minutes the first time).
    Compare {
        /// Omit RocksDB, which takes most of the build and needs libclang.
        #[arg(long)]
        without_rocksdb: bool,
        /// Arguments of the comparison; `cargo xtask compare -- --help` lists them.
        #[arg(last = true)]
        arguments: Vec<String>,
    },
    /// Long searches: many cases per property, many schedules per model, all unsafe code under Miri
    /// and `AddressSanitizer`, the comparison with RocksDB.
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
    let begin = Instant::now();
    match Arguments::parse().task {
        Task::Test => checks::test(),
        Task::Tidy => tidy::check(),
        Task::CliDocs => checks::write_tables_of_options(),
        Task::Doors { list } => doors::print(list),
        Task::Tools => tools::install_checker(),
        Task::Kafka => kafka::test(),
        Task::Shuttle { iterations } => checks::report(&checks::shuttle(iterations)?, begin),
        Task::Miri => checks::report(&sanitizers::miri(&with_unsafe_code()?, Extent::Full)?, begin),
        Task::Asan => checks::report(&sanitizers::address_of_all()?, begin),
        Task::Tsan => checks::report(&sanitizers::thread()?, begin),
        Task::Lab { iterations } => checks::report(&laboratory::test(iterations)?, begin),
        Task::Compare { without_rocksdb, arguments } => laboratory::compare(without_rocksdb, &arguments),
        Task::Soak { cases, iterations } => checks::soak(cases, iterations),
    }
}
