//! What can go wrong, and the exit code for it.

mod stored;

pub use stored::StoredError;

use hedgerow::ErrorKind;
use hedgerow::kernels::MemoryError;
use hedgerow_driver::{BenchError, Failure};
use hedgerow_formats::{FormatError, GraphFormat, Problem};
use std::io;
use std::path::{Path, PathBuf};

/// A command failed.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// A graph file could not be read.
    #[error(transparent)]
    Input(#[from] FormatError),
    /// A key is not of the kind that the graph has.
    #[error("{option} {key:?}: the keys of this graph are {expected}")]
    WrongKey {
        /// Where it stands on the command line.
        option: &'static str,
        /// The key as given.
        key: String,
        /// What keys are.
        expected: &'static str,
    },
    /// A source does not exist.
    #[error("there is no vertex {key} in {}: name one that is in the file, or leave --source away", graph.display())]
    NoSuchVertex {
        /// The key as given.
        key: String,
        /// The graph file.
        graph: PathBuf,
    },
    /// There is nothing to start from.
    #[error("{}: the graph has no vertex to start from", .0.display())]
    EmptyGraph(PathBuf),
    /// An edge has no weight, and the kernel needs one.
    #[error(
        "{}: the edge from {from} to {to} has no weight: add a column of weights, or give --unit-weights",
        graph.display()
    )]
    NoWeight {
        /// The graph file.
        graph: PathBuf,
        /// The key where the edge starts.
        from: String,
        /// The key where it ends.
        to: String,
    },
    /// There are no shortest paths over such an edge.
    #[error(
        "{}: the edge from {from} to {to} has the weight {weight}, but weights of shortest paths must be 0 or more",
        graph.display()
    )]
    NegativeWeight {
        /// The graph file.
        graph: PathBuf,
        /// The key where the edge starts.
        from: String,
        /// The key where it ends.
        to: String,
        /// Its weight.
        weight: f64,
    },
    /// The options of a generated graph contradict each other.
    #[error(transparent)]
    Kronecker(#[from] hedgerow_formats::KroneckerError),
    /// The same of a uniform graph.
    #[error(transparent)]
    Uniform(#[from] hedgerow_formats::UniformError),
    /// The same of a stream.
    #[error(transparent)]
    Stream(#[from] hedgerow_formats::StreamError),
    /// A result would take the place of what it is computed from, or of another result.
    #[error("{option} {}: the command reads or writes this file already; name another one", path.display())]
    SameFile {
        /// The option that names the file.
        option: &'static str,
        /// The file.
        path: PathBuf,
    },
    /// A result would lie among the files of a store, which are its own.
    #[error("{option} {}: this directory is a store, in which all files are its own; name another one", path.display())]
    InStore {
        /// The option that names the file.
        option: &'static str,
        /// The file.
        path: PathBuf,
    },
    /// Weights were asked for in a format that lacks them.
    #[error(
        "{}: this format has no place for weights; let the name end in .wel, .wsg, .mtx, .e, .txt, .tsv or .csv, or \
         leave --weights away",
        .0.display()
    )]
    NoPlaceForWeights(PathBuf),
    /// A stream has columns that a format lacks.
    #[error(
        "{}: a stream is an edge list with a weight and a timestamp; let its name end in .txt, .tsv or .csv",
        .0.display()
    )]
    StreamFormat(PathBuf),
    /// The store, or a kernel on it, refused.
    #[error(transparent)]
    Graph(#[from] hedgerow::Error),
    /// Something that is special to graphs in stores.
    #[error(transparent)]
    Stored(#[from] StoredError),
    /// The benchmark gave no figures.
    #[error(transparent)]
    Bench(BenchError),
    /// A result or a generated graph could not be written.
    #[error("{0}")]
    Output(#[source] FormatError),
    /// A key or a weight has no place in the format of an output.
    #[error("{cause}; {formats}")]
    NoPlace {
        /// What has no place, and why.
        cause: FormatError,
        /// Which formats have a place for it.
        formats: &'static str,
    },
    /// Standard output could not be written.
    #[error("cannot write to standard output: {0}")]
    Stdout(#[source] io::Error),
    /// Threads could not be started.
    #[error("the worker threads could not be started: {0}; ask for fewer with --threads")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// The demo could not start its threads.
    #[error("a thread could not be started: {0}; ask for fewer with --writers and --readers")]
    DemoThreads(io::Error),
    /// Ctrl-C cannot be listened to.
    #[error("cannot listen to Ctrl-C: {0}")]
    Signals(#[from] ctrlc::Error),
    /// The store and the static graph disagree.
    #[error("{0}; this is a defect of hedgerow, please report it")]
    Wrong(String),
    /// The user pressed Ctrl-C.
    #[error("interrupted; nothing was written")]
    Interrupted,
}

impl CliError {
    /// What the process ends with: see `hedgerow --help`.
    pub fn exit_code(&self) -> u8 {
        match self {
            CliError::Output(_)
            | CliError::NoPlace { .. }
            | CliError::Stdout(_)
            | CliError::Threads(_)
            | CliError::DemoThreads(_)
            | CliError::Signals(_)
            | CliError::Wrong(_) => 1,
            CliError::WrongKey { .. }
            | CliError::Kronecker(_)
            | CliError::Uniform(_)
            | CliError::Stream(_)
            | CliError::StreamFormat(_)
            | CliError::SameFile { .. }
            | CliError::InStore { .. }
            | CliError::NoPlaceForWeights(_) => 2,
            CliError::Input(_)
            | CliError::NoSuchVertex { .. }
            | CliError::EmptyGraph(_)
            | CliError::NoWeight { .. }
            | CliError::NegativeWeight { .. } => 3,
            CliError::Graph(error) => graph_exit_code(error),
            CliError::Bench(error) => bench_exit_code(error),
            CliError::Stored(error) => error.exit_code(),
            CliError::Interrupted => 130,
        }
    }

    /// What to do about it, where the message does not say.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            CliError::Output(FormatError::Io { .. }) => {
                Some("look at the folder, its permissions and the free space")
            }
            CliError::Input(FormatError::BadProperty(bad)) if !bad.undeclared.is_empty() => {
                Some("`hedgerow schema DIR` prints what a store has declared")
            }
            CliError::Input(FormatError::BadLine(bad)) => match bad.problem {
                Problem::NotAWeight | Problem::NotATimestamp | Problem::TooManyColumns
                    if has_name_of_csv(&bad.path) =>
                {
                    Some(
                        "a file with a header of properties is imported with --format properties-csv, and --labels declares them",
                    )
                }
                Problem::NotANumber => Some("that is --keys text"),
                Problem::TooManyColumns => Some("that is --format adjacency"),
                _ => None,
            },
            CliError::Stored(error) => error.hint(),
            CliError::Graph(error) if error.kind() == ErrorKind::InvalidInput => {
                Some("with --keys number, keys of any size are mapped to dense ids")
            }
            CliError::Graph(error) if matches!(error.memory(), Some(MemoryError::SparseIds { .. })) => {
                Some("that is --keys number")
            }
            CliError::Graph(error) if error.memory_limit().is_some() => Some(MEMORY_LIMIT_HINT),
            CliError::Bench(BenchError::StoreFolder { .. }) => Some("name another directory with --store"),
            _ => None,
        }
    }

    /// Whether whoever read standard output has stopped reading: no error, `head` does so.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, CliError::Stdout(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

fn has_name_of_csv(path: &Path) -> bool {
    GraphFormat::of_name(path) == Some(GraphFormat::Csv)
}

/// What to do if the memory limit would be exceeded.
const MEMORY_LIMIT_HINT: &str = "here that is --memory-limit: give more, or leave it away";

fn graph_exit_code(error: &hedgerow::Error) -> u8 {
    match error.kind() {
        // All that the input decides here is its keys: they are beyond the vertex ids.
        ErrorKind::Capacity | ErrorKind::Kernel | ErrorKind::InvalidInput => 4,
        _ => 1,
    }
}

fn bench_exit_code(error: &BenchError) -> u8 {
    match error {
        BenchError::UnknownEngine(_)
        | BenchError::UnknownWorkload(_)
        | BenchError::ImpossibleDataSet { .. }
        | BenchError::Kronecker(_) => 2,
        BenchError::UnknownDataSet(_)
        | BenchError::NoEdges(_)
        | BenchError::TooManyVertices(_)
        | BenchError::Input(_) => 3,
        BenchError::Workload { failure: Failure::Graph(error), .. } => graph_exit_code(error),
        BenchError::StoreFolder { .. } | BenchError::Workload { .. } => 1,
        BenchError::Cancelled => CliError::Interrupted.exit_code(),
    }
}

impl From<BenchError> for CliError {
    /// An interruption is the same error, whatever was interrupted.
    fn from(error: BenchError) -> Self {
        match error {
            BenchError::Cancelled => CliError::Interrupted,
            error => CliError::Bench(error),
        }
    }
}
