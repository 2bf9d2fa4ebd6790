//! Options of `hedgerow neighbors`, `get`, `put` and `delete`.
//!
//! Each command has two parts ([`At`]): the object, and the store, `P`. On a command line `P` names
//! the store and how to open it ([`ReadPlace`], [`WritePlace`]); in `hedgerow shell`, which has its
//! store open, `P` has no options.

use crate::error::CliError;
use crate::keys;
use crate::options::{At, STANDARD_INPUT, at_least_one, edge_time};
use crate::stored::args::{ReadArgs, StorePlace, TimesArgs, WriteArgs};
use clap::{Args, Subcommand, ValueEnum};
use hedgerow::{Direction, Key, KeyKind, Newest};
use hedgerow_formats::{Batch, GraphReader, ReadOptions, VertexKey};
use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

const NEIGHBORS_EXAMPLES: &str = "\
Examples:
  hedgerow neighbors 30 wiki
  hedgerow neighbors anna friends --label knows --direction in --limit 10 --json
  hedgerow neighbors anna friends --label pays --newest 5 --since 2026-01-31T12:00:00Z
  hedgerow neighbors 30 wiki --newest 10 --by commit
  hedgerow neighbors anna bank --label pays --min-key 1000 --max-key 1999";

const PATH_EXAMPLES: &str = "\
Examples:
  hedgerow path 30 3 wiki
  hedgerow path anna ben friends --label knows --max 4 --count 3
  hedgerow path anna ben bank --label pays --weight amount --json";

const GET_EXAMPLES: &str = "\
Examples:
  hedgerow get vertex 30 wiki
  hedgerow get edge 30 3 wiki
  hedgerow get edge anna ben bank --label pays --key 1001";

const PUT_EXAMPLES: &str = "\
Examples:
  hedgerow put vertex anna friends --property age=31
  hedgerow put edge anna ben friends --label knows --value 0.5
  hedgerow put edge anna ben friends --label pays --property amount=9.5
  hedgerow put edge anna ben bank --label pays --key 1001 --property amount=9.5";

const DELETE_EXAMPLES: &str = "\
Examples:
  hedgerow delete edge anna ben friends --label knows
  hedgerow delete edge anna ben friends --label pays --only-if version=3
  hedgerow delete vertex anna ben friends
  hedgerow delete vertex --file gone.txt --store friends";

/// The arguments of `delete vertex`, whose last one is the store.
const DELETE_VERTICES_USAGE: &str = "hedgerow delete vertex [OPTIONS] [KEY]... <DIR>";

/// A store to read.
#[derive(Debug, Args)]
pub struct ReadPlace {
    #[command(flatten)]
    pub store: StorePlace,
    #[command(flatten)]
    pub read: ReadArgs,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// A store to write to.
#[derive(Debug, Args)]
pub struct WritePlace {
    #[command(flatten)]
    pub store: StorePlace,
    #[command(flatten)]
    pub write: WriteArgs,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// `hedgerow neighbors`
#[derive(Debug, Args)]
#[command(after_help = NEIGHBORS_EXAMPLES)]
pub struct NeighborsArgs {
    #[command(flatten)]
    pub neighbors: At<NeighborhoodArgs, ReadPlace>,
}

/// The neighbors of a vertex.
#[derive(Debug, Args)]
pub struct NeighborhoodArgs {
    /// The vertex
    #[arg(value_name = "KEY", allow_negative_numbers = true)]
    pub key: String,
    /// The label of the edges; by default the first
    #[arg(long, value_name = "NAME")]
    pub label: Option<String>,
    /// Use the edges of every label, and print the label before the neighbor
    #[arg(long, conflicts_with = "label")]
    pub all_labels: bool,
    /// Use the edges that start at the vertex, or those that end there
    #[arg(long, value_enum, default_value_t = DirectionName::Out)]
    pub direction: DirectionName,
    /// Print at most N neighbors
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub limit: Option<NonZeroUsize>,
    #[command(flatten)]
    pub newest: NewestArgs,
    #[command(flatten)]
    pub keys: KeyRangeArgs,
    #[command(flatten)]
    pub times: TimesArgs,
}

/// Neighbors by the time of the edges, the newest first.
#[derive(Debug, Args)]
pub struct NewestArgs {
    /// Print at most N neighbors, the newest first
    #[arg(long, help_heading = "Newest first", value_name = "N", value_parser = at_least_one, conflicts_with_all = ["limit", "all_labels"])]
    newest: Option<NonZeroUsize>,
    /// Only edges of this time or later: for timestamps a time such as 7d, yesterday or
    /// 2026-01-31T12:00:00Z, else the number itself
    #[arg(long, help_heading = "Newest first", value_name = "TIME", value_parser = edge_time, allow_negative_numbers = true, conflicts_with = "all_labels")]
    since: Option<i128>,
    /// Only edges of this time or earlier; a date is its midnight, in UTC
    #[arg(long, help_heading = "Newest first", value_name = "TIME", value_parser = edge_time, allow_negative_numbers = true, conflicts_with = "all_labels")]
    until: Option<i128>,
    /// The property that is the time, of type timestamp, i64 or u64; by default the first
    /// timestamp, or the integer value of the edge, or the key of parallel edges. In a store made
    /// with engine tel also commit: the commit that put the edge or changed it, which is the
    /// default for edges without a time
    #[arg(long, help_heading = "Newest first", value_name = "PROPERTY", conflicts_with = "all_labels")]
    by: Option<String>,
}

impl NewestArgs {
    /// Returns true if any of the options is given.
    pub fn is_given(&self) -> bool {
        let NewestArgs { newest, since, until, by } = self;
        newest.is_some() || since.is_some() || until.is_some() || by.is_some()
    }

