//! Errors: a small public kind that says what the caller can do, around a reason that says what happened.

use hedgerow_compute::MemoryError;
use hedgerow_csr::CsrError;
use hedgerow_dictionary::DictionaryError;
use hedgerow_kernels::KernelError;
use hedgerow_log::checkpoint::CheckpointError;
use hedgerow_log::{LogError, StoreError};
use hedgerow_model::{
    CapacityError, EngineError, Key, KeyKind, LabelId, ReadError, SchemaError, Timestamp, VertexIdError,
    ViewError, WriteError,
};
use hedgerow_sequencer::SequencerError;
use std::path::PathBuf;
use std::time::Duration;

/// Why a call on a graph failed, by what the caller can do about it.
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
    /// Somebody else has the store open: another process, or another part of this one. Nothing has changed; try again when it
    /// is closed.
    Locked,
    /// The call's input does not fit the graph: a key of the wrong kind, an unknown label, a
    /// value of another type. Nothing has changed; correct the call.
    InvalidInput,
    /// A limit would be exceeded. Nothing has changed; the graph stays usable.
    Capacity,
    /// The options ask for something that is not built, or a graph in memory is asked for what only a store can do.
    Unsupported,
    /// The graph was opened to be read only.
    ReadOnly,
    /// The graph was closed. Reads go on; open it again to write.
    Closed,
    /// Writing or syncing the log failed. Whether the commits that were under way are durable nobody knows; no other will be taken.
    /// What was acknowledged before is safe, and reads go on. Open the store again to write.
    LogFailed,
    /// A commit failed half way through. Open snapshots stay readable; nothing else goes on.
    Poisoned,
    /// The store could not be read or written, or is damaged: see [`Error::store`].
    Storage,
    /// A checkpoint was cancelled. The one before is still there.
    Cancelled,
    /// A kernel was cancelled or could not run.
    Kernel,
}

/// Why a call on a graph failed.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(#[from] Reason);

impl Error {
    /// What happened.
    pub(crate) fn into_reason(self) -> Reason {
        self.0
    }

    /// What the caller can do about it.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match &self.0 {
            Reason::Conflict => ErrorKind::Conflict,
            Reason::NoSuchVertex(_)
            | Reason::NoCheckpoint(_)
            | Reason::NotKept { .. }
            | Reason::LogAhead { .. }
            | Reason::NotYet { .. } => ErrorKind::NotFound,
            Reason::WrongKeyKind { .. }
            | Reason::VertexId(_)
            | Reason::Schema(_)
            | Reason::BulkRecord { .. }
            | Reason::View(_)
            | Reason::NotDeclared(_)
            | Reason::NoRecords(_)
            | Reason::NeedsKey(_)
            | Reason::NotParallel(_)
            | Reason::NoCommitOrderOfParallel { .. }
            | Reason::NoCommitOrderOfStaged
            | Reason::NoTime { .. }
            | Reason::NotATime { .. }
            | Reason::OtherOption(_) => ErrorKind::InvalidInput,
            Reason::Capacity(_) => ErrorKind::Capacity,
            Reason::NoHistory
            | Reason::NoCommitOrder
            | Reason::NoScratch(_)
            | Reason::InMemory
            | Reason::Threads(_) => ErrorKind::Unsupported,
            #[cfg(feature = "custom-engines")]
            Reason::NeedsStore(_) => ErrorKind::Unsupported,
            Reason::ReadOnly => ErrorKind::ReadOnly,
            Reason::Poisoned => ErrorKind::Poisoned,
            Reason::Store(error) => kind_of_store(error),
            Reason::Log(error) => kind_of_log(error),
            Reason::Checkpoint(error) => match &**error {
                CheckpointError::Cancelled => ErrorKind::Cancelled,
                CheckpointError::Store(error) => kind_of_store(error),
                _ => ErrorKind::Storage,
            },
            Reason::Read(_) | Reason::Write(_) | Reason::Random(_) | Reason::NoScratchFile(_) => {
                ErrorKind::Storage
            }
            Reason::Kernel(_) | Reason::Csr(_) => ErrorKind::Kernel,
        }
    }

    /// If the memory limit of the graph would be exceeded: which, what the graph holds, and what the commit needs.
    #[must_use]
    pub fn memory_limit(&self) -> Option<MemoryLimitExceeded> {
        match self.0 {
            Reason::Capacity(CapacityError::Memory { needed, held, limit }) => {
                Some(MemoryLimitExceeded { needed, held, limit })
            }
            _ => None,
        }
    }

    /// If the arrays of a computation over all vertex ids do not fit into memory: why.
    #[must_use]
    pub fn memory(&self) -> Option<&MemoryError> {
        match &self.0 {
            Reason::Kernel(KernelError::Memory(error) | KernelError::Csr(CsrError::Memory(error)))
            | Reason::Csr(CsrError::Memory(error)) => Some(error),
            _ => None,
        }
    }

    /// If a kernel was cancelled or could not run: why, in detail.
    #[must_use]
    pub fn kernel(&self) -> Option<&KernelError> {
        match &self.0 {
            Reason::Kernel(error) => Some(error),
            _ => None,
        }
    }

    /// If a store could not be made, opened, read or written: why, in detail.
    #[must_use]
    pub fn store(&self) -> Option<&StoreError> {
        match &self.0 {
            Reason::Store(error) => Some(error),
            _ => None,
        }
    }

    /// Whether running the same transaction again may succeed.
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        self.kind() == ErrorKind::Conflict
    }
}

