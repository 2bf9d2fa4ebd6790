//! The interface of storage engines: applying effects, reading states, background work.

use crate::token::{HeldLocks, LiveTimestamps, Registered, Stamps};
use crate::{
    Allowance, Changes, CommitTimestamp, EngineError, GraphView, LabelSchema, LockUnit, ReadError, Staged,
    VertexId,
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

    /// Scratch space of [`stage`](Engine::stage), from which staged changes borrow, such as the
    /// effects in the engine's own form. Reused by the commits of a stream.
    type Room: Default + Send + 'static;

    /// Staged changes, not yet visible. Dropping them changes nothing.
    type Staged<'l>: Send
    where
        Self: 'l;

    /// True if the engine stages edges without records as they come, unsorted and without locks:
    /// it does not read whether they exist, and counts them [later](crate::Outcome::deferred).
    ///
    /// Such commits are staged concurrently, even for the same edge, but never while a commit holds
    /// the lock of an end of their edges. They are applied one after the other, in the order of
    /// their stamps: of several changes of an edge, the one with the newest stamp wins. This takes
    /// memory without a check of the limit, so a graph with a limit does not do it.
    const APPENDS: bool = false;

    /// The lock that covers every structure that a write at `vertex` touches.
    ///
    /// A commit takes its units in ascending order. O(1).
    fn lock_unit(&self, vertex: VertexId) -> LockUnit;

    /// Returns true if a vertex exists in the newest state. O(1).
    ///
    /// Without the vertex's lock the result may be outdated at once. But if edges are stored from
    /// one end only, deleting a vertex takes every lock of the graph, so while the caller holds any
    /// lock, an existing vertex stays. While a commit [appends](Engine::APPENDS), no other commit
    /// deletes a vertex.
    fn exists(&self, vertex: VertexId) -> bool;

    /// Stages `changes`: allocates memory, makes copies, builds blocks. Nothing becomes visible.
    ///
    /// `locks` covers the units of all changed vertices, except the ends of edges that the engine
    /// [appends](Engine::APPENDS); otherwise this panics. Checks the growth of the newest state
    /// against `allowance`. With a pool, large changes are staged in parallel.
    ///
    /// # Errors
    /// A limit would be exceeded, or a file of the engine could not be read or written. Then
    /// nothing has changed, and the graph stays usable.
    fn stage<'l>(
        &'l self,
        locks: &HeldLocks<'l>,
        changes: Changes<'l>,
        room: &'l mut Self::Room,
        allowance: Allowance,
        pool: Option<&ThreadPool>,
    ) -> Result<Staged<Self::Staged<'l>>, EngineError>;

    /// Applies staged changes, under the locks under which they were staged: a stamp for each
    /// commit that [changes the state](Staged::changing). Cannot fail, and is short.
    ///
    /// The exclusive reference ends every [view of the newest state](Engine::latest) that these
    /// locks gave.
    fn apply(&self, locks: &mut HeldLocks<'_>, stamps: Stamps, staged: Self::Staged<'_>);

    /// Adds a label with the next id, while writers and readers continue. `label` declares the data
    /// on its edges.
    ///
    /// Calls never run concurrently. No commit has effects on the label before the call returns.
    /// Every view, even of an older timestamp, shows the label, without edges until a commit adds
    /// some.
    ///
    /// Cannot fail: by now the label may be in the manifest of a store.
    fn add_label(&self, label: &LabelSchema);

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
