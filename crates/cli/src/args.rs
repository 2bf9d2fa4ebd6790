//! The tree of commands. Each command has its options in its own module; shared options are in
//! `options`.

use crate::bench::{self, BenchArgs};
use crate::changes::{ChangesArgs, DiffArgs, EraseArgs, LogArgs};
use crate::completions::CompletionsArgs;
use crate::console::ConsoleArgs;
use crate::convert::ConvertArgs;
use crate::demo::DemoArgs;
use crate::edges::EdgesArgs;
use crate::export::ExportArgs;
use crate::generate::GenerateArgs;
use crate::import::ImportArgs;
use crate::ingest::IngestArgs;
use crate::maintenance::{
    BackupArgs, CHECKPOINT_EXAMPLES, COMPACT_EXAMPLES, CheckArgs, InfoArgs, LabelArgs, RecoverArgs,
    RewriteArgs, SchemaArgs, WatchArgs,
};
use crate::man::ManArgs;
use crate::objects::{DeleteArgs, GetArgs, NeighborsArgs, PathArgs, PutArgs};
use crate::options::is_large_file;
use crate::run::RunArgs;
use crate::shell::ShellArgs;
use crate::stats::StatsArgs;
use clap::{ColorChoice, CommandFactory, Parser, Subcommand};
use std::ffi::OsString;

const EXIT_CODES: &str = "\
Exit codes:
  0    success
  1    unexpected error, a result could not be written, `check` found damage, or `erase` traces
  2    the command line is invalid
  3    an input cannot be read or is invalid (the message names file, line and column)
  4    a limit (memory, vertex ids, size of files) would be exceeded, a disk is full, or the kernel cannot run
  5    another process has the store open
  6    the condition of --only-if did not hold: nothing was changed
  130  interrupted by Ctrl-C; 129 by SIGHUP, 143 by SIGTERM

Examples:
  hedgerow demo
  hedgerow generate kronecker --scale 16 --output graph.txt.gz
  hedgerow run pagerank graph.txt.gz --output ranks.txt
  hedgerow convert graph.txt.gz graph.sg
  hedgerow stats graph.txt.gz
  hedgerow import graph.txt.gz --store graph
  hedgerow run bfs graph
  hedgerow shell graph
  hedgerow bench --dataset kron-16 --json figures.json";

/// A store for graphs that never stop changing.
#[derive(Debug, Parser)]
#[command(
    name = "hedgerow",
    version,
    arg_required_else_help = true,
    args_override_self = true,
    after_help = EXIT_CODES
)]
pub struct Cli {
    #[command(flatten)]
    pub console: ConsoleArgs,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// A command.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write a stream of edges while PageRank and BFS run on snapshots, and compare with a static
    /// graph
    Demo(DemoArgs),
    /// Generate a graph file
    Generate(GenerateArgs),
    /// Run a kernel on a graph file, or on the graph in a store
    Run(RunArgs),
    /// Write a graph file in another format
    Convert(ConvertArgs),
    /// Count vertices, edges and degrees of a graph file, or of the graph in a store
    Stats(StatsArgs),
    /// Put the edges of graph files into a store, which is created if it does not exist
    Import(ImportArgs),
    /// Put the edges of a growing file or a pipe into a store as they come, or delete them
    Ingest(IngestArgs),
    /// Write the graph in a store to a file of any format
    Export(ExportArgs),
    /// Show what is in a store, and its files
    Info(InfoArgs),
    /// Print the commits per second and the size of the log of a store while another process writes
    Watch(WatchArgs),
    /// Print the labels and properties of a store, and the options that make such a store
    Schema(SchemaArgs),
    /// List the labels of a store, or add some
    Label(LabelArgs),
    /// Print the edges of a store that satisfy a condition, or sums over them
    Edges(EdgesArgs),
    /// Print the neighbors of a vertex in a store, in the order in which the vertices were made
    Neighbors(NeighborsArgs),
    /// Print the shortest paths from one vertex to another in a store
    Path(PathArgs),
    /// Print a vertex or an edge in a store
    Get(GetArgs),
    /// Put a vertex or an edge into a store
    Put(PutArgs),
    /// Delete vertices or an edge in a store
    Delete(DeleteArgs),
    /// List the commits that the log of a store has, and what they changed, the newest first
    Log(LogArgs),
    /// Print the changes that the log of a store has, or that another process writes now
    Changes(ChangesArgs),
    /// Print the vertices and edges that differ between two states of a store, or between two
    /// stores
    Diff(DiffArgs),
    /// Delete vertices, and rewrite the files of a store until none holds a trace of them
    Erase(EraseArgs),
    /// Open a store once, and run many commands on it, from a prompt or a pipe
    Shell(ShellArgs),
    /// Copy a store to another directory while another process writes, or bring an older copy up to
    /// date
    Backup(BackupArgs),
    /// Write the state of a store as one file, so that it opens faster and its log can be pruned
    #[command(after_help = CHECKPOINT_EXAMPLES)]
    Checkpoint(RewriteArgs),
    /// Merge the edge files of a store of engine lsm, without deleted edges and replaced values
    #[command(after_help = COMPACT_EXAMPLES)]
    Compact(RewriteArgs),
    /// Read everything in a store and report all damage
    Check(CheckArgs),
    /// Repair a damaged store, giving up every commit after the first damage
    Recover(RecoverArgs),
    /// Measure the engines side by side, against a static graph
    #[command(after_help = bench::EXAMPLES)]
    Bench(BenchArgs),
    /// Print the script that completes commands and options in a shell
    Completions(CompletionsArgs),
    /// Write manual pages for all commands
    Man(ManArgs),
}

