//! The `hedgerow-lab` command: measures research engines next to those of Hedgerow, as
//! `hedgerow bench` does. See `docs/bench.md`.

mod engines;

use clap::{CommandFactory, FromArgMatches, Parser};
use hedgerow_cli::BenchArgs;
use hedgerow_driver::Engine;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measure engines of research beside those of Hedgerow, against a static graph
#[derive(Debug, Parser)]
#[command(name = "hedgerow-lab", version)]
struct Lab {
    #[command(flatten)]
    bench: BenchArgs,
}

const EXAMPLES: &str = "\
Examples:
  hedgerow-lab --quick --engines csr,rapid,cart-ci
  hedgerow-lab --dataset kron-16 --engines csr,rapid,art-fine,art,cart,cart-vec,cart-ci --workloads insert,scan-ordered
  hedgerow-lab --dataset kron-18 --engines csr,rapid,rapid-erased --workloads pagerank,bfs,sssp --repetitions 5";

fn main() -> ExitCode {
    let engines = engines::all();
    let command = Lab::command().after_help(format!("{}\n{EXAMPLES}", described(&engines)));
    let arguments = Lab::from_arg_matches(&command.get_matches());
    match arguments {
        Ok(Lab { bench }) => hedgerow_cli::bench(&bench, &engines),
        Err(error) => error.exit(),
    }
}

/// One line per engine.
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
