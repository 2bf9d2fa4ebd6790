//! The errors of commands, and their exit codes.

mod hints;
mod stored;

pub use stored::StoredError;

use crate::run::EngineName;
use crate::signal::Signal;
use crate::text::counted;
use hedgerow::ErrorKind;
use hedgerow_driver::{BenchError, Failure};
use hedgerow_formats::{FormatError, STANDARD_OUTPUT, StaticGraphError};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::{io, iter};

/// A command failed.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// A graph file could not be read.
    #[error(transparent)]
    Input(#[from] FormatError),
    /// A key is not of the kind that the graph has.
    #[error("{option} {key:?}: the keys of this graph are {expected}")]
    WrongKey {
        /// The option or argument.
        option: &'static str,
        /// The key as given.
        key: String,
        /// The kind of key expected.
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
    /// The graph has no vertex to start from.
    #[error("{}: the graph has no vertex to start from", .0.display())]
    EmptyGraph(PathBuf),
    /// An edge has no weight, but the kernel needs one.
    #[error(
        "{}: the edge from {from} to {to} has no weight: add a column of weights, or give --unit-weights",
        graph.display()
    )]
    NoWeight {
        /// The graph file.
        graph: PathBuf,
        /// The key where the edge starts.
        from: String,
        /// The key where the edge ends.
        to: String,
    },
    /// An edge has no weight, or a negative one, for which the result of a kernel is undefined.
    #[error("{}: the edge from {from} to {to} {fault}", graph.display())]
    BadWeight {
        /// The graph file, or the store.
        graph: PathBuf,
        /// The key where the edge starts.
        from: String,
        /// The key where the edge ends.
        to: String,
        /// The fault of its weight.
        fault: String,
    },
    /// The options of a generated graph contradict each other.
    #[error(transparent)]
    Kronecker(#[from] hedgerow_formats::KroneckerError),
    /// The options of a uniform graph contradict each other.
    #[error(transparent)]
    Uniform(#[from] hedgerow_formats::UniformError),
    /// The options of a stream contradict each other.
    #[error(transparent)]
    Stream(#[from] hedgerow_formats::ChangeStreamError),
    /// A result would overwrite an input, or another result.
    #[error("{option} {}: the command reads or writes this file already; name another one", path.display())]
    SameFile {
        /// The option that names the file.
        option: &'static str,
        /// The file.
        path: PathBuf,
    },
    /// An output would be inside the directory of a store.
    #[error("{option} {}: this directory is a store, which holds no other files; name another one", path.display())]
    InStore {
        /// The option that names the file.
        option: &'static str,
        /// The file.
        path: PathBuf,
    },
    /// A directory was named as the graph, and is not a store.
    #[error("{}: this directory is not a store: `hedgerow import FILE --store DIR` makes one of a graph file", .0.display())]
    NotAStore(PathBuf),
    /// An option for stores was given with a graph file.
    #[error("{option}: {} is a graph file, and the option is for stores; leave it out", path.display())]
    OnlyForStores {
        /// The option.
        option: &'static str,
        /// The file.
        path: PathBuf,
    },
    /// An option for graph files was given with a store.
    #[error("{option}: {} is a store, and the option is for graph files; leave it out", path.display())]
    OnlyForFiles {
        /// The option.
        option: &'static str,
        /// The store.
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
    /// The graph, or a kernel on it, returned an error.
    #[error(transparent)]
    Graph(#[from] hedgerow::Error),
    /// The static graph of a file cannot be built.
    #[error(transparent)]
    Static(#[from] StaticGraphError),
    /// An error specific to graphs in stores.
    #[error(transparent)]
    Stored(#[from] StoredError),
    /// A topic could not be read or written.
    #[cfg(feature = "kafka")]
    #[error(transparent)]
    Kafka(#[from] crate::kafka::KafkaError),
    /// The benchmark gave no figures.
    #[error(transparent)]
    Bench(#[from] BenchError),
    /// A result or a generated graph could not be written.
    #[error("{0}")]
    Output(#[source] FormatError),
    /// A format cannot represent a key or a weight.
    #[error("{cause}; {formats}")]
    NoPlace {
        /// The error of the format.
        cause: FormatError,
        /// The formats that can represent it.
        formats: &'static str,
    },
    /// A folder of manual pages could not be written.
    #[error("{}: cannot write manual pages: {source}", folder.display())]
    ManualPages {
        /// The folder.
        folder: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Standard output could not be written.
    #[error("cannot write to standard output: {0}")]
    Stdout(#[source] io::Error),
    /// A command did its work, but could not report it.
    #[error("cannot write to standard output: {source}; {done}")]
    Unreported {
        /// The work, as a clause.
        done: String,
        /// The cause.
        source: io::Error,
    },
    /// Standard input could not be read.
    #[error("cannot read standard input: {0}")]
    Stdin(#[source] io::Error),
    /// The command line, or a line of the shell, is invalid.
    #[error("{0}")]
    Usage(String),
    /// A line of the shell failed.
    #[error("line {number}: {}", told(cause))]
    InLine {
        /// The number of the line, from 1.
        number: u64,
        /// The cause.
        cause: Box<CliError>,
        /// True if the shell stopped at the line.
        is_last: bool,
    },
    /// Lines failed in a shell that went on.
    #[error("{}, the first was line {first}", counted(*count, "line failed", "lines failed"))]
    LinesFailed {
        /// The number of failed lines.
        count: u64,
        /// The number of the first failed line.
        first: u64,
        /// The exit code of the first failure.
        exit_code: u8,
    },
    /// The shell is not to change the store.
    #[error("{}: the shell is read-only; start it without --read-only to change the store", .0.display())]
    ReadOnlyShell(PathBuf),
    /// A command of the shell needs that no transaction is open.
    #[error("{0}: a transaction is open; commit or rollback ends it")]
    TransactionOpen(&'static str),
    /// A command of the shell needs an open transaction.
    #[error("{0}: no transaction is open; begin opens one")]
    NoTransaction(&'static str),
    /// The transaction of a shell was not committed, because the graph refused it.
    #[error("the transaction was rolled back: {0}")]
    RolledBack(#[source] StoredError),
    /// The transaction of a shell that goes on was not committed, because one of its lines failed.
    #[error("the transaction was rolled back: a line of it failed")]
    IncompleteTransaction,
    /// The input of a shell ended inside a transaction.
    #[error(
        "the input ended inside a transaction, which was rolled back; commit would have made its changes"
    )]
    UnendedTransaction,
    /// A kernel was to run on an engine that the shell does not have.
    #[error("--engine: the graph of the shell is in the engine {}; --engine csr runs on a static copy of it", .0.name())]
    EngineOfShell(EngineName),
    /// Threads could not be started.
    #[error("the worker threads could not be started: {0}; ask for fewer with --threads")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// The demo could not start its threads.
    #[error("a thread could not be started: {0}; ask for fewer with --writers and --readers")]
    DemoThreads(io::Error),
    /// Signal handlers cannot be installed.
    #[error("cannot listen to Ctrl-C: {0}")]
    Signals(#[source] io::Error),
    /// The store and the static graph disagree.
    #[error("{0}; this is a defect of hedgerow, please report it")]
    Wrong(String),
    /// A signal ended the benchmark, which had figures.
    #[error("interrupted by {0}; the figures so far were printed, and written with --json")]
    BenchInterrupted(Signal),
    /// A signal ended the command.
    #[error("interrupted by {0}; nothing was written")]
    Interrupted(Signal),
}

impl CliError {
    /// The exit code: see `hedgerow --help`.
    pub fn exit_code(&self) -> u8 {
        if self.is_disk_full() { FULL } else { self.exit_code_of_kind() }
    }

    fn exit_code_of_kind(&self) -> u8 {
        match self {
            CliError::Output(FormatError::BadName { .. })
            | CliError::WrongKey { .. }
            | CliError::Kronecker(_)
            | CliError::Uniform(_)
            | CliError::Stream(_)
            | CliError::StreamFormat(_)
            | CliError::SameFile { .. }
            | CliError::InStore { .. }
            | CliError::OnlyForStores { .. }
            | CliError::OnlyForFiles { .. }
            | CliError::Usage(_)
            | CliError::ReadOnlyShell(_)
            | CliError::TransactionOpen(_)
            | CliError::NoTransaction(_)
            | CliError::IncompleteTransaction
            | CliError::UnendedTransaction
            | CliError::EngineOfShell(_)
            | CliError::NoPlaceForWeights(_) => 2,
            CliError::Output(_)
            | CliError::NoPlace { .. }
            | CliError::ManualPages { .. }
            | CliError::Stdout(_)
            | CliError::Unreported { .. }
            | CliError::Threads(_)
            | CliError::DemoThreads(_)
            | CliError::Signals(_)
            | CliError::Wrong(_) => 1,
            CliError::Input(_)
            | CliError::Stdin(_)
            | CliError::NotAStore(_)
            | CliError::NoSuchVertex { .. }
            | CliError::EmptyGraph(_)
            | CliError::NoWeight { .. }
            | CliError::BadWeight { .. } => 3,
            #[cfg(feature = "kafka")]
            CliError::Kafka(error) => error.exit_code(),
            CliError::Graph(error) => graph_exit_code(error),
            CliError::Static(_) => FULL,
            CliError::Bench(error) => bench_exit_code(error),
            CliError::Stored(error) | CliError::RolledBack(error) => error.exit_code(),
            CliError::InLine { cause, .. } => cause.exit_code(),
            CliError::LinesFailed { exit_code, .. } => *exit_code,
            CliError::Interrupted(signal) | CliError::BenchInterrupted(signal) => signal.exit_code(),
        }
    }

    /// Adds to the error of printing a result that the command did its work, as the clause `done`.
    pub fn but(self, done: impl Into<String>) -> Self {
        match self {
            CliError::Stdout(source) => CliError::Unreported { done: done.into(), source },
            other => other,
        }
    }

    /// Wraps the error of a line of the shell. `is_last` is true if the shell stops there.
    pub fn in_line(self, number: u64, is_last: bool) -> Self {
        CliError::InLine { number, cause: Box::new(self), is_last }
    }

    /// The signal that ended the command, if one did.
    pub fn signal(&self) -> Option<Signal> {
        match self {
            CliError::Interrupted(signal)
            | CliError::BenchInterrupted(signal)
            | CliError::Stored(StoredError::Interrupted { signal, .. }) => Some(*signal),
            _ => None,
        }
    }

    /// Returns true if the cause is a broker that may answer later.
    pub fn is_passing(&self) -> bool {
        match self {
            #[cfg(feature = "kafka")]
            CliError::Kafka(error) => error.is_passing(),
            _ => false,
        }
    }

    /// Returns true if the content of an input was refused after it had been parsed.
    pub fn is_about_input(&self) -> bool {
        match self {
            CliError::NoWeight { .. }
            | CliError::BadWeight { .. }
            | CliError::NoPlace { .. }
            | CliError::Output(FormatError::Unwritable { .. })
            | CliError::Stored(StoredError::NoWeight { .. }) => true,
            CliError::Graph(error) => error.kind() == ErrorKind::InvalidInput,
            CliError::Static(error) => matches!(error, StaticGraphError::VertexId(_)),
            _ => false,
        }
    }

    /// Returns true if the cause is a full disk, or a limit on the size of files, for any output.
    fn is_disk_full(&self) -> bool {
        let failed: &(dyn Error + 'static) = match self {
            CliError::Bench(BenchError::Workload { failure, .. }) => failure,
            error => error,
        };
        let causes = iter::successors(Some(failed), |&error| error.source());
        let mut kinds = causes.filter_map(|error| error.downcast_ref::<io::Error>()).map(io::Error::kind);
        kinds.any(|kind| {
            matches!(
                kind,
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
            )
        })
    }

    /// Returns true if the reader of standard output has closed it, as `head` does: no error.
    pub fn is_closed_pipe(&self) -> bool {
        let error = match self {
            CliError::Stdout(error) | CliError::Unreported { source: error, .. } => error,
            CliError::InLine { cause, .. } => return cause.is_closed_pipe(),
            CliError::Output(FormatError::Io { path, source, .. }) if path == Path::new(STANDARD_OUTPUT) => {
                source
            }
            _ => return false,
        };
        error.kind() == io::ErrorKind::BrokenPipe
    }
}

/// The message of an error with its hint.
pub fn told(error: &CliError) -> String {
    let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
    format!("{error}{hint}")
}

/// The exit code if a limit would be exceeded, such as disk space.
const FULL: u8 = 4;

fn graph_exit_code(error: &hedgerow::Error) -> u8 {
    match error.kind() {
        // The only input that matters here is keys, and they exceed the vertex ids.
        ErrorKind::Capacity | ErrorKind::Kernel | ErrorKind::InvalidInput => FULL,
        _ => 1,
    }
}

fn bench_exit_code(error: &BenchError) -> u8 {
    match error {
        BenchError::UnknownEngine { .. }
        | BenchError::UnknownWorkload { .. }
        | BenchError::NothingToMeasure { .. }
        | BenchError::ImpossibleDataSet { .. }
        | BenchError::Kronecker(_) => 2,
        BenchError::UnknownDataSet(_)
        | BenchError::NoEdges(_)
        | BenchError::TooManyVertices(_)
        | BenchError::Input(_) => 3,
        BenchError::Workload { failure: Failure::Graph(error), .. } => graph_exit_code(error),
        BenchError::StoreFolder { .. } | BenchError::Workload { .. } => 1,
        BenchError::Cancelled => 130,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_model::{EngineError, WriteError};

    fn full() -> io::Error {
        io::ErrorKind::StorageFull.into()
    }

    fn file() -> FormatError {
        FormatError::Io { path: "x".into(), action: "write", source: full() }
    }

    #[test]
    fn a_full_disk_has_one_exit_code() {
        let store = |source| StoredError::Damaged { problems: String::new(), store: source, what: "" };
        assert_eq!(CliError::from(store("x".into())).exit_code(), 1);
        let failure = Failure::File { path: "x".into(), source: full() };
        let engine_file = WriteError::new("engine-00000001.edges at byte 0", full());
        let stopped = StoredError::Stopped { cause: Box::new(CliError::Output(file())), kept: String::new() };
        for error in [
            CliError::Output(file()),
            CliError::Input(file()),
            CliError::Stdout(full()),
            CliError::Stdout(full()).but("the edge is committed"),
            CliError::Stdout(io::ErrorKind::QuotaExceeded.into()),
            CliError::Stdout(io::ErrorKind::FileTooLarge.into()),
            CliError::Bench(BenchError::StoreFolder { directory: "x".into(), source: full() }),
            CliError::Bench(BenchError::Workload { workload: "x", engine: "x", failure }),
            StoredError::from(hedgerow::Error::from(EngineError::from(engine_file))).into(),
            stopped.into(),
        ] {
            assert_eq!(error.exit_code(), 4, "{error}");
        }
    }
}
