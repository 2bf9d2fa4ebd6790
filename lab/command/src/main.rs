//! The `hedgerow-lab` command: measures mechanisms, research engines next to those of Hedgerow, and
//! Hedgerow next to other stores. See `docs/bench.md`.
//!
//! | file | what it does |
//! |---|---|
//! | `engines` | the engines that `bench` measures |
//! | `workloads/` | the workloads that `bench` adds to those of the driver, one file each |
//! | `link_bench/` | the requests of LinkBench, the clients that send them, a graph that serves them |
//! | `compare/` | comparisons with other stores |

mod compare;
mod engines;
mod link_bench;
mod workloads;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use hedgerow_cli::BenchArgs;
use hedgerow_driver::{Engine, Workload};
use std::process::ExitCode;
use std::time::Duration;

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
    /// Measure engines of research next to those of Hedgerow, and mechanisms of engines
    Bench(Box<Bench>),
    /// Measure Hedgerow and other stores side by side, doing the same work on the same disk
    Compare(Box<compare::Arguments>),
}

#[derive(Debug, Args)]
struct Bench {
    #[command(flatten)]
    args: BenchArgs,
    /// The duration of one mix of readers and writers; each number of clients of LinkBench runs for
    /// a fortieth of it [default: 10, with --full 60]
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    mix_seconds: Option<u64>,
}

const EXAMPLES: &str = "\
Examples:
  hedgerow-lab bench --quick --engines csr,rapid,cart-ci
  hedgerow-lab bench --dataset kron-18 --engines csr,hybrid --workloads archiving,unarchived,edge-log
  hedgerow-lab bench --dataset kron-20 --engines rapid,tel --workloads linkbench --store /data
  hedgerow-lab bench --dataset kron-16 --engines csr,rapid,art-fine,art,cart,cart-vec,cart-ci --workloads insert,scan-ordered
  hedgerow-lab bench --dataset kron-18 --engines csr,rapid,rapid-erased --workloads pagerank,bfs,sssp --repetitions 5";

fn main() -> ExitCode {
    let (engines, workloads) = (engines::all(), workloads::all());
    let help = format!("{}\n{EXAMPLES}", described(&engines, &workloads));
    let workloads_help = "The workloads, separated by commas [default: see below]";
    let describe = |bench: clap::Command| bench.mut_arg("workloads", |arg| arg.help(workloads_help));
    let command = Lab::command().mut_subcommand("bench", |bench| describe(bench).after_help(help));
    match Lab::from_arg_matches(&command.get_matches()) {
        Ok(Lab { work: Work::Bench(bench) }) => {
            if let Some(seconds) = bench.mix_seconds {
                workloads::mix_time::set(Duration::from_secs(seconds));
            }
            hedgerow_cli::bench(&bench.args, &engines, &workloads)
        }
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

/// Returns one line per engine and per workload.
fn described(engines: &[Engine], workloads: &[&Workload]) -> String {
    let line = |name: &str, description: &str| format!("  {name:<15} {description}\n");
    let engines: String = engines.iter().map(|engine| line(engine.name, engine.description)).collect();
    let (default, named): (Vec<_>, Vec<_>) = workloads.iter().partition(|workload| workload.is_default);
    let lines = |workloads: Vec<&&Workload>| -> String {
        workloads.into_iter().map(|workload| line(workload.name, workload.description)).collect()
    };
    let (default, named) = (lines(default), lines(named));
    format!("Engines:\n{engines}\nWorkloads:\n{default}\nWorkloads by name, and with --full:\n{named}")
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
