//! Hints after error messages: advice, and the command-line option for the subject of a library's
//! message.

use super::{CliError, StoredError};
use hedgerow::ErrorKind;
use hedgerow::kernels::MemoryError;
use hedgerow::store::StoreError;
use hedgerow_driver::BenchError;
use hedgerow_formats::{
    BadProperty, ChangeStreamError, FormatError, GraphFormat, Problem, Remedy, StaticGraphError,
};
use std::io;
use std::path::Path;

/// Advice when a file would be larger than it may be.
const FILE_LIMIT: &str = "`ulimit -f` says how large files may be";

/// Advice when dense keys are sparse.
const SPARSE_IDS: &str = "that is --keys number";

/// Advice when a dense key is too large.
const DENSE_KEYS: &str = "with --keys number, keys of any size are mapped to dense ids";

/// Advice when the memory limit would be exceeded.
const MEMORY_LIMIT: &str = "here that is --memory-limit: give more, or leave it away";

impl CliError {
    /// Advice that the message lacks.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            CliError::Input(error) | CliError::Bench(BenchError::Input(error)) => of_input(error),
            CliError::Output(error) => of_output(error),
            CliError::Stored(StoredError::Graph(error)) => of_store(error),
            CliError::Graph(error) => of_graph(error),
            CliError::Static(error) => of_static(error),
            CliError::InLine { is_last: true, cause, .. } if cause.is_closed_pipe() => {
                Some("the lines after it were not run")
            }
            CliError::InLine { is_last: true, .. } => {
                Some("the lines after it were not run; --keep-going goes on after a line that fails")
            }
            CliError::Kronecker(_) => Some("that is --scale and --edge-factor"),
            CliError::Uniform(_) => Some("that is --vertices"),
            CliError::Stream(error) => Some(match error {
                ChangeStreamError::Vertices(_) => "that is --vertices",
                ChangeStreamError::TooFewChanges { .. } => "that is --changes and --vertices",
                _ => "that is --deletions",
            }),
            CliError::Bench(BenchError::StoreFolder { .. }) => Some("name another directory with --store"),
            _ => None,
        }
    }
}

fn of_input(error: &FormatError) -> Option<&'static str> {
    match error {
        FormatError::BadProperty(bad) => of_property(bad),
        FormatError::BadLine(bad) => of_line(&bad.path, bad.problem),
        _ => None,
    }
}

fn of_property(bad: &BadProperty) -> Option<&'static str> {
    if !bad.undeclared.is_empty() {
        return Some("`hedgerow schema DIR` prints what a store has declared");
    }
    bad.remedy.and_then(of_remedy)
}

fn of_line(path: &Path, problem: Problem) -> Option<&'static str> {
    let is_csv = GraphFormat::of_name(path) == Some(GraphFormat::Csv);
    match problem {
        Problem::NotAWeight | Problem::NotATimestamp | Problem::TooManyColumns | Problem::NotOneVertex
            if is_csv =>
        {
            Some(
                "a file with properties begins with the names of its columns, or --columns of `hedgerow import` names them",
            )
        }
        Problem::NotAWeight
        | Problem::WeightNotFinite
        | Problem::NotATimestamp
        | Problem::TimestampTooLarge => Some("--columns says what the third and the fourth column are"),
        Problem::NotANumber => of_remedy(Remedy::TextKeys),
        Problem::TooManyColumns => Some("that is --format adjacency"),
        Problem::TooManyRows { .. } => Some("that is --format edges"),
        _ => None,
    }
}

fn of_output(error: &FormatError) -> Option<&'static str> {
    match error {
        FormatError::Io { source, .. } if source.kind() == io::ErrorKind::FileTooLarge => Some(FILE_LIMIT),
        FormatError::Io { .. } => Some("look at the folder, its permissions and the free space"),
        FormatError::Unwritable { remedy, .. } => remedy.and_then(of_remedy),
        _ => None,
    }
}

/// The command-line option for a remedy of the formats.
fn of_remedy(remedy: Remedy) -> Option<&'static str> {
    match remedy {
        Remedy::TextKeys => Some("that is --keys text"),
        Remedy::MappedKeys => Some("that is --keys number"),
        Remedy::SourceColumn => Some("that is --source-column"),
        Remedy::DestinationColumn => Some("that is --destination-column"),
        Remedy::TimestampsFirst => Some("that is --columns timestamp"),
        Remedy::WeightsFirst => Some("that is --columns auto"),
        Remedy::NoWeights => Some("--columns topology leaves them out"),
        _ => None,
    }
}

fn of_graph(error: &hedgerow::Error) -> Option<&'static str> {
    match error.memory() {
        Some(MemoryError::SparseIds { .. }) => Some(SPARSE_IDS),
        _ if error.kind() == ErrorKind::InvalidInput => Some(DENSE_KEYS),
        _ if error.memory_limit().is_some() => Some(MEMORY_LIMIT),
        _ => None,
    }
}

fn of_static(error: &StaticGraphError) -> Option<&'static str> {
    match error {
        _ if error.is_about_sparse_ids() => {
            Some("that is --keys number; --engine rapid takes less memory for them")
        }
        StaticGraphError::VertexId(_) => Some(DENSE_KEYS),
        StaticGraphError::MemoryLimit { .. } => Some(MEMORY_LIMIT),
        StaticGraphError::Csr(_) | StaticGraphError::Capacity(_) => None,
    }
}

fn of_store(error: &hedgerow::Error) -> Option<&'static str> {
    match error.store() {
        Some(StoreError::NoStore { .. }) => Some("`hedgerow import FILE --store DIR` makes one"),
        Some(StoreError::Locked { .. }) => Some(
            "try again when it is closed; commands that write wait for that with --wait SECONDS, and run, export, neighbors and get read the newest \
             checkpoint meanwhile with --from-checkpoint",
        ),
        Some(StoreError::BeingRead { .. }) => Some("--wait SECONDS waits for that"),
        Some(StoreError::NoBackup { .. }) => {
            Some("choose an empty directory, or one with an older backup of the store")
        }
        Some(StoreError::Damaged { .. } | StoreError::Missing { .. } | StoreError::Foreign { .. }) => {
            Some("`hedgerow check DIR` lists all that is damaged")
        }
        None if error.memory_limit().is_some() => Some(MEMORY_LIMIT),
        None if error.is_nothing_to_compact() => Some("`hedgerow checkpoint DIR` does that"),
        None if error.is_no_checkpoint() => Some("`hedgerow checkpoint DIR` does"),
        _ => None,
    }
}
