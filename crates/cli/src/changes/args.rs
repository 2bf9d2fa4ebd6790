//! Options of `hedgerow log`, `changes`, `diff` and `erase`.

use crate::kafka::{SCHEME, TopicAddress};
use crate::objects::VerticesArgs;
use crate::options::{MemoryArgs, at_least_one, past_time, result_file};
use crate::stored::args::StorePlace;
use crate::stored::wait::WaitArgs;
use clap::{Args, Subcommand};
use hedgerow::ChangeToken;
use std::num::NonZeroUsize;
use std::path::PathBuf;

const LOG_EXAMPLES: &str = "\
Examples:
  hedgerow log bank --limit 5
  hedgerow log bank --since yesterday
  hedgerow log bank --since 2026-01-01 --until 2026-02-01 --oldest-first --json";

const CHANGES_EXAMPLES: &str = "\
Examples:
  hedgerow changes bank --follow
  hedgerow changes bank --from yesterday --to 12h --label pays
  hedgerow changes bank --from start --follow --json
  hedgerow changes bank --from 1200 --to 1300 --csv > changes.csv
  hedgerow changes bank --from start --to kafka://localhost:9092/bank --follow";

const DIFF_EXAMPLES: &str = "\
Examples:
  hedgerow diff bank yesterday
  hedgerow diff bank 1200 1300 --label pays --output pays.csv
  hedgerow diff bank checkpoint --count
  hedgerow diff backup --with bank --json";

const ERASE_EXAMPLES: &str = "\
Examples:
  hedgerow erase vertex anna bank
  hedgerow erase vertex anna ben bank --yes --json
  hedgerow erase vertex --file gone.txt --store bank --yes";

/// The arguments of `erase vertex`, whose last one is the store.
const ERASE_USAGE: &str = "hedgerow erase vertex [OPTIONS] [KEY]... <DIR>";

/// `hedgerow log`
#[derive(Debug, Args)]
#[command(after_help = LOG_EXAMPLES)]
pub struct LogArgs {
    #[command(flatten)]
    pub place: StorePlace,
    /// List at most N commits; by default 20 at a terminal, else all
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub limit: Option<NonZeroUsize>,
    /// List only commits made at this time or later, such as 12h, yesterday or
    /// 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = past_time)]
    pub since: Option<u64>,
    /// List only commits made at this time or earlier; a date is its midnight, in UTC
    #[arg(long, value_name = "TIME", value_parser = past_time)]
    pub until: Option<u64>,
    /// List the oldest commit first
    #[arg(long)]
    pub oldest_first: bool,
    /// Print the commits as JSON
    #[arg(long)]
    pub json: bool,
}

/// `hedgerow changes`
#[derive(Debug, Args)]
#[command(after_help = CHANGES_EXAMPLES)]
pub struct ChangesArgs {
    #[command(flatten)]
    pub place: StorePlace,
    /// Begin with the changes after this commit, after a time such as yesterday or 2026-01-31, or
    /// after a token of an earlier output; start for the whole graph, now for what is to come
    /// [default: now with --follow, else the oldest commit of the log]
    #[arg(long, value_name = "A", value_parser = position)]
    pub from: Option<Position>,
    /// End with this commit, or with the last one at this time; or, as kafka://HOST:PORT/TOPIC,
    /// write the changes to this topic of Kafka, after those that it has of the store
    #[arg(long, value_name = "B", value_parser = to)]
    pub to: Option<To>,
    /// Wait for more changes, until Ctrl-C or SIGTERM; another process may write them
    #[arg(long, short)]
    pub follow: bool,
    /// Print only changes of edges of this label; can be repeated
    #[arg(long, value_name = "NAME")]
    pub label: Vec<String>,
    /// Print only changes of this vertex and of its edges; can be repeated
    #[arg(long, value_name = "KEY")]
    pub vertex: Vec<String>,
    /// Print commits as soon as they are in the log, even if a loss of power can still remove them
    #[arg(long)]
    pub undurable: bool,
    #[command(flatten)]
    pub memory: MemoryArgs,
    /// Print the changes as CSV
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// Print each change as a line of JSON, and lines with tokens, at which a later call goes on
    #[arg(long)]
    pub json: bool,
}

/// The end of the changes that are printed, or the topic to which all are written.
#[derive(Clone, Debug)]
pub enum To {
    State(StateArg),
    Topic(TopicAddress),
}

/// A place among the changes of a store.
#[derive(Clone, Copy, Debug)]
pub enum Position {
    /// Before everything: the whole graph comes first.
    Start,
    /// A state.
    State(StateArg),
    /// The end of an earlier output.
    Token(ChangeToken),
}

