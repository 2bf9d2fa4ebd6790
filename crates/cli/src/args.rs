//! Commands and their options; those of many commands are beside them.

pub use crate::convert::ConvertArgs;
pub use crate::export::ExportArgs;
pub use crate::generate::GenerateArgs;
pub use crate::import::ImportArgs;
pub use crate::maintenance::{CheckArgs, CheckpointArgs, InfoArgs, LabelArgs, RecoverArgs, SchemaArgs};
pub use crate::objects::{DeleteArgs, GetArgs, NeighborsArgs, PutArgs};

mod format;
mod run;

pub use format::{FormatName, graph_format};
pub use run::*;

use bytesize::ByteSize;
use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use hedgerow::{EngineKind, GraphOptions, KeyKind};
use hedgerow_driver::Workload;
use hedgerow_formats::{Columns, ReadOptions, timestamp_of_text};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

const EXIT_CODES: &str = "\
Exit codes:
  0    success
  1    unexpected error, a result could not be written, or `check` found damage
  2    the command line makes no sense
  3    an input cannot be read or is invalid (the message names file, line and column)
  4    a limit (memory, vertex ids) would be exceeded, a disk is full, or the kernel cannot run
  5    another process has the store open
  6    the condition of --only-if did not hold: nothing was changed
  130  interrupted by Ctrl-C; 129 by SIGHUP, 143 by SIGTERM

Examples:
  hedgerow demo
  hedgerow generate kronecker --scale 16 --output graph.txt.gz
  hedgerow run pagerank --graph graph.txt.gz --output ranks.txt
  hedgerow convert graph.txt.gz graph.sg
  hedgerow stats graph.txt.gz
  hedgerow import graph.txt.gz --store graph
  hedgerow run bfs --store graph
  hedgerow bench --dataset kron-16 --json figures.json";

const DEMO_EXAMPLES: &str = "\
Examples:
  hedgerow demo
  hedgerow demo --scale 16 --writers 4 --readers 2 --batch 100
  hedgerow demo --undirected --graph ca-HepPh.txt --json";

const STATS_EXAMPLES: &str = "\
Examples:
  hedgerow stats email-Eu-core.txt --json
  hedgerow stats kron.sg --plot degrees.svg";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  source <(hedgerow completions bash)
  hedgerow completions zsh > ~/.zfunc/_hedgerow
  hedgerow completions fish > ~/.config/fish/completions/hedgerow.fish";

const BENCH_EXAMPLES: &str = "\
Examples:
  hedgerow bench --quick
  hedgerow bench --dataset kron-20 --engines csr,rapid --json kron-20.json
  hedgerow bench --dataset sparse-21 --workloads scan-ordered,scan-random,search --threads 1,2
  hedgerow bench --dataset wiki-Vote.txt --workloads insert,memory,pagerank
  hedgerow bench --dataset kron-20 --store /data --workloads synced-commits,recovery,checkpoint";

/// A store for graphs that never stop changing.
#[derive(Debug, Parser)]
#[command(name = "hedgerow", version, arg_required_else_help = true, after_help = EXIT_CODES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write a stream of edges while PageRank and BFS run on snapshots, and compare with a static graph
    Demo(DemoArgs),
    /// Generate a graph file
    Generate(GenerateArgs),
    /// Run a kernel on a graph file, or on the graph in a store
    Run(RunArgs),
    /// Write a graph file in another format
    Convert(ConvertArgs),
    /// Count vertices, edges and degrees of a graph file
    Stats(StatsArgs),
    /// Put the edges of graph files into a store, which is made if there is none
    Import(ImportArgs),
    /// Write the graph in a store to a file of any format
    Export(ExportArgs),
    /// Tell what is in a store, and how it is kept
    Info(InfoArgs),
    /// Print the labels of a store, what lies on their edges and on vertices, and the options that make such a store
    Schema(SchemaArgs),
    /// List the labels of a store, or give it further ones
    Label(LabelArgs),
    /// Print the neighbours of a vertex in a store
    Neighbors(NeighborsArgs),
    /// Print a vertex or an edge in a store
    Get(GetArgs),
    /// Put a vertex or an edge into a store
    Put(PutArgs),
    /// Delete a vertex or an edge in a store
    Delete(DeleteArgs),
    /// Write the state of a store as one file, so that it opens faster and its log can be cut
    Checkpoint(CheckpointArgs),
    /// Read everything in a store and tell all that is damaged
    Check(CheckArgs),
    /// Repair a damaged store, giving up every commit after the first damage
    Recover(RecoverArgs),
    /// Measure the engines side by side, against a static graph
    #[command(after_help = BENCH_EXAMPLES)]
    Bench(BenchArgs),
    /// Print what a shell needs to complete commands and options
    Completions(CompletionsArgs),
}

