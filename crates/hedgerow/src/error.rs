//! Errors: a small public kind for the caller's next action, around a private reason for the
//! message.

use crate::data::PropertyMismatch;
use crate::engine_kind::EngineKind;
use hedgerow_log::checkpoint::CheckpointError;
use hedgerow_log::{LogError, StoreError};
use hedgerow_model::{
    CapacityError, CommitTimestamp, CompactionLimits, EngineError, Key, ReadError, SchemaError,
    VertexIdError, ViewError,
};
use hedgerow_pipeline::Error as Cause;
use hedgerow_pipeline::dictionary::DictionaryError;
use hedgerow_sequencer::SequencerError;
use std::fmt;
use std::path::PathBuf;

/// The kind of an error, by what the caller can do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Another commit came first. Nothing has changed; run the transaction again, as
    /// [`Graph::transact`](crate::Graph::transact) does.
    Conflict,
    /// A vertex, a store or a checkpoint that must exist does not.
    NotFound,
    /// There is a store where one was to be made. Open it, or choose another directory.
    Exists,
    /// The store is open elsewhere, in another process or in another part of this one, or the name
    /// of a subscription is in use. Nothing has changed; try again when the store is closed, or the
    /// subscription dropped.
    Locked,
    /// The call's input does not fit the graph: a key of the wrong kind, an unknown label, a
    /// value of another type. Nothing has changed; correct the call.
    InvalidInput,
    /// A limit would be exceeded. Nothing has changed; the graph stays usable.
    Capacity,
    /// The options need a feature that is not compiled, or a graph in memory cannot do what only a
    /// store can do.
    Unsupported,
    /// The graph was opened for reading only.
    ReadOnly,
    /// The graph was closed. Reads go on; open it again to write.
    Closed,
    /// Writing or syncing the log failed. Only reopening the store tells whether commits in
    /// progress are durable; further commits are refused. Acknowledged commits are safe, and reads
    /// continue. Open the store again to write.
    LogFailed,
    /// The process is a child that was forked while the graph was open. Nothing was read or
    /// written; the graph belongs to the parent. Open the store after the fork, in the process that
    /// uses it.
    Forked,
    /// A commit failed half way through. Open snapshots stay readable; nothing else goes on.
    Poisoned,
    /// The store could not be read or written, or is damaged: see [`Error::store`].
    Storage,
    /// Commits that a [`Subscription`](crate::Subscription) has not pulled are no longer there, or
    /// the store was restored from a backup without its last one. Begin again, with a
    /// [snapshot](crate::Subscription::snapshot).
    ChangesLost,
    /// A checkpoint, a compaction, a search for paths or a count was cancelled. The previous
    /// checkpoint is still there; files that were compacted stay so.
    Cancelled,
    /// A kernel was cancelled or could not run.
    Kernel,
    /// The program gave a transaction up: see [`Error::other`]. Nothing has changed.
    Other,
}

