//! Options of `hedgerow import`.

use crate::options::{ColumnsName, FormatArgs, FormatName, MemoryArgs, at_least_one, threads};
use crate::stored::checkpoint::When;
use crate::stored::target::{Asked, TargetArgs};
use crate::stored::wait::WaitArgs;
use clap::builder::EnumValueParser;
use clap::{Args, ValueEnum};
use hedgerow_formats::Zone;
use std::num::NonZeroUsize;
use std::path::PathBuf;

const EXAMPLES: &str = "\
The columns of a file with a header, their types and the kind of keys are inferred, unless a store has them or options give them.
An import that is interrupted goes on where it was when the same command is given again; one that is killed before a new store was made begins again.

Examples:
  hedgerow import pays.csv --store bank --dry-run
  hedgerow import pays.csv --store bank --on-repeat parallel
  hedgerow import pays.txt --store bank --columns payer,payee,amount,at --delimiter '|' --time-zone Europe/Zurich
  hedgerow import wiki-Vote.txt --store wiki
  hedgerow import kron.wel.zst --store kron --undirected --weights
  hedgerow import 2024.csv 2025.csv.gz --store calls --columns timestamp --atomic --json
  hedgerow import knows.txt --store friends --keys text --labels knows,likes:f64 --label knows
  hedgerow import pays.csv --store bank --labels 'pays:number=key+amount=f64!+at=timestamp'
  hedgerow import pays.jsonl --vertices people.csv --store bank --labels pays:amount=f64 --vertex-properties name=string";

/// `hedgerow import`
#[derive(Clone, Debug, Args)]
#[command(
    after_help = EXAMPLES,
    mut_args(|arg| match arg.get_id().as_str() {
        "keys" => arg.help("What vertex keys are [default: what they are in the store; in a new one number, or what files with named columns \
                            hold if --labels and --weights are not given]"),
        "columns" => arg.value_parser(ColumnsName::with_names).value_name("COLUMNS").help(
            "The meaning of the third and fourth column of an edge list: auto (a weight, then a timestamp), timestamp (a timestamp, \
             then a weight) or topology (ignored); or the names of all columns of files with properties that do not begin with them, \
             separated by commas"
        ),
        "format" => arg.help("The format of the files").value_parser(EnumValueParser::<FormatName>::new()),
        "vertices" => arg.help("Also the vertices in this file, one key per line; or with properties, if its name ends in .jsonl or .ndjson, or \
                                in .csv, .tsv or .psv and it begins with names of columns, or vertices have properties"),
        _ => arg,
    })
)]
pub struct ImportArgs {
    /// The graph files, plain or compressed by gzip or Zstandard, in this order; - is standard
    /// input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// The directory of the store, which is created if it does not exist
    #[arg(long, value_name = "DIR")]
    pub store: PathBuf,
    #[command(flatten)]
    pub target: TargetArgs,
    /// For files with properties: the column where an edge starts [default: source, src or from, or
    /// a name such as payer or from_account, or the first of a CSV file]
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    pub source_column: Option<String>,
    /// The column where an edge ends [default: destination, dst, target or to, or a name such as
    /// payee or to_account, or the second of a CSV file]
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    pub destination_column: Option<String>,
    /// The column with the numbers that distinguish parallel edges, or times that do [default: the
    /// one with their name; without one numbers are drawn]
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    pub number_column: Option<String>,
    /// Leave out these columns of files with properties
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Input")]
    pub ignore: Vec<String>,
    /// The character between the fields of CSV files, or tab [default: the one of comma, tab, ; and
    /// | that the first line has most of]
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter, help_heading = "Input")]
    pub delimiter: Option<u8>,
    /// The time zone of times without an offset, such as Europe/Zurich [default: UTC]
    #[arg(long, value_name = "ZONE", value_parser = Zone::named, help_heading = "Input")]
    pub time_zone: Option<Zone>,
    /// If rows repeat a pair of vertices with other values [default: error for files whose columns
    /// have names, last for edge lists; a label whose edges may be parallel keeps each row]
    #[arg(long, value_enum, value_name = "WHAT")]
    pub on_repeat: Option<OnRepeat>,
    /// Import what was inferred from the files without asking at a terminal
    #[arg(long, short)]
    pub yes: bool,
    /// Show the columns, their types and the first rows, and import nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Edges and vertices per commit [default: a new store is made at once, with most options; else
    /// 1048576, of files with properties 65536, with the engine lsm one per KiB of its memory, from
    /// 4096 to 65536]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub chunk: Option<NonZeroUsize>,
    /// Read all files to their ends first: nothing is imported if they contain any error
    #[arg(long)]
    pub atomic: bool,
    /// Begin with the first line of the files, and give up an interrupted import of others, or of
    /// another program
    #[arg(long)]
    pub anew: bool,
    /// Write a checkpoint at the end, or leave the log as it is
    #[arg(long, value_enum, default_value_t = When::Auto)]
    pub checkpoint: When,
    /// Threads for reading and for commits; by default one per core
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<NonZeroUsize>,
    #[command(flatten)]
    pub format: FormatArgs,
    #[command(flatten)]
    pub memory: MemoryArgs,
    #[command(flatten)]
    pub wait: WaitArgs,
    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,
}

impl ImportArgs {
    /// The store to import into.
    pub fn asked(&self) -> Asked<'_> {
        let ImportArgs { store, target, format, memory, chunk, .. } = self;
        Asked { store, args: target, keys: format.keys, memory, chunk: *chunk }
    }
}

/// The treatment of rows that repeat a pair of vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnRepeat {
    /// Import nothing if two have other values, and show two of them
    Error,
    /// The last row replaces those before it, and an edge that the store has
    Last,
    /// The first row counts, and an edge that the store has stays as it is
    First,
    /// Each row is an edge of its own: a new store's label keeps parallel edges
    Parallel,
}

/// Parses the character between fields.
fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [byte]
            if *byte == b'\t'
                || byte.is_ascii_graphic() && *byte != b'"' && !byte.is_ascii_alphanumeric() =>
        {
            Ok(*byte)
        }
        _ => Err("expected one character, such as ; or |, or tab".into()),
    }
}