impl Command {
    /// Whether the result is to be printed as JSON.
    pub fn json(&self) -> bool {
        match self {
            Command::Demo(args) => args.json,
            Command::Generate(args) => args.model.json(),
            Command::Convert(args) => args.json,
            Command::Run(args) => args.kernel.command().options().common.json,
            Command::Stats(args) => args.json,
            Command::Import(args) => args.json,
            Command::Export(args) => args.json,
            Command::Info(args) => args.json,
            Command::Schema(args) => args.json,
            Command::Label(args) => args.action.json(),
            Command::Neighbors(args) => args.json,
            Command::Get(args) => args.object.json(),
            Command::Put(args) => args.object.json(),
            Command::Delete(args) => args.object.json(),
            Command::Checkpoint(args) => args.json,
            Command::Check(args) => args.json,
            Command::Recover(args) => args.json,
            // The figures of the benchmark go to a file.
            Command::Bench(_) | Command::Completions(_) => false,
        }
    }
}

/// `hedgerow demo`
#[derive(Debug, Args)]
#[command(
    after_help = DEMO_EXAMPLES,
    // How a file is read means nothing for a generated graph.
    mut_args(|arg| match arg.get_id().as_str() {
        "format" | "vertices" | "keys" | "columns" | "skip_bad_lines" => {
            arg.requires("graph").conflicts_with_all(["scale", "edge_factor", "seed"])
        }
        _ => arg,
    })
)]
pub struct DemoArgs {
    /// The generated graph has 2^SCALE vertices (1 to 31)
    #[arg(long, default_value_t = 17, conflicts_with = "graph", value_parser = clap::value_parser!(u32).range(1..=31))]
    pub scale: u32,
    /// Edges per vertex of the generated graph
    #[arg(long, default_value_t = 16, conflicts_with = "graph")]
    pub edge_factor: u64,
    /// Seed of the generated graph
    #[arg(long, default_value_t = 1, conflicts_with = "graph")]
    pub seed: u64,
    /// Threads that write; with two or more, the last one commits every edge by itself
    #[arg(long, default_value = "2", value_name = "N", value_parser = threads)]
    pub writers: NonZeroUsize,
    /// Threads that open snapshots and run PageRank and BFS on them
    #[arg(long, default_value = "2", value_name = "N", value_parser = threads)]
    pub readers: NonZeroUsize,
    /// Edges per commit
    #[arg(long, default_value = "10000", value_name = "N", value_parser = at_least_one)]
    pub batch: NonZeroUsize,
    /// Treat every edge as undirected
    #[arg(long)]
    pub undirected: bool,
    /// Stream the edges of this file instead of a generated graph; - is standard input
    #[arg(long, value_name = "FILE")]
    pub graph: Option<PathBuf>,
    #[command(flatten)]
    pub format: FormatArgs,
    #[command(flatten)]
    pub memory: MemoryArgs,
    /// Print the summary as JSON, and no live view
    #[arg(long)]
    pub json: bool,
}