/// The error of a failed call on a graph.
#[derive(thiserror::Error)]
#[error(transparent)]
pub struct Error(#[from] pub(crate) Reason);

/// The message, because a program that returns an error from `main` prints this.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error {
    /// Creates an error of the program's own, to give a transaction up: nothing that it staged is
    /// committed.
    ///
    /// ```
    /// use hedgerow::prelude::*;
    ///
    /// let graph = Graph::in_memory(GraphOptions::new().label::<f64>("owes"))?;
    /// let owes = graph.label::<f64>("owes")?;
    /// let refused = graph.transact(|transaction| {
    ///     transaction.put_edge_with(owes, 1, 2, 1e6)?;
    ///     Err::<(), _>(Error::other("that is too much"))
    /// });
    /// assert_eq!(refused.unwrap_err().kind(), ErrorKind::Other);
    /// assert!(!graph.contains_edge(owes, 1, 2)?);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn other(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Reason::Other(error.into()).into()
    }

    /// Returns the error that was passed to [`Error::other`].
    #[must_use]
    pub fn get_other(&self) -> Option<&(dyn std::error::Error + Send + Sync + 'static)> {
        match &self.0 {
            Reason::Other(error) => Some(&**error),
            _ => None,
        }
    }

    /// Returns the error of the pipeline, or itself if it has none.
    pub(crate) fn into_pipeline(self) -> Result<Cause, Self> {
        match self.0 {
            Reason::Pipeline(cause) => Ok(cause),
            reason => Err(Error(reason)),
        }
    }

    /// Names what lacks a property, if that is the error, and adds a remedy.
    pub(crate) fn about_property(self, owner: impl FnOnce() -> String, hint: &'static str) -> Self {
        match self.0 {
            Reason::Pipeline(Cause::Schema(SchemaError::UnknownField(property))) => {
                Reason::NoProperty { owner: owner(), property, hint }.into()
            }
            reason => Error(reason),
        }
    }

    /// [`Error::about_property`] of vertices.
    pub(crate) fn about_vertices(self) -> Self {
        let hint = ": declare it with `GraphOptions::vertices::<V>()`";
        self.about_property(|| "the vertices of this graph".to_owned(), hint)
    }

    /// Returns the kind of the error: what the caller can do about it.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match &self.0 {
            Reason::Pipeline(error) => kind_of(error),
            Reason::NoCheckpoint(_) => ErrorKind::NotFound,
            Reason::Forked => ErrorKind::Forked,
            Reason::NotDeclared(_)
            | Reason::NeedsKey(_)
            | Reason::NotParallel(_)
            | Reason::NoProperty { .. }
            | Reason::NoWeight { .. }
            | Reason::BadWeight { .. }
            | Reason::OtherData(_)
            | Reason::NoData(_)
            | Reason::OtherProperty(_)
            | Reason::InvalidCompactionLimits(_)
            | Reason::Mismatch(_)
            | Reason::ChangedType
            | Reason::ForeignToken
            | Reason::BadName(_)
            | Reason::StateTooLarge(_)
            | Reason::OtherOption(_) => ErrorKind::InvalidInput,
            Reason::NoSuchCommit { .. } | Reason::OtherCommit(_) | Reason::SubscriptionLost { .. } => {
                ErrorKind::ChangesLost
            }
            Reason::NameInUse(_) => ErrorKind::Locked,
            #[cfg(feature = "async")]
            Reason::NoThread(_) => ErrorKind::Unsupported,
            Reason::NoScratch(_)
            | Reason::NoMemoryBudget(_)
            | Reason::NoEdgeLog(_)
            | Reason::NoCompaction(_)
            | Reason::NoBackup(_)
            | Reason::NoFirstState(_)
            | Reason::NotCompiled(_)
            | Reason::NeedsStore(_)
            | Reason::Threads(_)
            | Reason::NoGraph
            | Reason::DeletesDeclared => ErrorKind::Unsupported,
            Reason::Cancelled(_) => ErrorKind::Cancelled,
            Reason::Random(_) | Reason::NoScratchFile(_) => ErrorKind::Storage,
            #[cfg(feature = "kernels")]
            Reason::ForeignSnapshot => ErrorKind::InvalidInput,
            #[cfg(feature = "kernels")]
            Reason::StagedKernel => ErrorKind::Unsupported,
            #[cfg(feature = "kernels")]
            Reason::Kernel(_) | Reason::Weight(_) => ErrorKind::Kernel,
            Reason::Other(_) => ErrorKind::Other,
        }
    }

    /// Returns details if the memory limit of the graph would be exceeded.
    #[must_use]
    pub fn memory_limit(&self) -> Option<MemoryLimitExceeded> {
        match self.0 {
            Reason::Pipeline(Cause::Capacity(CapacityError::Memory { needed, held, limit })) => {
                Some(MemoryLimitExceeded { needed, held, limit })
            }
            _ => None,
        }
    }

    /// Returns details if a store could not be made, opened, read or written.
    #[must_use]
    pub fn store(&self) -> Option<&StoreError> {
        match &self.0 {
            Reason::Pipeline(Cause::Store(error)) => Some(error),
            _ => None,
        }
    }

    /// Returns true if a compaction failed because the engine keeps no files:
    /// [`Graph::compact`](crate::Graph::compact) needs one that does.
    #[must_use]
    pub fn is_nothing_to_compact(&self) -> bool {
        matches!(self.0, Reason::Pipeline(Cause::NothingToCompact))
    }

    /// Returns true if a store to be opened from its checkpoint has none yet.
    #[must_use]
    pub fn is_no_checkpoint(&self) -> bool {
        matches!(self.0, Reason::NoCheckpoint(_))
    }

    /// Returns true if running the same transaction again may succeed.
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        self.kind() == ErrorKind::Conflict
    }
}