fn kind_of_store(error: &StoreError) -> ErrorKind {
    match error {
        StoreError::NoStore { .. } => ErrorKind::NotFound,
        StoreError::Exists { .. } => ErrorKind::Exists,
        StoreError::UnknownEngine { .. } => ErrorKind::Unsupported,
        StoreError::Schema { .. } => ErrorKind::InvalidInput,
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

/// A commit needs more memory than the graph may hold. All in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLimitExceeded {
    /// What the commit needs.
    pub needed: usize,
    /// What the graph holds.
    pub held: usize,
    /// What it may hold: [`GraphOptions::memory_limit`](crate::GraphOptions::memory_limit).
    pub limit: usize,
}

/// What happened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Reason {
    #[error("another commit changed what this transaction read or wrote; run it again")]
    Conflict,
    #[error("there is no vertex {0}, and the graph is strict: add it before its edges")]
    NoSuchVertex(Key),
    #[error("the key {key} does not fit: the keys of this graph are of kind {expected}")]
    WrongKeyKind { key: Key, expected: KeyKind },
    #[error("the edges of label number {} have no records", .0.0)]
    NoRecords(LabelId),
    #[error(
        "between two vertices there may be several edges of label number {}, told apart by a key: ask by that \
         (`update_parallel_edge`, `parallel_edge`)", .0.0
    )]
    NeedsKey(LabelId),
    #[error("edges of label number {} have no keys: between two vertices there is one at most", .0.0)]
    NotParallel(LabelId),
    #[error(
        "the edges of {label:?} have no time: it would be a property of type timestamp, or an integer beside each edge; \
         name the property of type i64 that says it, if there is one"
    )]
    NoTime { label: String },
    #[error("the property {property:?} says no time: it would be of type timestamp or i64")]
    NotATime { property: String },
    #[error("this graph keeps no past states: make or open it with a history (`GraphOptions::history`)")]
    NoHistory,
    #[error(
        "that state is not kept any more, or was before the graph was opened; the oldest is that of commit {oldest}"
    )]
    NotKept { oldest: Timestamp },
    #[error(
        "a commit of this store carries a time {} seconds ahead of this machine's clock, so it is unknown which state was the newest \
         at the time asked for; open the state after a commit, or the newest", ahead.as_secs_f64()
    )]
    LogAhead { ahead: Duration },
    #[error("commit {at} is not there yet; the newest is {newest}")]
    NotYet { at: Timestamp, newest: Timestamp },
    #[error("this engine does not keep the order in which edges were put; `tel` does")]
    NoCommitOrder,
    #[error("edges of {label:?} may be parallel, and are not kept in the order in which they were put")]
    NoCommitOrderOfParallel { label: String },
    #[error(
        "what a transaction staged is of no commit yet: read its edges by their time, or a snapshot by commit"
    )]
    NoCommitOrderOfStaged,
    #[error("vertex {0} was not declared at the start of this transaction")]
    NotDeclared(Key),
    #[error(transparent)]
    VertexId(#[from] VertexIdError),
    #[error(transparent)]
    Schema(#[from] SchemaError),
    #[error("number {edge} of the edges to ingest, counted from 0: {error}")]
    BulkRecord { edge: usize, error: SchemaError },
    #[error(transparent)]
    View(#[from] ViewError),
    #[error(transparent)]
    Capacity(#[from] CapacityError),
    #[error(
        "the engine {0:?} keeps edges in memory only; leave the scratch directory out, or make or open the graph with the engine `tel`"
    )]
    NoScratch(&'static str),
    #[error(transparent)]
    NoScratchFile(Box<NoScratchFile>),
    #[cfg(feature = "custom-engines")]
    #[error(
        "engine `{0}` keeps edges in files of its own: make its graphs with `Graph::create`, and open them with `Graph::open`"
    )]
    NeedsStore(&'static str),
    #[error("the worker threads could not be started: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    #[error("a commit of this graph failed half way; open snapshots can still be read, nothing else")]
    Poisoned,
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error(transparent)]
    Kernel(#[from] KernelError),
    #[error(transparent)]
    Csr(#[from] CsrError),
    // Boxed where it is large: a commit hands errors up by value.
    #[error(transparent)]
    Store(Box<StoreError>),
    #[error(transparent)]
    Log(#[from] LogError),
    #[error(transparent)]
    Checkpoint(Box<CheckpointError>),
    #[error("no random number could be had, by which stores are told apart: {0}")]
    Random(#[from] getrandom::Error),
    #[error(transparent)]
    OtherOption(Box<OtherOption>),
    #[error("there is no checkpoint in {} yet: whoever writes to the store has to make one", .0.display())]
    NoCheckpoint(PathBuf),
    #[error("this graph was opened to be read only")]
    ReadOnly,
    #[error("this graph lives in memory; make it with `Graph::create` to keep it")]
    InMemory,
}

/// An option that cannot be changed differs from what the manifest at `path` says.
#[derive(Debug, thiserror::Error)]
#[error("the {what} of this store, as {} says, is {stored}, not {asked}; open it with that", path.display())]
pub(crate) struct OtherOption {
    pub(crate) path: PathBuf,
    pub(crate) what: &'static str,
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

impl Reason {
    /// Whether memory, or the disk that the graph lies on, has no room.
    pub(crate) fn is_full(&self) -> bool {
        matches!(self, Reason::Capacity(CapacityError::Memory { .. } | CapacityError::Scratch { .. }))
    }
}

impl From<EngineError> for Reason {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Capacity(error) => Reason::Capacity(error),
            EngineError::Read(error) => Reason::Read(error),
            EngineError::Write(error) => Reason::Write(error),
        }
    }
}

impl From<StoreError> for Reason {
    fn from(error: StoreError) -> Self {
        Reason::Store(Box::new(error))
    }
}

impl From<CheckpointError> for Reason {
    fn from(error: CheckpointError) -> Self {
        Reason::Checkpoint(Box::new(error))
    }
}

impl From<DictionaryError> for Reason {
    fn from(error: DictionaryError) -> Self {
        match error {
            DictionaryError::WrongKeyKind { key, expected } => Reason::WrongKeyKind { key, expected },
            DictionaryError::VertexId(error) => Reason::VertexId(error),
            DictionaryError::Capacity(error) => Reason::Capacity(error),
        }
    }
}

impl From<SequencerError> for Reason {
    fn from(error: SequencerError) -> Self {
        match error {
            SequencerError::Poisoned => Reason::Poisoned,
            SequencerError::NoHistory => Reason::NoHistory,
            SequencerError::NotKept { oldest } => Reason::NotKept { oldest },
            SequencerError::NotYet { at, newest } => Reason::NotYet { at, newest },
            SequencerError::Log(error) => Reason::Log(error),
        }
    }
}

macro_rules! from_reason {
    ($($source:ty),*) => {
        $(impl From<$source> for Error {
            fn from(source: $source) -> Self {
                Error(source.into())
            }
        })*
    };
}

from_reason!(
    VertexIdError,
    SchemaError,
    ViewError,
    CapacityError,
    rayon::ThreadPoolBuildError,
    KernelError,
    CsrError,
    StoreError,
    LogError,
    CheckpointError,
    SequencerError,
    DictionaryError
);

/// A read of the store failed inside a commit. In memory this cannot be.
pub(crate) fn read_failed(error: impl Into<ReadError>) -> Reason {
    Reason::Read(error.into())
}
