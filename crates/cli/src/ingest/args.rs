//! Options of `hedgerow ingest`.

use crate::options::{ColumnsName, KeysName, MemoryArgs, at_least_one, threads};
use crate::stored::args::StorePlace;
use crate::stored::checkpoint::When;
use crate::stored::target::{Asked, TargetArgs};
use crate::stored::wait::{WaitArgs, seconds};
use clap::builder::EnumValueParser;
use clap::{Args, ValueEnum};
use hedgerow_formats::StreamForm;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
The store notes with each commit how far it is: the same command goes on from there, whatever ended it. Ctrl-C ends --follow.

Examples:
  hedgerow ingest events.txt live
  hedgerow ingest events.txt live --follow --within 0.02
  hedgerow ingest follows.txt social --format operations --undirected --follow --json
  producer | hedgerow ingest - live --format pairs32 --keys dense
  producer --from-the-beginning | hedgerow ingest - live --replayed --durability sync";

/// `hedgerow ingest`
#[derive(Debug, Args)]
#[command(
    after_help = EXAMPLES,
    mut_args(|arg| match arg.get_id().as_str() {
        "label" => arg.help("The label that the edges have [default: the first of the store]"),
        "durability" => arg.help(
            "When a commit returns; in any case the command ends only when everything survives a loss of power, and after a crash \
             the same command goes on where the last commit that survived was"
        ),
        _ => arg,
    })
)]
pub struct IngestArgs {
    /// The file, which may still grow, or a pipe; - is standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    #[command(flatten)]
    pub place: StorePlace,
    /// At the end of a file wait for more, until Ctrl-C or SIGTERM; a pipe ends when it is closed
    #[arg(long, short)]
    pub follow: bool,
    /// Edges per commit at most; the default of the engine lsm depends on its memory [default:
    /// 1048576]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub batch: Option<NonZeroUsize>,
    /// The time after which edges are committed even if they are few, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "0.1")]
    pub within: Duration,
    /// The input comes again from its first byte: skip what the store has, after a check that it is
    /// the same; without, a pipe is taken as new, and a file read on from where it was
    #[arg(long)]
    pub replayed: bool,
    /// Begin with the first byte of the input, and give up the rest of another one
    #[arg(long, conflicts_with = "replayed")]
    pub anew: bool,
    #[command(flatten)]
    pub target: TargetArgs,
    /// The form of the edges
    #[arg(long, help_heading = "Input", value_enum, default_value_t = StreamFormat::Edges)]
    pub format: StreamFormat,
    /// The kind of vertex keys [default: what they are in the store, in a new one number]
    #[arg(long, help_heading = "Input", value_enum)]
    pub keys: Option<KeysName>,
    /// The meaning of the third and fourth column of a line
    #[arg(long, help_heading = "Input", value_parser = EnumValueParser::<ColumnsName>::new(), default_value = "auto")]
    pub columns: ColumnsName,
    /// Count and skip invalid lines, instead of stopping
    #[arg(long, help_heading = "Input")]
    pub skip_bad_lines: bool,
    /// Write a checkpoint at the end of the input, and with `auto` also whenever the log has grown
    /// by 32 MiB and by the size of the last one; or leave the log as it is
    #[arg(long, value_enum, default_value_t = When::Auto)]
    pub checkpoint: When,
    /// Threads for commits; by default one per core
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<NonZeroUsize>,
    #[command(flatten)]
    pub memory: MemoryArgs,
    #[command(flatten)]
    pub wait: WaitArgs,
    /// Print a JSON object per second, and one at the end, each on a line
    #[arg(long)]
    pub json: bool,
}

/// The form of the edges of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StreamFormat {
    /// Lines `source destination [weight] [timestamp]`, as in the edge lists that `import` reads
    Edges,
    /// Such lines after + or -, with or without a blank, a tab or a comma: + puts the edge, -
    /// deletes it
    Operations,
    /// Binary: source and destination as 32-bit numbers, little-endian, without gaps
    Pairs32,
    /// Binary: source and destination as 64-bit numbers, little-endian, without gaps
    Pairs64,
}

impl StreamFormat {
    /// The form.
    pub fn form(self) -> StreamForm {
        match self {
            StreamFormat::Edges => StreamForm::Lines,
            StreamFormat::Operations => StreamForm::Operations,
            StreamFormat::Pairs32 => StreamForm::Pairs32,
            StreamFormat::Pairs64 => StreamForm::Pairs64,
        }
    }

    /// The name, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            StreamFormat::Edges => "edges",
            StreamFormat::Operations => "operations",
            StreamFormat::Pairs32 => "pairs32",
            StreamFormat::Pairs64 => "pairs64",
        }
    }
}

impl IngestArgs {
    /// The store to put the edges into.
    pub fn asked(&self) -> Asked<'_> {
        let IngestArgs { place, target, keys, memory, batch, .. } = self;
        Asked { store: place.path(), args: target, keys: *keys, memory, chunk: *batch }
    }
}