fn kind_of(error: &Cause) -> ErrorKind {
    match error {
        Cause::Conflict => ErrorKind::Conflict,
        Cause::NoSuchVertex(_) | Cause::NotKept { .. } | Cause::LogAhead { .. } | Cause::NotYet { .. } => {
            ErrorKind::NotFound
        }
        Cause::WrongKeyKind { .. }
        | Cause::NegativeKey(_)
        | Cause::VertexId(_)
        | Cause::Schema(_)
        | Cause::LabelExists(_)
        | Cause::BulkRecord { .. }
        | Cause::View(_)
        | Cause::NoRecords(_)
        | Cause::NoCommitOrderOfStaged
        | Cause::NoCommitOrderOfParallel { .. }
        | Cause::NoTime { .. }
        | Cause::NotATime { .. } => ErrorKind::InvalidInput,
        Cause::Capacity(_) => ErrorKind::Capacity,
        Cause::NoHistory | Cause::NoCommitOrder | Cause::InMemory | Cause::NothingToCompact => {
            ErrorKind::Unsupported
        }
        Cause::Dropped(_) | Cause::NamelessDeletions { .. } => ErrorKind::ChangesLost,
        Cause::CompactionCancelled => ErrorKind::Cancelled,
        Cause::ReadOnly => ErrorKind::ReadOnly,
        Cause::Poisoned => ErrorKind::Poisoned,
        Cause::Store(error) => kind_of_store(error),
        Cause::Log(error) => kind_of_log(error),
        Cause::Checkpoint(error) => match &**error {
            CheckpointError::Cancelled => ErrorKind::Cancelled,
            CheckpointError::Store(error) => kind_of_store(error),
            _ => ErrorKind::Storage,
        },
        Cause::Read(_) | Cause::Write(_) => ErrorKind::Storage,
    }
}

fn kind_of_store(error: &StoreError) -> ErrorKind {
    match error {
        StoreError::NoStore { .. } => ErrorKind::NotFound,
        StoreError::Exists { .. } => ErrorKind::Exists,
        StoreError::OutOfRetention { .. } => ErrorKind::ChangesLost,
        StoreError::UnknownEngine { .. } | StoreError::Compressed { .. } => ErrorKind::Unsupported,
        StoreError::Schema { .. } | StoreError::NoBackup { .. } => ErrorKind::InvalidInput,
        StoreError::Locked { .. } | StoreError::BeingRead { .. } | StoreError::Overtaken { .. } => {
            ErrorKind::Locked
        }
        StoreError::Log(error) => kind_of_log(error),
        _ => ErrorKind::Storage,
    }
}

fn kind_of_log(error: &LogError) -> ErrorKind {
    match error {
        LogError::Closed => ErrorKind::Closed,
        LogError::TooLarge { .. } => ErrorKind::Capacity,
        _ => ErrorKind::LogFailed,
    }
}

/// A commit needs more memory than the graph may use. All sizes in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLimitExceeded {
    /// The memory that the commit needs.
    pub needed: usize,
    /// The memory that the graph uses.
    pub held: usize,
    /// The limit: [`GraphOptions::memory_limit`](crate::GraphOptions::memory_limit).
    pub limit: usize,
}