/// `hedgerow stats`
#[derive(Debug, Args)]
#[command(after_help = STATS_EXAMPLES)]
pub struct StatsArgs {
    /// The graph file, plain or compressed by gzip or Zstandard; - is standard input
    #[arg(value_name = "FILE")]
    pub graph: PathBuf,
    /// Treat every edge as undirected
    #[arg(long)]
    pub undirected: bool,
    #[command(flatten)]
    pub format: FormatArgs,
    #[command(flatten)]
    pub memory: MemoryArgs,
    /// Draw the histogram of the degrees into this file, as SVG
    #[arg(long, value_name = "FILE", value_parser = file_to_write())]
    pub plot: Option<PathBuf>,
    /// Print the figures as JSON
    #[arg(long)]
    pub json: bool,
}

/// `hedgerow completions`
#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: clap_complete::Shell,
}

/// What is measured, and for how long.
#[derive(Debug, Args)]
pub struct BenchArgs {
    /// The graph: kron-N, sparse-N (N is the scale), uniform-VERTICESxDEGREE, or an edge list, whose edges
    /// are taken as undirected [default: kron-20, with --quick kron-10]
    #[arg(long, value_name = "NAME|FILE")]
    pub dataset: Option<String>,
    /// The engines, separated by commas; csr, the static graph, is always measured
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "csr,rapid")]
    pub engines: Vec<String>,
    /// The workloads, separated by commas [default: all but hub and those on stores (synced-commits, buffered-insert,
    /// durable-ingest, recovery, checkpoint, linkbench, linkbench-tao); with --full all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = Workload::named)]
    pub workloads: Vec<Workload>,
    /// Thread counts, separated by commas: each workload that can use several is measured with each
    #[arg(long, value_name = "COUNTS", value_delimiter = ',', default_value = "1", value_parser = threads)]
    pub threads: Vec<NonZeroUsize>,
    /// Make the stores of the workloads on stores in this directory, on the disk that is to be measured, and remove them
    /// afterwards [default: where the system keeps temporary files]
    #[arg(long, value_name = "DIRECTORY")]
    pub store: Option<PathBuf>,
    /// Write machine, build and all figures to this file
    #[arg(long, value_name = "FILE", value_parser = file_to_write())]
    pub json: Option<PathBuf>,
    /// How often everything is measured [default: 3, with --quick 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repetitions: Option<u32>,
    /// How long one mix of readers and writers runs, and forty times what each number of clients of LinkBench takes [default:
    /// 10, with --full 60]
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub mix_seconds: Option<u64>,
    /// What makes, shuffles and samples the graph
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Measure every insertion of every repetition, all batch sizes, mixes of a minute, the hub, stores, and all links in
    /// LinkBench
    #[arg(long)]
    pub full: bool,
    /// Measure everything briefly, to see that it works; the figures mean nothing
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
}

/// How a graph file is read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub struct FormatArgs {
    /// The format of the file
    #[arg(long, value_parser = graph_format(), default_value = "auto")]
    pub format: FormatName,
    /// Also the vertices in this file, one key per line, whether they have edges or not
    #[arg(long, value_name = "FILE")]
    pub vertices: Option<PathBuf>,
    /// What vertex keys are [default: number]
    #[arg(long, value_enum)]
    pub keys: Option<KeysName>,
    /// What the third and fourth column of an edge list are
    #[arg(long, value_enum, default_value_t = ColumnsName::Auto)]
    pub columns: ColumnsName,
    /// Count lines that make no sense and go on, instead of stopping
    #[arg(long)]
    pub skip_bad_lines: bool,
}

impl FormatArgs {
    /// What vertex keys are, if nothing but these options decides.
    pub fn keys(&self) -> KeysName {
        self.keys.unwrap_or(KeysName::Number)
    }

    /// The files that are read with this graph file: those of its format, and that of `--vertices`.
    pub fn files(&self, graph: &Path) -> Vec<PathBuf> {
        self.read_options(1).files(graph).into_iter().chain(self.vertices.clone()).collect()
    }

    /// How the files are read, in batches of about so many edges and vertices.
    pub fn read_options(&self, batch_size: usize) -> ReadOptions {
        let (format, columns) = (self.format.format(), self.columns.columns());
        let skip_bad_lines = self.skip_bad_lines;
        ReadOptions { format, columns, skip_bad_lines, batch_size, ..ReadOptions::default() }
    }
}