    /// The name that `--by` gives.
    pub fn by(&self) -> Option<&str> {
        self.by.as_deref()
    }

    /// The newest edges within the bounds, by the time that their label has.
    pub fn wanted(&self) -> Newest {
        Newest::most(self.newest.map_or(usize::MAX, NonZeroUsize::get))
            .since(self.since.unwrap_or(i128::MIN))
            .until(self.until.unwrap_or(i128::MAX))
    }
}

/// Parallel edges by their keys.
#[derive(Clone, Copy, Debug, Args)]
pub struct KeyRangeArgs {
    /// Only edges with this key or a higher one, if the label has parallel edges
    #[arg(long, help_heading = "Parallel edges", value_name = "NUMBER", conflicts_with = "all_labels")]
    min_key: Option<u64>,
    /// Only edges with this key or a lower one
    #[arg(long, help_heading = "Parallel edges", value_name = "NUMBER", conflicts_with = "all_labels")]
    max_key: Option<u64>,
}

impl KeyRangeArgs {
    /// The requested keys; `None` for all.
    pub fn wanted(self) -> Option<RangeInclusive<u64>> {
        let KeyRangeArgs { min_key, max_key } = self;
        let is_said = min_key.is_some() || max_key.is_some();
        is_said.then(|| min_key.unwrap_or(0)..=max_key.unwrap_or(u64::MAX))
    }
}

/// The direction of edges at a vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DirectionName {
    /// The edges start at the vertex
    Out,
    /// The edges end at the vertex; in a directed graph only if the store keeps in-neighbors
    In,
}

impl DirectionName {
    /// The direction.
    pub fn direction(self) -> Direction {
        match self {
            DirectionName::Out => Direction::Out,
            DirectionName::In => Direction::In,
        }
    }
}

/// `hedgerow path`
#[derive(Debug, Args)]
#[command(after_help = PATH_EXAMPLES)]
pub struct PathArgs {
    #[command(flatten)]
    pub path: At<PathBetweenArgs, ReadPlace>,
}

/// The paths between two vertices.
#[derive(Debug, Args)]
pub struct PathBetweenArgs {
    /// The vertex where the paths start
    #[arg(value_name = "FROM", allow_negative_numbers = true)]
    pub from: String,
    /// The vertex where the paths end
    #[arg(value_name = "TO", allow_negative_numbers = true)]
    pub to: String,
    /// The label of the edges; by default the first
    #[arg(long, value_name = "NAME")]
    pub label: Option<String>,
    /// The shortest path has the least sum of this property, or, with value, of the values of the
    /// edges; edges without it are not followed [default: the fewest edges]
    #[arg(long, value_name = "PROPERTY")]
    pub weight: Option<String>,
    /// No path is longer than this: in edges, or in the sum of --weight
    #[arg(long, value_name = "LENGTH", value_parser = length, allow_negative_numbers = true)]
    pub max: Option<f64>,
    /// Print up to N paths, the shortest first; none visits a vertex twice
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub count: Option<NonZeroUsize>,
}

/// Parses the length of a path.
fn length(text: &str) -> Result<f64, &'static str> {
    let length = text.parse().ok().filter(|length: &f64| *length >= 0.0);
    length.ok_or("expected a number that is not negative")
}