/// The private cause of an error.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Reason {
    #[error(transparent)]
    Pipeline(#[from] Cause),
    #[error(transparent)]
    Other(Box<dyn std::error::Error + Send + Sync>),
    #[error(transparent)]
    OtherData(Box<OtherData>),
    #[error(transparent)]
    NoData(Box<NoData>),
    #[error(transparent)]
    OtherProperty(Box<OtherProperty>),
    #[error(transparent)]
    Mismatch(Box<PropertyMismatch>),
    #[error("an edge was read as another type than its label has")]
    ChangedType,
    #[error(
        "between two vertices there may be several edges of label {0:?}, each with a number: write them \
         with `put_parallel_edge`, `update_parallel_edge` or tuples `(source, destination, number, data)`, \
         and read them with `parallel_edge`"
    )]
    NeedsKey(String),
    #[error(
        "the edges of label {0:?} have no numbers: there is at most one between two vertices, unless the \
         label is declared with `GraphOptions::parallel_label`"
    )]
    NotParallel(String),
    #[error("the edges of label {label:?} have {what}: a weight is a number")]
    NoWeight { label: String, what: String },
    #[error(
        "the edge between {from} and {to} has the weight {weight}: the weights of paths are finite and not negative"
    )]
    BadWeight { from: Key, to: Key, weight: f64 },
    #[error("{0} was cancelled")]
    Cancelled(&'static str),
    #[error("{owner} have no property {property:?}{hint}")]
    NoProperty { owner: String, property: String, hint: &'static str },
    #[error(
        "a transaction on declared vertices cannot delete one: its edges lead to vertices that are not locked"
    )]
    DeletesDeclared,
    #[cfg(feature = "kernels")]
    #[error("this kernel is not compiled for the state of a transaction: call `Snapshot::run`")]
    StagedKernel,
    #[cfg(feature = "kernels")]
    #[error("the two states are of different graphs: a computation follows the states of one graph")]
    ForeignSnapshot,
    #[error("vertex {0} was not declared at the start of this transaction")]
    NotDeclared(Key),
    #[error(
        "the engine {0:?} keeps edges in memory only; leave the scratch directory out, or make or open the graph with the engine {able}",
        able = EngineKind::names_with(EngineKind::has_scratch_files)
    )]
    NoScratch(&'static str),
    #[error(
        "the engine {0:?} keeps all edges in memory; leave the memory budget out, or make the graph with the engine {able}",
        able = EngineKind::names_with(EngineKind::owns_files)
    )]
    NoMemoryBudget(&'static str),
    #[error(
        "the engine {0:?} has no files to compact; omit `compaction_limits`, or make the graph with the engine {able}",
        able = EngineKind::names_with(EngineKind::owns_files)
    )]
    NoCompaction(&'static str),
    #[error(
        "this program cannot copy the files of the engine {0:?}: close the store, and copy its directory"
    )]
    NoBackup(&'static str),
    #[cfg_attr(not(feature = "kernels"), allow(dead_code, reason = "static graphs come with the kernels"))]
    #[error("the engine {0:?} keeps edges in files of its own: make an empty graph, and ingest the edges")]
    NoFirstState(&'static str),
    #[error(
        "the engine {0:?} has no edge log to archive; omit `archiving_threshold`, or make or open the graph with the engine {able}",
        able = EngineKind::names_with(EngineKind::has_edge_log)
    )]
    NoEdgeLog(&'static str),
    #[error(
        "compactions take from 0.01 to 1 of the time, and at least 1 byte per second: they cannot be limited to {} and {:?}", .0.time_share, .0.bytes_per_second
    )]
    InvalidCompactionLimits(CompactionLimits),
    #[allow(dead_code, reason = "not every engine has scratch files")]
    #[error(transparent)]
    NoScratchFile(Box<NoScratchFile>),
    #[allow(dead_code, reason = "not every engine has files of its own")]
    #[error("engine `{0}` keeps edges in files of its own, so its graphs are in stores only")]
    NeedsStore(&'static str),
    #[error("the worker threads could not be started: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    #[cfg(feature = "async")]
    #[error("the thread that pulls changes could not be started: {0}")]
    NoThread(std::io::Error),
    #[cfg(feature = "kernels")]
    #[error(transparent)]
    Kernel(hedgerow_kernels::KernelError),
    #[cfg(feature = "kernels")]
    #[error(transparent)]
    Weight(Box<WrongWeight>),
    #[error(
        "the engine `{0}` is not compiled into this program: enable the feature `{0}` of the crate `hedgerow`, \
         or of the command, or use another engine"
    )]
    NotCompiled(&'static str),
    #[error("no random id for the store could be generated: {0}")]
    Random(#[from] getrandom::Error),
    #[error(transparent)]
    OtherOption(Box<OtherOption>),
    #[error(
        "this process was forked while the graph was open, so the graph is its parent's: open or make graphs after the fork, in the \
         process that uses them"
    )]
    Forked,
    #[error("the token is of another graph: subscribe with one of this graph, or begin with a snapshot")]
    ForeignToken,
    #[error(
        "the graph has no commit {at}, whose changes were pulled; its newest is {newest}: it was restored from an older backup, or lost \
         commits that were not durable; begin again with a snapshot"
    )]
    NoSuchCommit { at: CommitTimestamp, newest: CommitTimestamp },
    #[error(
        "another commit has the timestamp {0} of the one whose changes were pulled: the graph was restored from an older backup, or lost \
         commits that were not durable; begin again with a snapshot"
    )]
    OtherCommit(CommitTimestamp),
    #[error(
        "the subscription reads the log of a store, not an open graph: open the checkpoint of the store \
         (`GraphOptions::from_checkpoint`), and subscribe after its token"
    )]
    NoGraph,
    #[error("a subscription is named by 1 to 255 bytes, not {0}")]
    BadName(usize),
    #[error("the subscription {0:?} is in use in this program: drop it first")]
    NameInUse(String),
    #[error(
        "the subscription {name:?} has lost {commits} commits: the log was kept for it up to its limit only; \
         forget it (`Graph::unsubscribe`), subscribe again, and begin with a snapshot"
    )]
    SubscriptionLost { name: String, commits: u64 },
    #[error("the state of a subscription is 64 KiB at most, not {0} bytes: keep a part of it elsewhere")]
    StateTooLarge(usize),
    #[error("there is no checkpoint in {} yet: the writer of the store has to make one", .0.display())]
    NoCheckpoint(PathBuf),
}

