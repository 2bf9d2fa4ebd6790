//! Options of `hedgerow shell`, and the commands of its lines.

use crate::edges::QueryArgs;
use crate::maintenance::NewLabels;
use crate::objects::{DeleteObject, GetObject, NeighborhoodArgs, PathBetweenArgs, PutObject};
use crate::run::{KernelCommand, RunnerArgs};
use crate::stored::args::{ReadArgs, StorePlace, WriteArgs};
use clap::{Args, Parser, Subcommand};

const EXAMPLES: &str = "\
Commands, one per line, with the arguments of the commands of these names, but without the store:
  put, delete, get, edges, neighbors, path, begin, commit, rollback, run, label, checkpoint, compact, info, help, quit

Examples:
  hedgerow shell wiki
  hedgerow shell wiki --read-only --json < commands
  printf 'begin\\nput edge 1 2\\nput edge 2 1\\ncommit\\n' | hedgerow shell wiki
  printf 'put edge 42 43\\nneighbors 42 --limit 10\\nrun bfs --source 42\\n' | hedgerow shell wiki";

/// `hedgerow shell`
#[derive(Debug, Args)]
#[command(
    after_help = EXAMPLES,
    mut_args(|arg| match arg.get_id().as_str() {
        "from_checkpoint" | "as_of" | "as_of_time" => arg.requires("read_only"),
        "durability" | "wait" => arg.conflicts_with("read_only"),
        _ => arg,
    })
)]
pub struct ShellArgs {
    #[command(flatten)]
    pub place: StorePlace,
    #[command(flatten)]
    pub read: ReadArgs,
    #[command(flatten)]
    pub write: WriteArgs,
    /// Refuse to change the store, and let other processes write to it: every command reads the
    /// state that was the newest when the shell began
    #[arg(long)]
    pub read_only: bool,
    /// When standard input is not a terminal: go on after a line that fails; the exit code is that
    /// of the first
    #[arg(long)]
    pub keep_going: bool,
    /// Print every result as one line of JSON
    #[arg(long)]
    pub json: bool,
}

/// Lines of the shell: `help COMMAND` lists the options of a command
#[derive(Debug, Parser)]
#[command(multicall = true, disable_version_flag = true)]
pub struct Line {
    /// The command.
    #[command(subcommand)]
    pub command: LineCommand,
}

/// A command of the shell.
#[derive(Debug, Subcommand)]
pub enum LineCommand {
    /// Put a vertex or an edge
    Put {
        /// The object to put.
        #[command(subcommand)]
        object: PutObject<Here>,
    },
    /// Delete a vertex or an edge
    Delete {
        /// The object to delete.
        #[command(subcommand)]
        object: DeleteObject<Here>,
    },
    /// Print a vertex or an edge
    Get {
        /// The object to print.
        #[command(subcommand)]
        object: GetObject<Here>,
    },
    /// Print the edges that satisfy a condition, or sums over them
    Edges(Box<QueryArgs>),
    /// Print the neighbors of a vertex, in the order in which they were made; by time with --newest
    Neighbors(NeighborhoodArgs),
    /// Print the shortest paths from one vertex to another
    Path(PathBetweenArgs),
    /// Run a kernel, and print its summary; --output writes the result of every vertex
    Run {
        /// The kernel.
        #[command(subcommand)]
        kernel: KernelCommand<KernelHere>,
    },
    /// Print the labels of the store, or add some
    Label {
        /// The action.
        #[command(subcommand)]
        action: LabelHere,
    },
    /// Begin a transaction: the changes of the lines up to commit are made together, or not at all
    Begin,
    /// Make the changes of the transaction, as one commit
    Commit,
    /// Drop the changes of the transaction
    Rollback,
    /// Write the whole graph to a file, from which the store is then opened
    Checkpoint,
    /// Merge the edge files of a store of engine lsm, without deleted edges and replaced values
    Compact,
    /// Count vertices and edges, and show what is in the store
    Info,
    /// Leave the shell; so do exit and the end of the input
    #[command(alias = "exit")]
    Quit,
}

/// An action on labels.
#[derive(Debug, Subcommand)]
pub enum LabelHere {
    /// Print the labels, one per line, in the form of --labels of import
    List,
    /// Append labels to those of the store
    Add(NewLabels),
}

/// The store that the shell has open.
#[derive(Clone, Copy, Debug, Args)]
pub struct Here {}

/// The open graph of the shell, and the options for running a kernel on it.
#[derive(Debug, Args)]
pub struct KernelHere {
    /// The edges of this label; by default the first
    #[arg(long, value_name = "NAME")]
    pub label: Option<String>,
    #[command(flatten)]
    pub runner: RunnerArgs,
}
