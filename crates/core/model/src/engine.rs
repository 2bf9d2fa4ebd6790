//! The interface of storage engines: applying effects, reading states, background work.

use crate::token::{HeldLocks, LiveTimestamps, Registered, Stamp};
use crate::{
    Allowance, AppendEdges, CommitTimestamp, Effects, EngineError, GraphView, LabelSchema, LockUnit, Outcome,
    ReadError, ShortWrites, VertexId,
};
use rayon::ThreadPool;

/// A store of versioned adjacencies.
///
/// An engine knows nothing of transactions, keys, logs or conflicts, which the commit pipeline
/// handles. It receives proofs ([`token`](crate::token)) of the guarantees that it may rely on.
///
/// A capability that few engines have is a trait of its own: [`Durable`](crate::Durable),
/// [`Archiving`](crate::Archiving). The code that makes an engine hands its capabilities over.
pub trait Engine: Send + Sync + 'static {
    /// State through which an open snapshot reads, such as open files; `()` in memory.
    type Snapshot: Send + Sync + 'static;

    /// A state of the graph.
    type View<'s>: GraphView
    where
        Self: 's;

    /// Scratch space of [`prepare`](Engine::prepare), from which its changes borrow, such as the
    /// effects in the engine's own form.
    type Room: Default + Send + 'static;

    /// Prepared changes, not yet visible. Dropping them changes nothing.
    type Changes<'l>: Send
    where
        Self: 'l;

    /// The fast path of single edges: usually the engine itself, or
    /// [`NoShortWrites`](crate::NoShortWrites).
    type ShortWrites: ShortWrites;

    /// The lock that covers every structure that a write at `vertex` touches.
    ///
    /// A commit takes its units in ascending order. O(1).
    fn lock_unit(&self, vertex: VertexId) -> LockUnit;

    /// Prepares `effects`: allocates memory, makes copies, builds blocks. Nothing becomes visible.
    ///
    /// `locks` covers the units of all changed vertices; otherwise this panics. Checks the growth
    /// of the newest state against `allowance`. With a pool, large effects are prepared in
    /// parallel.
    ///
    /// # Errors
    /// A limit would be exceeded, or a file of the engine could not be read or written. Then
    /// nothing has changed, and the graph stays usable.
    fn prepare<'l>(
        &'l self,
        locks: &'l HeldLocks<'_>,
        effects: &'l Effects,
        room: &'l mut Self::Room,
        allowance: Allowance,
        pool: Option<&ThreadPool>,
    ) -> Result<Prepared<Self::Changes<'l>>, EngineError>;

    /// Applies prepared changes at `stamp`. Cannot fail, and is short.
    fn apply(&self, stamp: Stamp, changes: Self::Changes<'_>);

    /// The fast path of single edges; `None`, the default, if every commit goes through
    /// [`prepare`](Engine::prepare).
    fn short_writes(&self) -> Option<&Self::ShortWrites> {
        None
    }

    /// Adds a label with the next id, while writers and readers continue. `label` declares the data
    /// on its edges.
    ///
    /// Calls never run concurrently. No commit has effects on the label before the call returns.
    /// Every view, even of an older timestamp, shows the label, without edges until a commit adds
    /// some.
    ///
    /// Cannot fail: by now the label may be in the manifest of a store.
    fn add_label(&self, label: &LabelSchema);

    /// The capability to put the edges of a bulk write in the order of arrival; `None`, the
    /// default, if the engine needs them sorted.
    fn append_edges(&self) -> Option<&dyn AppendEdges> {
        None
    }

    /// Opens the state through which a snapshot of a registered timestamp reads. O(1) in memory.
    ///
    /// The call may come long after the timestamp was published, after commits,
    /// [flushes](crate::Durable::flush) and steps of [maintenance](Engine::maintain), and two calls
    /// for one timestamp may return different values. Both show the same state, because a
    /// registered timestamp keeps the versions that it sees.
    ///
    /// # Errors
    /// A file of the engine could not be read.
    fn open_snapshot(&self, at: &Registered) -> Result<Self::Snapshot, EngineError>;

    /// The state at a registered timestamp, read through `snapshot`. O(1).
    fn view<'s>(&'s self, snapshot: &'s Self::Snapshot, at: &'s Registered) -> Self::View<'s>;

    /// The newest state of the locked units, for conditions and declared writes. O(1).
    ///
    /// Reading a vertex whose unit is not locked panics.
    ///
    /// # Errors
    /// A file of the engine could not be read.
    fn latest<'l>(&'l self, locks: &'l HeldLocks<'_>) -> Result<Self::View<'l>, ReadError>;

    /// Returns true if writers should take a [step](Engine::maintain) even if no timestamp is
    /// released, because the engine has deferred a lot of work. O(1), called after each commit.
    #[inline]
    fn is_maintenance_due(&self) -> bool {
        false
    }

    /// Takes one step of background work: frees versions that no timestamp in `live` sees, and does
    /// other deferred work (rewriting, flushing, compaction), until about `budget_bytes` are free.
    ///
    /// Skips units that another thread has locked. The cost is proportional to the versions kept
    /// for timestamps that are no longer live and to the deferred work, not to the size of the
    /// graph.
    ///
    /// # Errors
    /// A file of the engine could not be read or written. Every view is unchanged; a later step
    /// does the work that this step left.
    ///
    /// A failed step fails no commit and poisons nothing. The commit before the step is applied,
    /// perhaps durable: if it returned an error, the caller would repeat it. Only space is lost,
    /// which the next step may regain once the disk has room. So the graph keeps the first failure
    /// until the application requests the same work (`Graph::reclaim`) or closes the graph
    /// (`Graph::close`), and continues to take steps. If steps keep failing the graph grows, up to
    /// its memory limit: a commit at the limit takes a step before it gives up, and fails with the
    /// error of the step.
    fn maintain(
        &self,
        live: &LiveTimestamps,
        units: &UnitLocks<'_>,
        budget_bytes: usize,
    ) -> Result<MaintenanceProgress, EngineError>;

    /// The memory that the engine uses, without what its allocator has
    /// [reserved](MemoryUse::reserved_bytes). O(1).
    fn memory(&self) -> MemoryUse;
}

