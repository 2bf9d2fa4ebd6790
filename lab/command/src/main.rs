//! The `hedgerow-lab` command: measures research engines next to those of Hedgerow, and Hedgerow
//! next to other stores. See `docs/bench.md`.

mod compare;
mod engines;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use hedgerow_cli::BenchArgs;
use hedgerow_driver::{Engine, WORKLOADS};
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measure what Hedgerow is compared with: engines of research, and other stores
#[derive(Debug, Parser)]
#[command(name = "hedgerow-lab", version)]
struct Lab {
    #[command(subcommand)]
    work: Work,
}

#[derive(Debug, Subcommand)]
enum Work {
    /// Measure engines of research next to those of Hedgerow, against a static graph
    Bench(Box<Bench>),
    /// Measure Hedgerow and other stores side by side, doing the same work on the same disk
    Compare(Box<compare::Arguments>),
}

#[derive(Debug, Args)]
struct Bench {
    #[command(flatten)]
    args: BenchArgs,
}

const EXAMPLES: &str = "\
Examples:
  hedgerow-lab bench --quick --engines csr,rapid,cart-ci
  hedgerow-lab bench --dataset kron-16 --engines csr,rapid,art-fine,art,cart,cart-vec,cart-ci --workloads insert,scan-ordered
  hedgerow-lab bench --dataset kron-18 --engines csr,rapid,rapid-erased --workloads pagerank,bfs,sssp --repetitions 5";

fn main() -> ExitCode {
    let engines = engines::all();
    let help = format!("{}\n{EXAMPLES}", described(&engines));
    let command = Lab::command().mut_subcommand("bench", |bench| bench.after_help(help));
    match Lab::from_arg_matches(&command.get_matches()) {
        Ok(Lab { work: Work::Bench(bench) }) => hedgerow_cli::bench(&bench.args, &engines, WORKLOADS),
        Ok(Lab { work: Work::Compare(arguments) }) => match compare::run(*arguments) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("error: {error:?}");
                ExitCode::FAILURE
            }
        },
        Err(error) => error.exit(),
    }
}

/// Returns one line per engine.
fn described(engines: &[Engine]) -> String {
    let line = |engine: &Engine| format!("  {:<15} {}\n", engine.name, engine.description);
    format!("Engines:\n{}", engines.iter().map(line).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Lab::command().debug_assert();
    }

    #[test]
    fn engines_have_names_of_their_own() {
        let engines = engines::all();
        for (position, engine) in engines.iter().enumerate() {
            assert!(engines[..position].iter().all(|other| other.name != engine.name), "{}", engine.name);
        }
    }
}
