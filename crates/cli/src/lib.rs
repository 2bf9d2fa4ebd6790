//! The `hedgerow` command: see `docs/cli.md`.
//!
//! | file | purpose |
//! |---|---|
//! | `args` | the tree of commands; each command has its options in its own module |
//! | `options` | options that commands share |
//! | `error` | errors, and their exit codes |
//! | `input` | loads a graph file into a graph |
//! | `stored` | opens stores, and describes their contents |
//! | `run`, `convert`, `stats`, `generate`, `demo`, `bench`, `completions`, `man` | the commands |
//! | `edges` | the edges of a store by conditions, and aggregates over them |
//! | `import`, `ingest`, `export`, `objects`, `maintenance` | the commands on stores: whole graphs, streams, single vertices and edges, the store itself |
//! | `kafka` | a topic of Kafka as a source of edges, and as a destination of changes |
//! | `changes` | the past of a store: its commits, their changes, differences of states, erasure |
//! | `shell` | many commands on one open store |
//! | `console`, `progress`, `text`, `keys`, `listing` | output for users; `results`: the contents of result files |
//! | `usage` | the problem of a command line, in one line |
//! | `lint` | notes on suspicious lines of graph files |
//! | `float` | floats in the form of files |
//! | `outputs` | refuses outputs that are also inputs, or inside a store |
//! | `allocator` | the retention of freed memory |
//! | `signal`, `interrupt`, `threads` | signals; their handlers; the threads that kernels run on |

mod allocator;
mod args;
mod bench;
mod changes;
mod completions;
mod console;
mod convert;
mod demo;
mod edges;
mod error;
mod export;
mod float;
mod generate;
mod import;
mod ingest;
mod input;
mod interrupt;
mod kafka;
mod keys;
mod lint;
mod listing;
mod maintenance;
mod man;
mod objects;
mod options;
mod outputs;
mod picture;
mod progress;
#[cfg(test)]
mod reference;
mod run;
mod shell;
mod signal;
mod state;
mod stats;
mod stored;
mod text;
mod threads;
mod usage;

pub use bench::BenchArgs;

use args::{Cli, Command};
use clap::FromArgMatches;
use console::{Console, ConsoleArgs, Format};
use error::{CliError, told};
use hedgerow_driver::{ENGINES, Engine, WORKLOADS, Workload};
use interrupt::Interrupt;
use maintenance::{Compacted, rewrite};
use std::env;
use std::ffi::OsString;
use std::process::ExitCode;
use stored::checkpoint::Checkpointed;

/// Parses the command line, runs the command, reports errors.
#[must_use]
pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = env::args_os().collect();
    let command = args::command().color(args::requested_color(&arguments));
    let parsed = command.try_get_matches_from(&arguments).and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return invalid(&error, &arguments),
    };
    let format = if cli.command.json() { Format::Json } else { Format::Text };
    let console = Console::new(format, cli.console);
    exit(execute(&cli.command, &console), &console)
}

/// Prints the requested help, or the problem of the command line: as JSON with `--json`, which is
/// the name of a file for `bench`.
fn invalid(error: &clap::Error, arguments: &[OsString]) -> ExitCode {
    let has = |word| arguments.iter().skip(1).any(|argument| argument == word);
    if error.use_stderr() && has("--json") && !has("bench") {
        let console = Console::new(Format::Json, ConsoleArgs::default());
        return exit(Err(CliError::Usage(usage::problem(error))), &console);
    }
    // Nothing can be done about a closed output.
    drop(error.print());
    ExitCode::from(error.exit_code() as u8)
}

/// Measures the engines and workloads that `args` selects from those given, as `hedgerow bench`
/// does, for a program with others.
#[must_use]
pub fn bench(args: &BenchArgs, engines: &[Engine], workloads: &[&'static Workload]) -> ExitCode {
    let console = Console::new(Format::Text, ConsoleArgs::default());
    let listening = Interrupt::listen();
    let measure = |interrupt| bench::execute(args, engines, workloads, &console, &interrupt);
    exit(listening.and_then(measure), &console)
}

/// Reports an error, and returns the exit code.
fn exit(result: Result<(), CliError>, console: &Console) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is_closed_pipe() => {
            // A reader such as `head` has enough, but may not know what a command committed.
            if !matches!(error, CliError::Stdout(_) | CliError::Output(_)) {
                console.note(&format!("note: {}", told(&error)));
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            console.report(&error);
            ExitCode::from(error.exit_code())
        }
    }
}

/// Runs a command. Commands that write files or compute for long handle signals and clean up; the
/// others keep the default action.
fn execute(command: &Command, console: &Console) -> Result<(), CliError> {
    interrupt::survive_file_limit()?;
    if command.stays_within_memory() {
        allocator::keep_nothing();
    }
    let listen = Interrupt::listen;
    match command {
        Command::Demo(args) => demo::execute(args, console, &listen()?),
        Command::Generate(args) => generate::execute(args, console, &listen()?),
        Command::Convert(args) => convert::execute(args, console, &listen()?),
        Command::Run(args) => run::execute(&args.kernel, console, &listen()?),
        Command::Stats(args) => stats::execute(args, console, &listen()?),
        Command::Import(args) => import::execute(args, console),
        Command::Ingest(args) => ingest::execute(args, console),
        Command::Export(args) => export::execute(args, console, &listen()?),
        Command::Info(args) => maintenance::info::execute(args, console),
        Command::Watch(args) => maintenance::watch::execute(args, console, &listen()?),
        Command::Backup(args) => maintenance::backup::execute(args, console),
        Command::Schema(args) => maintenance::schema::execute(args, console),
        Command::Label(args) => maintenance::label::execute(args, console),
        Command::Edges(args) => edges::execute(args, console, &listen()?),
        Command::Neighbors(args) => objects::neighbors::execute(args, console),
        Command::Path(args) => objects::path::execute(args, console, &listen()?),
        Command::Get(args) => objects::get::execute(args, console),
        Command::Put(args) => objects::put::execute(args, console),
        Command::Delete(args) => objects::delete::execute(args, console),
        Command::Log(args) => changes::log::execute(args, console),
        Command::Changes(args) => changes::stream::execute(args, console, &listen()?),
        Command::Erase(args) => changes::erase::execute(&args.object, console),
        Command::Diff(args) => changes::diff::execute(args, console, &listen()?),
        Command::Shell(args) => shell::execute(args, console),
        Command::Checkpoint(args) => rewrite::execute::<Checkpointed>(args, console, &listen()?),
        Command::Compact(args) => rewrite::execute::<Compacted>(args, console, &listen()?),
        Command::Check(args) => maintenance::check::execute(args, console),
        Command::Recover(args) => maintenance::recover::execute(args, console),
        Command::Bench(args) => bench::execute(args, ENGINES, WORKLOADS, console, &listen()?),
        Command::Man(args) => man::execute(args, args::command()),
        Command::Completions(args) => completions::execute(args, args::command(), console),
    }
}