/// Parses a place among the changes.
fn position(text: &str) -> Result<Position, String> {
    if text == "start" {
        return Ok(Position::Start);
    }
    let token = || text.parse().map(Position::Token);
    token().or_else(|_| end(text).map(Position::State)).map_err(|_| {
        "expected a commit, `start`, `now`, a time such as 12h, yesterday, 2026-01-31 or 2026-01-31T12:00:00Z, or a token".to_owned()
    })
}

/// Parses the end of the changes, or a topic.
fn to(text: &str) -> Result<To, String> {
    match text.starts_with(SCHEME) {
        true => text.parse().map(To::Topic),
        false => end(text).map(To::State),
    }
}

/// Parses the last state of which changes are printed.
fn end(text: &str) -> Result<StateArg, String> {
    match state(text) {
        Ok(StateArg::Checkpoint) | Err(_) => Err(
            "expected a commit, `now`, or a time such as 12h, yesterday, 2026-01-31 or 2026-01-31T12:00:00Z"
                .to_owned(),
        ),
        state => state,
    }
}

/// `hedgerow diff`
#[derive(Debug, Args)]
#[command(after_help = DIFF_EXAMPLES)]
pub struct DiffArgs {
    /// The directory of the store
    #[arg(value_name = "STORE")]
    pub store: PathBuf,
    /// The state before: a commit, a time such as yesterday or 2026-01-31, which is its midnight,
    /// checkpoint for the newest checkpoint, or newest
    #[arg(value_name = "A", value_parser = state, required_unless_present = "with")]
    pub from: Option<StateArg>,
    /// The state afterwards, in the same forms [default: newest]
    #[arg(value_name = "B", value_parser = state)]
    pub to: Option<StateArg>,
    /// Compare with this store, such as a copy: A is the state of STORE, B that of OTHER, by
    /// default the newest of each
    #[arg(long, value_name = "OTHER")]
    pub with: Option<PathBuf>,
    /// Compare only the edges of this label, and no vertices
    #[arg(long, value_name = "NAME")]
    pub label: Option<String>,
    /// Print only the numbers of differences
    #[arg(long, conflicts_with_all = ["limit", "output"])]
    pub count: bool,
    /// Print or write at most N differences
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub limit: Option<NonZeroUsize>,
    /// Write the differences to this file: as CSV (.csv), a JSON array (.json) or JSON lines
    /// (.jsonl, .ndjson) by its name, else as lines; - is standard output
    #[arg(long, value_name = "FILE", value_parser = result_file())]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub memory: MemoryArgs,
    /// Print the differences as JSON; with --output their numbers
    #[arg(long)]
    pub json: bool,
}

/// A state of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateArg {
    /// The newest state.
    Newest,
    /// The newest checkpoint.
    Checkpoint,
    /// The state after a commit.
    Commit(u64),
    /// The state at a time, in microseconds since 1970.
    Time(u64),
}

/// Parses a state.
fn state(text: &str) -> Result<StateArg, String> {
    match (text, text.parse()) {
        ("newest" | "now", _) => Ok(StateArg::Newest),
        ("checkpoint", _) => Ok(StateArg::Checkpoint),
        (_, Ok(commit)) => Ok(StateArg::Commit(commit)),
        _ => past_time(text).map(StateArg::Time).map_err(|_| {
            "expected a commit, `newest`, `checkpoint`, or a time such as 12h, yesterday, 2026-01-31 or 2026-01-31T12:00:00Z".to_owned()
        }),
    }
}

/// `hedgerow erase`
#[derive(Debug, Args)]
#[command(after_help = ERASE_EXAMPLES)]
pub struct EraseArgs {
    /// The object to erase.
    #[command(subcommand)]
    pub object: EraseObject,
}

/// The object to erase.
#[derive(Debug, Subcommand)]
pub enum EraseObject {
    /// Delete vertices and all their edges, rewrite the files that had them, and search all files
    /// for traces
    #[command(after_help = ERASE_EXAMPLES, override_usage = ERASE_USAGE)]
    Vertex(EraseVertexArgs),
}

/// `hedgerow erase vertex`
#[derive(Debug, Args)]
pub struct EraseVertexArgs {
    #[command(flatten)]
    pub vertices: VerticesArgs,
    /// The directory of the store, which is otherwise the last argument
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
    /// Do not ask; needed where there is no terminal to ask at
    #[arg(long, short)]
    pub yes: bool,
    #[command(flatten)]
    pub memory: MemoryArgs,
    #[command(flatten)]
    pub wait: WaitArgs,
    /// Print what was erased and searched as JSON
    #[arg(long)]
    pub json: bool,
}

impl EraseObject {
    /// Returns true if the result is printed as JSON.
    pub fn json(&self) -> bool {
        let EraseObject::Vertex(args) = self;
        args.json
    }
}