/// How much a graph may hold, and where it lies.
#[derive(Clone, Debug, Args)]
pub struct MemoryArgs {
    /// The graph holds at most so much, for example 2GiB, 500MB, or a number of bytes; more is an error
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub memory_limit: Option<ByteSize>,
    /// Keep the edges of the graph in a file in this directory, for graphs larger than memory, with the engine tel; nothing is
    /// left of it afterwards
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
    /// The engine that was asked for, by commands that let one choose.
    #[arg(skip)]
    pub engine: Option<EngineKind>,
}

impl MemoryArgs {
    /// Puts them among the options of a graph. If no engine was asked for, with the one that can keep edges in a file, if they are to be in
    /// one.
    pub fn limit(&self, options: GraphOptions) -> GraphOptions {
        let in_file = self.scratch.as_ref().map(|_| EngineKind::Tel);
        let options = self.engine.or(in_file).into_iter().fold(options, GraphOptions::engine);
        let options = self.scratch.iter().fold(options, GraphOptions::scratch);
        match self.memory_limit {
            // More than can be addressed is no limit.
            Some(limit) => options.memory_limit(usize::try_from(limit.as_u64()).unwrap_or(usize::MAX)),
            None => options,
        }
    }
}

/// What vertex keys are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum KeysName {
    /// Numbers from 0 to 2^64 - 1, mapped to dense ids
    Number,
    /// Text without blanks and commas, mapped to dense ids
    Text,
    /// Numbers from 0 to 2^32 - 2 that are the ids themselves; gaps cost memory
    Dense,
}

impl KeysName {
    /// The kind of keys.
    pub fn kind(self) -> KeyKind {
        match self {
            KeysName::Number => KeyKind::Number,
            KeysName::Text => KeyKind::Text,
            KeysName::Dense => KeyKind::Dense,
        }
    }
}

/// What the third and fourth column of an edge list are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColumnsName {
    /// A weight, then a timestamp
    Auto,
    /// A timestamp, then a weight
    Timestamp,
    /// Not looked at
    Topology,
}

impl ColumnsName {
    /// The columns.
    pub fn columns(self) -> Columns {
        match self {
            ColumnsName::Auto => Columns::Auto,
            ColumnsName::Timestamp => Columns::Timestamp,
            ColumnsName::Topology => Columns::Topology,
        }
    }
}

/// So many threads may be asked for: far more than help, few enough to be started.
const MOST_THREADS: usize = 1024;

pub fn threads(text: &str) -> Result<NonZeroUsize, String> {
    match text.parse::<NonZeroUsize>() {
        Ok(threads) if threads.get() <= MOST_THREADS => Ok(threads),
        _ => Err(format!("expected a number from 1 to {MOST_THREADS}")),
    }
}

pub fn at_least_one(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "expected a whole number from 1".into())
}

/// Microseconds since 1970, in UTC, from their number or from a time as text.
pub fn time(text: &str) -> Result<i64, String> {
    timestamp_of_text(text).map_err(|expected| format!("expected {expected}"))
}

/// The same, not before 1970.
pub fn past_time(text: &str) -> Result<u64, String> {
    u64::try_from(time(text)?).map_err(|_| "expected a time from 1970 on".into())
}

fn size(text: &str) -> Result<ByteSize, String> {
    match text.parse::<ByteSize>() {
        Ok(size) if size.as_u64() > 0 => Ok(size),
        _ => Err("expected a size above 0, such as 2GiB, 500MB, or a number of bytes".into()),
    }
}

/// Standard output is for what is said about the result.
pub fn file_to_write() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match path.to_str() {
        Some("-" | "/dev/stdout") => Err("expected a file, standard output is taken by the summary"),
        _ => Ok(path),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent_and_every_command_has_an_example() {
        fn check(command: &clap::Command) {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains("hedgerow"), "{} has no example", command.get_name());
            command.get_subcommands().for_each(check);
        }
        Cli::command().debug_assert();
        check(&Cli::command());
    }
}
