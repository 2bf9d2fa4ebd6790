//! The `hedgerow` command: see `docs/cli.md`.
//!
//! | file | what it does |
//! |---|---|
//! | `args` | commands and their options |
//! | `error` | what can go wrong, and the exit code for it |
//! | `input` | from a graph file to a graph |
//! | `run`, `convert`, `stats`, `generate`, `demo`, `bench`, `completions` | the commands |
//! | `console`, `progress`, `text` | what a user sees; `results`: what goes into a result file |
//! | `interrupt`, `threads` | Ctrl-C; the threads that kernels run on |

mod args;
mod bench;
mod completions;
mod console;
mod convert;
mod demo;
mod error;
mod generate;
mod input;
mod interrupt;
mod progress;
mod results;
mod run;
mod stats;
mod text;
mod threads;

use args::{Cli, Command};
use clap::Parser;
use console::Console;
use error::CliError;
use interrupt::Interrupt;
use std::process::ExitCode;

/// Parses the command line, runs the command, reports what went wrong.
#[must_use]
pub fn main() -> ExitCode {
    let command = Cli::parse().command;
    let done = Interrupt::on_ctrl_c().and_then(|interrupt| execute(&command, &interrupt));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            console::report(&error);
            ExitCode::from(error.exit_code())
        }
    }
}

fn execute(command: &Command, interrupt: &Interrupt) -> Result<(), CliError> {
    let console = Console::new(command.json());
    match command {
        Command::Demo(args) => demo::execute(args, &console, interrupt),
        Command::Generate(args) => generate::execute(args, &console, interrupt),
        Command::Convert(args) => convert::execute(args, &console, interrupt),
        Command::Run(args) => run::execute(&args.kernel, &console, interrupt),
        Command::Stats(args) => stats::execute(args, &console, interrupt),
        Command::Bench(args) => bench::execute(args, &console, interrupt),
        Command::Completions(args) => completions::execute(args, &console),
    }
}