/// Changes that can be applied, and their effect on the counts.
#[derive(Debug)]
pub struct Prepared<C> {
    /// The argument of [`Engine::apply`].
    pub changes: C,
    /// Edges added and removed.
    pub outcome: Outcome,
    /// True if applying the changes changes the state; if false, the commit takes no timestamp.
    /// `None` if the engine does not know, because it [defers](Outcome::defer) the lookup of the
    /// edges.
    pub changed: Option<bool>,
}

/// Runs work under the lock of a unit if the lock is free. Returns true if it was free.
pub type UnitLocks<'l> = dyn Fn(LockUnit, &mut dyn FnMut(&HeldLocks<'_>)) -> bool + 'l;

/// Bytes kept for each timestamp and for no newer timestamp, ascending.
pub type Retained = Vec<(CommitTimestamp, usize)>;

/// The progress of a step of [`Engine::maintain`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MaintenanceProgress {
    /// Freed memory and remaining work. Space freed in files is not counted.
    pub reclaimed: Reclaimed,
    /// True if the step did anything, in memory or in files. If it did nothing but work is left,
    /// other threads hold the locks, and the next step should wait.
    pub advanced: bool,
}

impl From<Reclaimed> for MaintenanceProgress {
    /// The progress of a step that only freed memory.
    fn from(reclaimed: Reclaimed) -> Self {
        MaintenanceProgress { reclaimed, advanced: reclaimed.bytes > 0 }
    }
}

/// The memory that a reclamation freed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Reclaimed {
    /// Number of versions freed, including versions that a merge of files left out.
    pub versions: usize,
    /// Bytes by which the [memory that the engine uses](Engine::memory) shrank. Removed files do
    /// not count: budgets and limits are about memory.
    pub bytes: usize,
    /// True if work is left because the budget was used up or a unit was locked.
    pub more: bool,
}

/// Memory in use, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MemoryUse {
    /// The newest version of everything.
    pub live_bytes: usize,
    /// Older versions that snapshots keep, and garbage not yet reclaimed.
    pub retained_bytes: usize,
    /// Directories and other structure.
    pub index_bytes: usize,
    /// Bytes that are free for future writes: freed pieces between used ones, and the allocator's
    /// overhead per piece.
    ///
    /// They belong to no graph and are not part of [`total_bytes`](MemoryUse::total_bytes): the
    /// pool of engine `rapid` serves all graphs of the process, so every graph reports the same
    /// number. 0 if the engine uses the global allocator. For an engine with a pool of the process,
    /// [`Engine::memory`] returns 0 and the graph fills in the number.
    pub reserved_bytes: usize,
}

impl MemoryUse {
    /// The sum of the memory of two parts of a graph.
    #[must_use]
    pub fn plus(self, other: MemoryUse) -> Self {
        MemoryUse {
            live_bytes: self.live_bytes + other.live_bytes,
            retained_bytes: self.retained_bytes + other.retained_bytes,
            index_bytes: self.index_bytes + other.index_bytes,
            reserved_bytes: self.reserved_bytes + other.reserved_bytes,
        }
    }

    /// All memory that the graph uses, without reserved bytes.
    #[must_use]
    pub fn total_bytes(&self) -> usize {
        self.live_bytes + self.retained_bytes + self.index_bytes
    }
}