/// The choice of colors on the command line, even if it is invalid otherwise: errors and help have
/// colors, too.
pub fn requested_color(arguments: &[OsString]) -> ColorChoice {
    let followers = arguments.iter().zip(arguments.iter().skip(1));
    let separate = followers.filter(|(option, _)| *option == "--color").map(|(_, when)| when.to_str());
    let joined = arguments.iter().map(|argument| argument.to_str()?.strip_prefix("--color="));
    separate.chain(joined).flatten().filter_map(|when| when.parse().ok()).next_back().unwrap_or_default()
}

/// The commands, with usage lines that have the store last, as the arguments do: clap writes groups
/// first.
pub fn command() -> clap::Command {
    store_last(Cli::command(), "")
}

fn store_last(command: clap::Command, parent: &str) -> clap::Command {
    let path = format!("{parent}{}", command.get_name());
    let command = command.mut_subcommands(|command| store_last(command, &format!("{path} ")));
    if !command.get_arguments().any(|arg| arg.get_id() == "directory") {
        return command;
    }
    let names = command.get_positionals().filter_map(|arg| arg.get_value_names());
    let usage: String = names.flatten().map(|name| format!(" <{name}>")).collect();
    command.override_usage(format!("{path} [OPTIONS]{usage}"))
}

impl Command {
    /// Returns true if the result is printed as JSON.
    pub fn json(&self) -> bool {
        match self {
            Command::Demo(args) => args.json,
            Command::Generate(args) => args.model.json(),
            Command::Convert(args) => args.json,
            Command::Run(args) => args.kernel.place().json,
            Command::Stats(args) => args.json,
            Command::Import(args) => args.json,
            Command::Ingest(args) => args.json,
            Command::Export(args) => args.json,
            Command::Info(args) => args.json,
            Command::Watch(args) => args.json,
            Command::Backup(args) => args.json,
            Command::Schema(args) => args.json,
            Command::Label(args) => args.action.json(),
            Command::Edges(args) => args.edges.place.json,
            Command::Neighbors(args) => args.neighbors.place.json,
            Command::Path(args) => args.path.place.json,
            Command::Get(args) => args.object.place().json,
            Command::Put(args) => args.object.place().json,
            Command::Delete(args) => args.object.json(),
            Command::Log(args) => args.json,
            Command::Changes(args) => args.json,
            Command::Diff(args) => args.json,
            Command::Erase(args) => args.object.json(),
            Command::Shell(args) => args.json,
            Command::Checkpoint(args) | Command::Compact(args) => args.json,
            Command::Check(args) => args.json,
            Command::Recover(args) => args.json,
            // The figures of the benchmark go to a file.
            Command::Bench(_) | Command::Completions(_) | Command::Man(_) => false,
        }
    }

    /// Returns true if the command writes for long and must stay within a given memory, or loads a
    /// large file, of which much memory is needed only until the graph is built.
    pub fn stays_within_memory(&self) -> bool {
        match self {
            Command::Run(args) => args.kernel.place().graph.is_large_file(),
            Command::Stats(args) => args.graph.is_large_file(),
            Command::Import(args) => {
                args.memory.memory.is_some() || args.files.iter().any(|path| is_large_file(path))
            }
            Command::Ingest(args) => args.memory.memory.is_some(),
            Command::Compact(args) => args.memory.memory.is_some(),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent_and_every_command_has_two_examples() {
        fn check(command: &clap::Command) {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let examples =
                help.lines().filter(|line| line.contains("  hedgerow ") || line.contains("| hedgerow "));
            assert!(examples.count() >= 2, "{} has not two examples", command.get_name());
            command.get_subcommands().for_each(check);
        }
        command().debug_assert();
        check(&command());
    }
}