/// `hedgerow get`
#[derive(Debug, Args)]
#[command(after_help = GET_EXAMPLES)]
pub struct GetArgs {
    /// The object to print.
    #[command(subcommand)]
    pub object: GetObject<ReadPlace>,
}

/// The object to print.
#[derive(Debug, Subcommand)]
pub enum GetObject<P: Args> {
    /// Print the degrees of a vertex, and its properties
    #[command(after_help = GET_EXAMPLES)]
    Vertex(At<Shown<VertexArgs>, P>),
    /// Print an edge and its value, or its properties; all parallel ones if there is no --key
    #[command(after_help = GET_EXAMPLES)]
    Edge(At<Shown<EdgeArgs>, P>),
}

/// A printed object, and the form of its times.
#[derive(Debug, Args)]
pub struct Shown<O: Args> {
    #[command(flatten)]
    pub object: O,
    #[command(flatten)]
    pub times: TimesArgs,
}

/// `hedgerow put`
#[derive(Debug, Args)]
#[command(after_help = PUT_EXAMPLES)]
pub struct PutArgs {
    /// The object to put.
    #[command(subcommand)]
    pub object: PutObject<WritePlace>,
}

/// The object to put.
#[derive(Debug, Subcommand)]
pub enum PutObject<P: Args> {
    /// Make a vertex exist, and set its properties
    #[command(after_help = PUT_EXAMPLES)]
    Vertex(At<PutVertexArgs, P>),
    /// Put an edge, or change the value or the properties of an existing one; its ends are created
    /// if they do not exist
    #[command(after_help = PUT_EXAMPLES)]
    Edge(At<PutEdgeArgs, P>),
}

/// The vertex of `put vertex`.
#[derive(Debug, Args)]
pub struct PutVertexArgs {
    #[command(flatten)]
    pub vertex: VertexArgs,
    /// Set a property of the vertex; can be given several times
    #[arg(long, value_name = "NAME=VALUE")]
    pub property: Vec<String>,
}

/// The edge of `put edge`.
#[derive(Debug, Args)]
pub struct PutEdgeArgs {
    #[command(flatten)]
    pub edge: EdgeArgs,
    /// The value of the edge, required if the label carries values
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub value: Option<String>,
    /// Set a property of the edge, if edges of the label have records; can be given several times
    #[arg(long, value_name = "NAME=VALUE")]
    pub property: Vec<String>,
    #[command(flatten)]
    pub conditions: ConditionArgs,
}

/// The condition on which an edge is changed.
#[derive(Debug, Args)]
pub struct ConditionArgs {
    /// Change nothing unless the edge exists and its property has this value; can be given several
    /// times
    #[arg(long, value_name = "NAME=VALUE")]
    pub only_if: Vec<String>,
}

/// `hedgerow delete`
#[derive(Debug, Args)]
#[command(after_help = DELETE_EXAMPLES)]
pub struct DeleteArgs {
    /// The object to delete.
    #[command(subcommand)]
    pub object: DeleteObject<WritePlace, VerticesPlace>,
}

/// The object to delete.
#[derive(Debug, Subcommand)]
pub enum DeleteObject<P: Args, V: Args = P> {
    /// Delete vertices and all their edges, of every label, as one commit; in a directed store
    /// without in-neighbors, this reads all edges once, to find those that end there
    #[command(after_help = DELETE_EXAMPLES)]
    Vertex(At<VerticesArgs, V>),
    /// Delete an edge, or all parallel ones if there is no --key; its ends stay
    #[command(after_help = DELETE_EXAMPLES)]
    Edge(At<DeleteEdgeArgs, P>),
}

/// Vertices by their keys.
#[derive(Debug, Args)]
pub struct VerticesArgs {
    /// The vertices
    #[arg(value_name = "KEY", allow_negative_numbers = true)]
    keys: Vec<String>,
    /// Also the vertices in this file, one key per line, plain or compressed; - is standard input
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
}