/// An option that cannot be changed differs from the manifest at `path`.
#[derive(Debug, thiserror::Error)]
#[error("the {what} of this store, as {} says, is {stored}, not {asked}; open it with {stored}{hint}", path.display())]
pub(crate) struct OtherOption {
    pub(crate) path: PathBuf,
    pub(crate) what: &'static str,
    pub(crate) stored: String,
    pub(crate) asked: String,
    /// A further remedy, after a comma; may be empty.
    pub(crate) hint: &'static str,
}

/// An edge without a valid weight, by the keys of its ends.
#[cfg(feature = "kernels")]
#[derive(Debug, thiserror::Error)]
#[error("the edge from {from} to {to} {fault}")]
pub(crate) struct WrongWeight {
    pub(crate) from: Key,
    pub(crate) to: Key,
    pub(crate) fault: String,
    /// The error of the kernel.
    pub(crate) error: hedgerow_kernels::KernelError,
}

/// The edges of a label cannot be read as a type.
#[derive(Debug, thiserror::Error)]
#[error("the edges of label {label:?} carry {carried}, not {asked}")]
pub(crate) struct OtherData {
    pub(crate) label: String,
    pub(crate) carried: String,
    pub(crate) asked: String,
}

/// An edge is put without data on a label whose edges carry some.
#[derive(Debug, thiserror::Error)]
#[error("the edges of label {label:?} carry {carried}: put them together with it, as `put_edge_with` does")]
pub(crate) struct NoData {
    pub(crate) label: String,
    pub(crate) carried: String,
}

/// A stored property cannot be read as a field of a struct.
#[derive(Debug, thiserror::Error)]
#[error("property {property:?} of label {label:?} is {stored}: a field of type {asked} cannot hold it")]
pub(crate) struct OtherProperty {
    pub(crate) label: String,
    pub(crate) property: String,
    pub(crate) stored: String,
    pub(crate) asked: String,
}

/// The file for the blocks of a graph cannot be made.
#[derive(Debug, thiserror::Error)]
#[error(
    "no scratch file can be made in {}: {source}; choose a directory that can be written, on a file system that can reserve room \
     (ext4, xfs and tmpfs can)",
    directory.display()
)]
pub(crate) struct NoScratchFile {
    pub(crate) directory: PathBuf,
    pub(crate) source: std::io::Error,
}

macro_rules! from_cause {
    ($($(#[$attribute:meta])* $source:ty => $variant:ident;)*) => {
        $(
            $(#[$attribute])*
            impl From<$source> for Error {
                fn from(source: $source) -> Self {
                    Error(Reason::$variant(source.into()))
                }
            }
        )*
    };
}

from_cause! {
    PropertyMismatch => Mismatch;
    SchemaError => Pipeline;
    StoreError => Pipeline;
    VertexIdError => Pipeline;
    // Internal errors.
    #[doc(hidden)] Cause => Pipeline;
    #[doc(hidden)] CapacityError => Pipeline;
    #[doc(hidden)] CheckpointError => Pipeline;
    #[doc(hidden)] DictionaryError => Pipeline;
    #[doc(hidden)] EngineError => Pipeline;
    #[doc(hidden)] LogError => Pipeline;
    #[doc(hidden)] ReadError => Pipeline;
    #[doc(hidden)] SequencerError => Pipeline;
    #[doc(hidden)] ViewError => Pipeline;
    #[doc(hidden)] rayon::ThreadPoolBuildError => Threads;
}
