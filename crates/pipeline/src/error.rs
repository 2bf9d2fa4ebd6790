//! Why something went wrong with a graph.

use hedgerow_dictionary::DictionaryError;
use hedgerow_log::checkpoint::CheckpointError;
use hedgerow_log::{LogError, StoreError};
use hedgerow_model::{
    CapacityError, EngineError, Key, KeyKind, LabelId, ReadError, SchemaError, Timestamp, VertexIdError,
    ViewError, WriteError,
};
use hedgerow_sequencer::SequencerError;
use std::time::Duration;

/// Why a commit, a read, or bringing a graph back from a store failed. Unless a variant says otherwise, nothing has changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// First committer wins.
    #[error("another commit changed what this transaction read or wrote; run it again")]
    Conflict,
    /// A strict graph creates no ends of edges.
    #[error("there is no vertex {0}, and the graph is strict: add it before its edges")]
    NoSuchVertex(Key),
    /// A key of another kind than the graph's.
    #[error("the key {key} does not fit: the keys of this graph are of kind {expected}")]
    WrongKeyKind {
        /// The key.
        key: Key,
        /// What the keys of the graph are.
        expected: KeyKind,
    },
    /// The label's edges have values, or nothing.
    #[error("the edges of label number {} have no records", .0.0)]
    NoRecords(LabelId),
    /// Nothing says when edges of the label were.
    #[error(
        "the edges of {label:?} have no time: it would be a property of type timestamp, or an integer beside each edge; \
         name the property of type i64 that says it, if there is one"
    )]
    NoTime {
        /// The label.
        label: String,
    },
    /// A property of another type.
    #[error("the property {property:?} says no time: it would be of type timestamp or i64")]
    NotATime {
        /// The property.
        property: String,
    },
    /// No history was asked for.
    #[error("this graph keeps no past states: make or open it with a history (`GraphOptions::history`)")]
    NoHistory,
    /// A past state is gone.
    #[error(
        "that state is not kept any more, or was before the graph was opened; the oldest is that of commit {oldest}"
    )]
    NotKept {
        /// The oldest that is kept.
        oldest: Timestamp,
    },
    /// Times of commits in the future say nothing.
    #[error(
        "a commit of this store carries a time {} seconds ahead of this machine's clock, so it is unknown which state was the newest \
         at the time asked for; open the state after a commit, or the newest", ahead.as_secs_f64()
    )]
    LogAhead {
        /// How far the commit is ahead.
        ahead: Duration,
    },
    /// A state of the future.
    #[error("commit {at} is not there yet; the newest is {newest}")]
    NotYet {
        /// What was asked for.
        at: Timestamp,
        /// What there is.
        newest: Timestamp,
    },
    /// The engine is none that is `NewestFirst`.
    #[error("this engine does not keep the order in which edges were put; `tel` does")]
    NoCommitOrder,
    /// Parallel edges are one record to an engine.
    #[error("edges of {label:?} may be parallel, and are not kept in the order in which they were put")]
    NoCommitOrderOfParallel {
        /// The label.
        label: String,
    },
    /// No vertex id.
    #[error(transparent)]
    VertexId(#[from] VertexIdError),
    /// A value, a record or a schema that does not fit.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// The same of one of many edges.
    #[error("number {edge} of the edges to ingest, counted from 0: {error}")]
    BulkRecord {
        /// Its position among the edges.
        edge: usize,
        /// What is wrong with its record.
        error: SchemaError,
    },
    /// A label or direction that there is not.
    #[error(transparent)]
    View(#[from] ViewError),
    /// A limit.
    #[error(transparent)]
    Capacity(#[from] CapacityError),
    /// A commit ended half way: nothing goes on but reads of open snapshots.
    #[error("a commit of this graph failed half way; open snapshots can still be read, nothing else")]
    Poisoned,
    /// The engine, or a record, could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A file of the engine could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    // Boxed where it is large: a commit hands errors up by value.
    /// The store.
    #[error(transparent)]
    Store(Box<StoreError>),
    /// The log: whether what was under way is durable nobody knows.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A checkpoint.
    #[error(transparent)]
    Checkpoint(Box<CheckpointError>),
    /// The graph cannot be written.
    #[error("this graph was opened to be read only")]
    ReadOnly,
    /// There is no store.
    #[error("this graph lives in memory; make it with `Graph::create` to keep it")]
    InMemory,
}

impl Error {
    /// Whether memory, or the disk that the graph lies on, has no room.
    pub fn is_full(&self) -> bool {
        matches!(self, Error::Capacity(CapacityError::Memory { .. } | CapacityError::Scratch { .. }))
    }
}

/// An engine could not be read.
pub fn read_failed(error: impl Into<ReadError>) -> Error {
    Error::Read(error.into())
}

impl From<EngineError> for Error {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Capacity(error) => Error::Capacity(error),
            EngineError::Read(error) => Error::Read(error),
            EngineError::Write(error) => Error::Write(error),
        }
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        Error::Store(Box::new(error))
    }
}

impl From<CheckpointError> for Error {
    fn from(error: CheckpointError) -> Self {
        Error::Checkpoint(Box::new(error))
    }
}

impl From<DictionaryError> for Error {
    fn from(error: DictionaryError) -> Self {
        match error {
            DictionaryError::WrongKeyKind { key, expected } => Error::WrongKeyKind { key, expected },
            DictionaryError::VertexId(error) => Error::VertexId(error),
            DictionaryError::Capacity(error) => Error::Capacity(error),
        }
    }
}

impl From<SequencerError> for Error {
    fn from(error: SequencerError) -> Self {
        match error {
            SequencerError::Poisoned => Error::Poisoned,
            SequencerError::NoHistory => Error::NoHistory,
            SequencerError::NotKept { oldest } => Error::NotKept { oldest },
            SequencerError::NotYet { at, newest } => Error::NotYet { at, newest },
            SequencerError::Log(error) => Error::Log(error),
        }
    }
}
