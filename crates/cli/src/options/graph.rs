//! The graph that a command reads: a file, or the graph in a store.

use super::{FormatArgs, FormatName, MemoryArgs, past_time};
use crate::error::CliError;
use crate::options::ColumnsName;
use crate::outputs::FilesInUse;
use crate::stored::args::{AsOfArgs, ReadArgs};
use clap::{ArgGroup, Args};
use hedgerow::ErrorKind;
use std::path::{Path, PathBuf};

/// The size of a large file.
const LARGE: u64 = 64 << 20;

/// The location of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place<'a> {
    /// A graph file.
    File(&'a Path),
    /// The store in this directory.
    Store(&'a Path),
}

impl<'a> Place<'a> {
    /// The file, or the directory.
    pub fn path(self) -> &'a Path {
        match self {
            Place::File(path) | Place::Store(path) => path,
        }
    }
}

/// The graph to read, and the options for reading it.
#[derive(Debug, Args)]
#[command(
    group(ArgGroup::new("input").required(true).args(["path", "graph", "store"])),
    // Options for reading a file have no effect on a store.
    mut_args(|arg| match arg.get_id().as_str() {
        "format" | "vertices" | "keys" | "columns" | "skip_bad_lines" | "undirected" | "unit_weights" => {
            arg.conflicts_with("store")
        }
        _ => arg,
    })
)]
pub struct GraphArgs {
    /// The graph: a file, plain or compressed by gzip or Zstandard; - for standard input; or the
    /// directory of a store
    #[arg(value_name = "GRAPH")]
    path: Option<PathBuf>,
    /// An alias of GRAPH, for a file
    #[arg(long, value_name = "FILE")]
    graph: Option<PathBuf>,
    /// An alias of GRAPH, for the directory of a store
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// Store only: read the newest checkpoint, which is possible while another process writes to
    /// the store
    #[arg(long, conflicts_with = "graph")]
    pub from_checkpoint: bool,
    /// Store only: the state after this commit, which is at or after the newest checkpoint
    #[arg(long, value_name = "COMMIT", conflicts_with_all = ["graph", "from_checkpoint", "as_of_time"])]
    as_of: Option<u64>,
    /// Store only: the newest state at this time, such as yesterday, 12h or 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = past_time, conflicts_with_all = ["graph", "from_checkpoint"])]
    as_of_time: Option<u64>,
    /// Store only: the edges of this label; by default the first
    #[arg(long, value_name = "NAME", conflicts_with = "graph")]
    pub label: Option<String>,
    /// Treat every edge as undirected
    #[arg(long)]
    pub undirected: bool,
    #[command(flatten)]
    pub format: FormatArgs,
    #[command(flatten)]
    pub memory: MemoryArgs,
}

impl GraphArgs {
    /// The location of the graph: a plain path is a store if it is the directory of one. Fails if
    /// an option does not apply there.
    pub fn place(&self) -> Result<Place<'_>, CliError> {
        let place = match (&self.path, &self.graph, &self.store) {
            (.., Some(store)) => Place::Store(store),
            (_, Some(graph), _) => Place::File(graph),
            (Some(path), ..) if is_store(path) => Place::Store(path),
            (Some(path), ..) if path.is_dir() => return Err(CliError::NotAStore(path.clone())),
            (path, ..) => Place::File(path.as_deref().unwrap_or(Path::new(""))),
        };
        match (place, self.only_for_files(), self.only_for_stores()) {
            (Place::File(path), _, Some(option)) => {
                Err(CliError::OnlyForStores { option, path: path.into() })
            }
            (Place::Store(path), Some(option), _) => {
                Err(CliError::OnlyForFiles { option, path: path.into() })
            }
            _ => Ok(place),
        }
    }

    /// Returns true if the graph is a [large file](is_large_file).
    pub fn is_large_file(&self) -> bool {
        self.graph.as_ref().or(self.path.as_ref()).is_some_and(|path| is_large_file(path))
    }

    /// The state of a store to read, with these limits on memory.
    pub fn read(&self, memory: MemoryArgs) -> ReadArgs {
        let &GraphArgs { from_checkpoint, as_of, as_of_time, .. } = self;
        ReadArgs { from_checkpoint, as_of: AsOfArgs { as_of, as_of_time }, memory }
    }

    /// The files that are read: the store, or the graph file with all files that belong to it.
    pub fn in_use(&self, place: Place<'_>) -> FilesInUse {
        match place {
            Place::File(graph) => FilesInUse::read(self.format.files(graph)),
            Place::Store(store) => FilesInUse::read([store]),
        }
    }

    fn only_for_stores(&self) -> Option<&'static str> {
        let given = [
            (self.from_checkpoint, "--from-checkpoint"),
            (self.as_of.is_some(), "--as-of"),
            (self.as_of_time.is_some(), "--as-of-time"),
            (self.label.is_some(), "--label"),
        ];
        first(&given)
    }

    fn only_for_files(&self) -> Option<&'static str> {
        let FormatArgs { format, vertices, keys, columns, skip_bad_lines } = &self.format;
        let given = [
            (*format != FormatName::Auto, "--format"),
            (vertices.is_some(), "--vertices"),
            (keys.is_some(), "--keys"),
            (*columns != ColumnsName::Auto, "--columns"),
            (*skip_bad_lines, "--skip-bad-lines"),
            (self.undirected, "--undirected"),
        ];
        first(&given)
    }
}

fn first(given: &[(bool, &'static str)]) -> Option<&'static str> {
    given.iter().find(|(is_given, _)| *is_given).map(|(_, option)| *option)
}

/// Returns true if this is a file of at least 64 MiB.
pub fn is_large_file(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| file.is_file() && file.len() >= LARGE)
}

/// Returns true if this is the directory of a store, damaged or not.
fn is_store(path: &Path) -> bool {
    let is_missing = |error: &hedgerow::Error| error.kind() == ErrorKind::NotFound;
    path.is_dir() && !hedgerow::store::manifest(path).is_err_and(|error| is_missing(&error))
}