/// The store of several vertices: the argument after their keys.
#[derive(Debug, Args)]
#[command(override_usage = DELETE_VERTICES_USAGE)]
pub struct VerticesPlace {
    /// The directory of the store, which is otherwise the last argument
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    #[command(flatten)]
    pub write: WriteArgs,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// The edge of `delete edge`.
#[derive(Debug, Args)]
pub struct DeleteEdgeArgs {
    #[command(flatten)]
    pub edge: EdgeArgs,
    #[command(flatten)]
    pub conditions: ConditionArgs,
}

/// A vertex.
#[derive(Debug, Args)]
pub struct VertexArgs {
    /// The vertex
    #[arg(value_name = "KEY", allow_negative_numbers = true)]
    pub key: String,
}

/// An edge.
#[derive(Debug, Args)]
pub struct EdgeArgs {
    /// The vertex where the edge starts
    #[arg(value_name = "FROM", allow_negative_numbers = true)]
    pub from: String,
    /// The vertex where the edge ends
    #[arg(value_name = "TO", allow_negative_numbers = true)]
    pub to: String,
    /// The label of the edge; by default the first
    #[arg(long, value_name = "NAME")]
    pub label: Option<String>,
    /// The key of the edge, if the label has parallel edges
    #[arg(long, value_name = "NUMBER")]
    pub key: Option<u64>,
}

impl<P: Args> GetObject<P> {
    /// The store.
    pub fn place(&self) -> &P {
        match self {
            GetObject::Vertex(args) => &args.place,
            GetObject::Edge(args) => &args.place,
        }
    }
}

impl<P: Args> PutObject<P> {
    /// The store.
    pub fn place(&self) -> &P {
        match self {
            PutObject::Vertex(args) => &args.place,
            PutObject::Edge(args) => &args.place,
        }
    }
}

impl DeleteObject<WritePlace, VerticesPlace> {
    /// Returns true if the result is printed as JSON.
    pub fn json(&self) -> bool {
        match self {
            DeleteObject::Vertex(args) => args.place.json,
            DeleteObject::Edge(args) => args.place.json,
        }
    }
}

impl VerticesArgs {
    /// The keys of a command line, without the store, and the store: the last argument, unless
    /// `--store` names it.
    pub fn with_store<'a>(&'a self, store: Option<&'a Path>) -> Result<(&'a [String], &'a Path), CliError> {
        let (keys, store) = match (store, self.keys.split_last()) {
            (Some(store), _) => (&*self.keys, store),
            (None, Some((last, keys))) => (keys, Path::new(last)),
            (None, None) => return Err(missing("<DIR>, the directory of the store")),
        };
        match keys.is_empty() && self.file.is_none() {
            true => {
                Err(missing("<KEY>, a vertex, or --file: the last argument is the directory of the store"))
            }
            false => Ok((keys, store)),
        }
    }

    /// The keys of a line of a shell, which has its store open.
    pub fn in_shell(&self) -> Result<&[String], CliError> {
        match (self.keys.is_empty(), &self.file) {
            (true, None) => Err(missing("<KEY>, a vertex, or --file")),
            (_, Some(file)) if file == Path::new(STANDARD_INPUT) => Err(CliError::Usage(
                "--file -: standard input has the lines of the shell; name a file".to_owned(),
            )),
            _ => Ok(&self.keys),
        }
    }

    /// Parses the keys, and those in the file, each once.
    pub fn parse(&self, keys: &[String], kind: KeyKind) -> Result<Vec<Key>, CliError> {
        let mut parsed = Vec::new();
        for key in keys {
            parsed.push(keys::parse("KEY", key, kind)?);
        }
        if let Some(file) = &self.file {
            match kind {
                KeyKind::String => parsed.extend(keys_in::<Box<str>>(file)?.map(Key::Text)),
                KeyKind::Number | KeyKind::Dense => parsed.extend(keys_in::<u64>(file)?.map(Key::Number)),
            }
        }
        let mut seen = HashSet::new();
        parsed.retain(|key| seen.insert(key.clone()));
        Ok(parsed)
    }
}

impl VerticesPlace {
    /// The directory that `--store` names.
    pub fn store(&self) -> Option<&Path> {
        self.store.as_deref()
    }
}

fn missing(what: &str) -> CliError {
    CliError::Usage(format!("the following required arguments were not provided: {what}"))
}

/// Reads a file with a key per line.
fn keys_in<K: VertexKey>(file: &Path) -> Result<impl Iterator<Item = K>, CliError> {
    let file = if file == Path::new(STANDARD_INPUT) { Path::new("/dev/stdin") } else { file };
    let mut reader = GraphReader::<K>::open_vertices(file, ReadOptions::default())?;
    let (mut batch, mut keys) = (Batch::new(), Vec::new());
    while reader.read_batch(&mut batch)? {
        keys.append(&mut batch.vertices);
    }
    Ok(keys.into_iter())
}
