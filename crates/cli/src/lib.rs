//! The `hedgerow` command: see `docs/cli.md`.
//!
//! | file | what it does |
//! |---|---|
//! | `args` | the tree of commands; each command has its options in its own module |
//! | `options` | options that commands share |
//! | `error` | errors, and their exit codes |
//! | `input` | loads a graph file into a graph |
//! | `stored` | opens stores, and describes what is in them |
//! | `run`, `convert`, `stats`, `generate`, `demo`, `bench`, `completions` | the commands |
//! | `import`, `export`, `objects`, `maintenance` | the commands on stores: whole graphs, single vertices and edges, the store itself |
//! | `console`, `progress`, `text`, `keys` | what a user sees; `results`: what goes into a result file |
//! | `lint` | notes on suspicious lines of graph files |
//! | `float` | floats in the form of files |
//! | `outputs` | refuses outputs that are also inputs, or inside a store |
//! | `signal`, `interrupt`, `threads` | signals; their handlers; the threads that kernels run on |

mod args;
mod bench;
mod completions;
mod console;
mod convert;
mod demo;
mod error;
mod export;
mod float;
mod generate;
mod import;
mod input;
mod interrupt;
mod keys;
mod lint;
mod maintenance;
mod objects;
mod options;
mod outputs;
mod progress;
mod results;
mod run;
mod signal;
mod stats;
mod stored;
mod text;
mod threads;

pub use bench::BenchArgs;

use args::{Cli, Command};
use clap::{CommandFactory, Parser};
use console::Console;
use error::CliError;
use hedgerow_driver::{ENGINES, Engine};
use interrupt::Interrupt;
use std::process::ExitCode;

/// Parses the command line, runs the command, reports errors.
#[must_use]
pub fn main() -> ExitCode {
    let command = Cli::parse().command;
    exit(execute(&command))
}

/// Measures engines as `hedgerow bench` does, for a program with other engines: those of `engines`
/// that `args` selects.
#[must_use]
pub fn bench(args: &BenchArgs, engines: &[Engine]) -> ExitCode {
    exit(
        Interrupt::listen()
            .and_then(|interrupt| bench::execute(args, engines, &Console::new(false), &interrupt)),
    )
}

/// Reports an error, and returns the exit code.
fn exit(result: Result<(), CliError>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            console::report(&error);
            ExitCode::from(error.exit_code())
        }
    }
}

/// Runs a command. Commands that write files or compute for long handle signals and clean up; the
/// others keep the default action.
fn execute(command: &Command) -> Result<(), CliError> {
    let console = Console::new(command.json());
    let listen = Interrupt::listen;
    match command {
        Command::Demo(args) => demo::execute(args, &console, &listen()?),
        Command::Generate(args) => generate::execute(args, &console, &listen()?),
        Command::Convert(args) => convert::execute(args, &console, &listen()?),
        Command::Run(args) => run::execute(&args.kernel, &console, &listen()?),
        Command::Stats(args) => stats::execute(args, &console, &listen()?),
        Command::Import(args) => import::execute(args, &console, &listen()?),
        Command::Export(args) => export::execute(args, &console, &listen()?),
        Command::Info(args) => maintenance::info::execute(args, &console),
        Command::Schema(args) => maintenance::schema::execute(args, &console),
        Command::Label(args) => maintenance::label::execute(args, &console),
        Command::Neighbors(args) => objects::neighbors::execute(args, &console),
        Command::Get(args) => objects::get::execute(args, &console),
        Command::Put(args) => objects::put::execute(args, &console),
        Command::Delete(args) => objects::delete::execute(args, &console),
        Command::Checkpoint(args) => maintenance::checkpoint::execute(args, &console, &listen()?),
        Command::Check(args) => maintenance::check::execute(args, &console),
        Command::Recover(args) => maintenance::recover::execute(args, &console),
        Command::Bench(args) => bench::execute(args, ENGINES, &console, &listen()?),
        Command::Completions(args) => completions::execute(args, Cli::command(), &console),
    }
}
