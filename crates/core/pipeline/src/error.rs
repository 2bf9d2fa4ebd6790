//! Errors of graph operations.

use crate::dictionary::DictionaryError;
use hedgerow_log::checkpoint::CheckpointError;
use hedgerow_log::{LogError, StoreError};
use hedgerow_model::{
    CapacityError, CommitTimestamp, EdgeSchema, EngineError, Key, KeyKind, LabelId, ReadError, SchemaError,
    VertexIdError, ViewError, WriteError,
};
use hedgerow_sequencer::{CommitDropped, SequencerError};
use std::time::Duration;

/// The failure of a commit, of a read, or of opening a store. Unless a variant says otherwise,
/// nothing has changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another transaction committed first.
    #[error("another commit changed what this transaction read or wrote; run it again")]
    Conflict,
    /// A strict graph does not create the endpoints of edges.
    #[error("there is no vertex {0}, and the graph is strict: add it before its edges")]
    NoSuchVertex(Key),
    /// The key is of a different kind than the keys of the graph.
    #[error("the key {key} does not fit: the keys of this graph are of kind {expected}")]
    WrongKeyKind {
        /// The key.
        key: Key,
        /// The kind of the graph's keys.
        expected: KeyKind,
    },
    /// A key is a negative number.
    #[error("{0} cannot be a key: numbers as keys are 0 or greater")]
    NegativeKey(i64),
    /// The edges of the label carry a value or nothing, not records.
    #[error("the edges of label number {} have no records", .0.0)]
    NoRecords(LabelId),
    /// The edges of the label carry no time.
    #[error(
        "the edges of {label:?} have no time: it would be a property of type timestamp, or an integer beside each edge; \
         name the property of type i64 or u64 that says it, if there is one"
    )]
    NoTime {
        /// The label.
        label: String,
    },
    /// The property has a type that cannot hold a time.
    #[error("the property {property:?} says no time: it would be of type timestamp, i64 or u64")]
    NotATime {
        /// The property.
        property: String,
    },
    /// The graph keeps no history.
    #[error("this graph keeps no past states: make or open it with a history (`GraphOptions::history`)")]
    NoHistory,
    /// A past state is not kept.
    #[error(
        "that state is not kept any more, or was before the graph was opened; the oldest is that of commit {oldest}, made at time {wall_clock} (microseconds since 1970, in UTC)"
    )]
    NotKept {
        /// The commit of the oldest state that is kept.
        oldest: CommitTimestamp,
        /// The wall-clock time of that commit, in microseconds since 1970-01-01 UTC.
        wall_clock: u64,
    },
    /// A commit carries a wall-clock time in the future, which does not tell when it was made.
    #[error(
        "a commit of this store carries a time {} seconds ahead of this machine's clock, so it is unknown which state was the newest \
         at the time asked for; open the state after a commit, or the newest", ahead.as_secs_f64()
    )]
    LogAhead {
        /// The time by which the commit is ahead.
        ahead: Duration,
    },
    /// The commit has not happened yet.
    #[error("commit {at} is not there yet; the newest is {newest}")]
    NotYet {
        /// The requested commit.
        at: CommitTimestamp,
        /// The newest commit.
        newest: CommitTimestamp,
    },
    /// The engine does not keep the order of commits.
    #[error("this engine does not keep the order in which edges were put; `tel` does")]
    NoCommitOrder,
    /// Staged writes have no commit yet.
    #[error(
        "staged writes belong to no commit yet: order edges by their time, or read a snapshot of the graph"
    )]
    NoCommitOrderOfStaged,
    /// An engine sees parallel edges as one record.
    #[error("edges of {label:?} may be parallel, and are not kept in the order in which they were put")]
    NoCommitOrderOfParallel {
        /// The label.
        label: String,
    },
    /// A vertex id is out of range.
    #[error(transparent)]
    VertexId(#[from] VertexIdError),
    /// A value, a record or a schema that does not fit.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// A different label has that name.
    #[error(transparent)]
    LabelExists(Box<LabelExists>),
    /// A record in a bulk ingest does not fit.
    #[error("number {edge} of the edges to ingest, counted from 0: {error}")]
    BulkRecord {
        /// The position of the edge in the input.
        edge: usize,
        /// The violated rule.
        error: SchemaError,
    },
    /// The label or direction does not exist.
    #[error(transparent)]
    View(#[from] ViewError),
    /// A limit would be exceeded.
    #[error(transparent)]
    Capacity(#[from] CapacityError),
    /// A commit failed after its stamp; only open snapshots can be read.
    #[error("a commit of this graph failed half way; open snapshots can still be read, nothing else")]
    Poisoned,
    /// The engine, or a record, could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A file of the engine could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    // Boxed where it is large: a commit passes errors up by value.
    /// The store failed.
    #[error(transparent)]
    Store(Box<StoreError>),
    /// The log failed. Commits under way may or may not be durable.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A follower of a graph without a log is too slow.
    #[error(transparent)]
    Dropped(#[from] CommitDropped),
    /// An earlier version of this software wrote the commit, and does not tell which keys the
    /// vertices had that it deleted.
    #[error(
        "an earlier version made commit {at}, which does not tell the keys of the vertices that it deleted: \
         follow the graph from a newer commit, or from a snapshot"
    )]
    NamelessDeletions {
        /// The commit.
        at: CommitTimestamp,
    },
    /// A checkpoint failed.
    #[error(transparent)]
    Checkpoint(Box<CheckpointError>),
    /// The engine keeps no files that can be compacted.
    #[error(
        "the engine of this graph keeps no files of its own that could be compacted: its store is a log and a checkpoint; `Graph::checkpoint` \
         writes a new one, and removes what it replaces"
    )]
    NothingToCompact,
    /// A full compaction was cancelled.
    #[error(
        "the compaction was cancelled; what it compacted before stays so, and another one goes on from there"
    )]
    CompactionCancelled,
    /// The graph is read-only.
    #[error("this graph was opened to be read only")]
    ReadOnly,
    /// The graph has no store.
    #[error("this graph lives in memory; make it with `GraphOptions::create` to keep it")]
    InMemory,
}

/// A label cannot be added, because a different label has its name.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is a label {label:?} whose edges carry {found}: it cannot be added with edges that carry {asked}"
)]
pub struct LabelExists {
    /// The name.
    pub label: String,
    /// The schema of the existing label's edges.
    pub found: EdgeSchema,
    /// The schema of the edges of the label to add.
    pub asked: EdgeSchema,
}

impl Error {
    /// Returns true if memory or the engine's disk is full.
    pub fn is_full(&self) -> bool {
        matches!(self, Error::Capacity(CapacityError::Memory { .. } | CapacityError::Scratch { .. }))
    }
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
            DictionaryError::NegativeKey(number) => Error::NegativeKey(number),
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
            SequencerError::NotKept { oldest, wall_clock } => Error::NotKept { oldest, wall_clock },
            SequencerError::NotYet { at, newest } => Error::NotYet { at, newest },
            SequencerError::Log(error) => Error::Log(error),
        }
    }
}
