//! Errors of commands on stores.

use super::{CliError, graph_exit_code, told};
use crate::signal::Signal;
use crate::text::Moment;
use hedgerow::ErrorKind;
use std::path::PathBuf;

/// A command on a store failed.
#[derive(Debug, thiserror::Error)]
pub enum StoredError {
    /// The store could not be opened, read or written.
    #[error(transparent)]
    Graph(#[from] hedgerow::Error),
    /// The log no longer has the changes after a time.
    #[error(
        "the log has the changes after commit {at} of {time} only, not those before; begin later, or with \
         `--from start`, the whole graph first"
    )]
    ChangesOnlyInCheckpoint {
        /// The commit.
        at: u64,
        /// Its time.
        time: Moment,
    },
    /// There is no such label.
    #[error("there is no label {label:?} in {}, only {known}", store.display())]
    UnknownLabel {
        /// The label as given.
        label: String,
        /// The labels of the store.
        known: String,
        /// The store.
        store: PathBuf,
    },
    /// There is no such vertex.
    #[error("there is no vertex {key} in {}", store.display())]
    NoVertex {
        /// The key as given.
        key: String,
        /// The store.
        store: PathBuf,
    },
    /// There is no such edge.
    #[error("there is no edge from {from} to {to} of the label {label:?} in {}", store.display())]
    NoEdge {
        /// The key where the edge would start.
        from: String,
        /// The key where the edge would end.
        to: String,
        /// The label.
        label: String,
        /// The store.
        store: PathBuf,
    },
    /// There is no such edge, but there are parallel ones.
    #[error("there is no edge {edge} of the label {label:?} in {}, only {known}", store.display())]
    NoParallelEdge {
        /// The number and the keys of the ends, in words.
        edge: String,
        /// The label.
        label: String,
        /// The number of edges there are, and their keys.
        known: String,
        /// The store.
        store: PathBuf,
    },
    /// An edge needs a value, or must not have one, or one of another type.
    #[error("{given}: the edges of the label {label:?} carry {declared}")]
    Value {
        /// The value as given.
        given: String,
        /// The label.
        label: String,
        /// The declared content of the label's edges.
        declared: String,
    },
    /// An edge needs a key, or must not have one.
    #[error("{option}: {problem}")]
    EdgeKey {
        /// The option, as it was given or should be.
        option: String,
        /// The reason.
        problem: String,
    },
    /// A property cannot be set or compared.
    #[error("{option} {given:?}: {problem}")]
    Property {
        /// The option.
        option: &'static str,
        /// The property as given.
        given: String,
        /// The reason.
        problem: String,
    },
    /// A kernel needs weights, and the store has none.
    #[error(
        "the edges of the label {label:?} in {} carry {declared}, but shortest paths need values of type f64: import \
         the graph with --weights, or name a property with --weight; distances in edges are what `hedgerow run bfs` gives",
        store.display()
    )]
    NoWeights {
        /// The label.
        label: String,
        /// The declared content of the label's edges.
        declared: String,
        /// The store.
        store: PathBuf,
    },
    /// An edge has no weight, and its label wants one.
    #[error("{}: the edge from {from} to {to} has no weight, but edges of its label must have one", file.display())]
    NoWeight {
        /// The file.
        file: PathBuf,
        /// The key where the edge starts.
        from: String,
        /// The key where the edge ends.
        to: String,
    },
    /// A value does not fit into a graph file.
    #[error(
        "the edge from {from} to {to} has the value {value}, which no 64-bit float is exactly: graph files have no place for it; let the name \
         end in .jsonl, or give --to properties-csv: these formats have one"
    )]
    InexactWeight {
        /// The key where the edge starts.
        from: String,
        /// The key where the edge ends.
        to: String,
        /// The value.
        value: String,
    },
    /// A file has columns that a new store would not know.
    #[error(
        "{cause}; a new store knows only declared columns: {option} {text} declares all these columns as text, and bool, i64, f64, bytes and \
         timestamp are the other types"
    )]
    Undeclared {
        /// The error about the undeclared columns.
        cause: Box<CliError>,
        /// The option that declares the columns.
        option: &'static str,
        /// The value of the option.
        text: String,
    },
    /// Rows would replace others.
    #[error(
        "{replaced} of {rows} rows repeat an edge with other values, so nothing was imported; for example\n  {first}\n  {second}\n\
         --on-repeat parallel keeps each row as an edge of its own, last the last one, first the first one"
    )]
    Repeats {
        /// Rows that would replace others.
        replaced: u64,
        /// All rows.
        rows: u64,
        /// A row with its place.
        first: String,
        /// A row of the same edge, with its place.
        second: String,
    },
    /// A row repeats an edge, which was noticed at the row because some are from a pipe.
    #[error(
        "{}: an edge from {from} to {to} comes again with other values; --on-repeat parallel keeps each as an edge of its own, last the last \
         one, first the first one",
        input.display()
    )]
    RepeatsInOrder {
        /// The file.
        input: PathBuf,
        /// The key where the edge starts.
        from: String,
        /// The key where the edge ends.
        to: String,
    },
    /// An import was requested that is impossible.
    #[error("{0}")]
    Import(String),
    /// An export was requested that is impossible.
    #[error("{0}")]
    Export(String),
    /// The files of an interrupted import have changed, or others are to be imported.
    #[error("{0}; --anew gives that up, and begins with the first line of what is named here")]
    OtherImport(String),
    /// A command ended early. Its commits stay.
    #[error("{}; {kept}", told(cause))]
    Stopped {
        /// The cause.
        cause: Box<CliError>,
        /// The work that stays, and the way to continue.
        kept: String,
    },
    /// A signal ended a command early. Its commits stay.
    #[error("interrupted by {signal}; {kept}")]
    Interrupted {
        /// The signal.
        signal: Signal,
        /// The work that stays, and the way to continue.
        kept: String,
    },
    /// A condition of `--only-if` did not hold.
    #[error(
        "the edge from {from} to {to} of the label {label:?} in {} does not exist, or its properties are not as --only-if says: nothing was changed",
        store.display()
    )]
    ConditionFailed {
        /// The key where the edge starts.
        from: String,
        /// The key where the edge ends.
        to: String,
        /// The label.
        label: String,
        /// The store.
        store: PathBuf,
    },
    /// The store keeps no in-neighbors.
    #[error(
        "--direction in: {} keeps no in-neighbors; `hedgerow import --reverse` makes a store that does, or --undirected one without directions",
        .0.display()
    )]
    NoInNeighbors(PathBuf),
    /// Edges cannot be ordered by time.
    #[error("{option}: {problem}")]
    Time {
        /// The option that requests the order.
        option: String,
        /// The reason.
        problem: String,
    },
    /// A store does not have a state any more, or not yet.
    #[error("{cause}; {oldest}")]
    NoState {
        /// The reason.
        cause: hedgerow::Error,
        /// The oldest state of the store.
        oldest: String,
    },
    /// Two stores cannot be compared.
    #[error("--with: {0}")]
    Incomparable(String),
    /// Options of an import contradict the store.
    #[error("{cause}; leave {options} out, or import into another store")]
    OtherOptions {
        /// The contradiction.
        cause: hedgerow::Error,
        /// The options that contradict the store.
        options: String,
    },
    /// A repair gives up commits, which must be said.
    #[error(
        "a repair cuts the log of {store} at its first damage and gives up every commit after it: `hedgerow check \
         {store}` shows what is damaged, --to-last-valid says that it is to be cut",
        store = .0.display()
    )]
    RecoverHow(PathBuf),
    /// An erasure must be confirmed.
    #[error(
        "an erasure rewrites {} and cannot be undone, and its past states go: --yes confirms it where there is no terminal to ask at",
        .0.display()
    )]
    EraseUnconfirmed(PathBuf),
    /// Something still holds erased vertices.
    #[error("{} is not rid of {vertices}: {what}", store.display())]
    NotErased {
        /// The store.
        store: PathBuf,
        /// The vertices.
        vertices: String,
        /// The traces, and the remedy.
        what: String,
    },
    /// A store is damaged.
    #[error("{problems} in {}: {what}", store.display())]
    Damaged {
        /// The number of problems, with the noun.
        problems: String,
        /// The store.
        store: PathBuf,
        /// The advice.
        what: &'static str,
    },
}

impl StoredError {
    /// The exit code of the process.
    pub(super) fn exit_code(&self) -> u8 {
        match self {
            StoredError::Graph(error) => match error.kind() {
                ErrorKind::InvalidInput => 2,
                ErrorKind::NotFound
                | ErrorKind::Storage
                | ErrorKind::Unsupported
                | ErrorKind::ChangesLost => 3,
                ErrorKind::Locked => 5,
                _ => graph_exit_code(error),
            },
            StoredError::UnknownLabel { .. }
            | StoredError::Value { .. }
            | StoredError::Property { .. }
            | StoredError::EdgeKey { .. }
            | StoredError::Import(_)
            | StoredError::Export(_)
            | StoredError::OtherImport(_)
            | StoredError::NoInNeighbors(_)
            | StoredError::Time { .. }
            | StoredError::Incomparable(_)
            | StoredError::EraseUnconfirmed(_)
            | StoredError::OtherOptions { .. }
            | StoredError::RecoverHow(_) => 2,
            StoredError::NoVertex { .. }
            | StoredError::NoState { .. }
            | StoredError::ChangesOnlyInCheckpoint { .. }
            | StoredError::NoEdge { .. }
            | StoredError::NoParallelEdge { .. }
            | StoredError::NoWeights { .. }
            | StoredError::NoWeight { .. }
            | StoredError::Repeats { .. }
            | StoredError::RepeatsInOrder { .. } => 3,
            StoredError::Stopped { cause, .. } | StoredError::Undeclared { cause, .. } => cause.exit_code(),
            StoredError::InexactWeight { .. }
            | StoredError::Damaged { .. }
            | StoredError::NotErased { .. } => 1,
            StoredError::Interrupted { signal, .. } => signal.exit_code(),
            StoredError::ConditionFailed { .. } => 6,
        }
    }
}
