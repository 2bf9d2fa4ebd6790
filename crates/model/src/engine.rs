//! What a storage engine is: apply effects, give views, do its own work in the background.

use crate::token::{HeldLocks, LiveTimestamps, Registered, Stamp};
use crate::{
    Allowance, Durable, Effects, EngineError, LockUnit, Outcome, ReadError, RecordView, ShortWrites,
    Timestamp, VertexId,
};
use rayon::ThreadPool;

/// A store of versioned adjacencies.
///
/// An engine knows nothing of transactions, keys, logs or conflicts; those exist once, in the
/// commit pipeline above it. It is handed proofs ([`token`](crate::token)) of what it may rely on.
pub trait Engine: Send + Sync + 'static {
    /// What is made once for each snapshot and read through as long as it is open, such as the files that it reads; `()` in memory.
    type Snapshot: Send + Sync + 'static;

    /// A state of the graph.
    type View<'s>: RecordView
    where
        Self: 's;

    /// Room for what [`prepare`](Engine::prepare) makes and its changes borrow, such as the effects in a form of the engine's own.
    type Room: Default + Send + 'static;

    /// What [`prepare`](Engine::prepare) built, not yet visible. Dropping it changes nothing.
    type Changes<'l>: Send
    where
        Self: 'l;

    /// Why [`latest`](Engine::latest) can fail: [`ReadError`] if it reads files, `Infallible` in memory, where checks of it compile to nothing.
    type LatestError: Into<ReadError> + Send;

    /// How it commits single edges: usually itself, or [`NoShortWrites`](crate::NoShortWrites).
    type ShortWrites: ShortWrites;

    /// The lock that covers every structure that a write at `vertex` touches.
    ///
    /// A commit takes its units in ascending order. O(1).
    fn lock_unit(&self, vertex: VertexId) -> LockUnit;

    /// Builds what `effects` need: memory, copies, new blocks. Shows nothing to anybody.
    ///
    /// The units of all changed vertices are in `locks`; a miss panics. The memory that the newest state grows by is checked against
    /// `allowance`. With a pool, large effects are prepared in parallel.
    ///
    /// # Errors
    /// A limit would be exceeded, or a file of the engine could not be read or written. Nothing has changed then, and the graph goes on.
    fn prepare<'l>(
        &'l self,
        locks: &'l HeldLocks<'_>,
        effects: &'l Effects,
        room: &'l mut Self::Room,
        allowance: Allowance,
        pool: Option<&ThreadPool>,
    ) -> Result<Prepared<Self::Changes<'l>>, EngineError>;

    /// Makes prepared changes part of the graph at `stamp`. Cannot fail, and is short.
    fn apply(&self, stamp: Stamp, changes: Self::Changes<'_>);

    /// The short way of single edges; `None`, the default, if every commit takes [`prepare`](Engine::prepare).
    fn short_writes(&self) -> Option<&Self::ShortWrites> {
        None
    }

    /// The capability to keep the graph in files; `None` if it ends with the engine, and comes back from a checkpoint and the log.
    fn durable(&self) -> Option<&dyn Durable> {
        None
    }

    /// Whether a commit of about `bytes` bytes may begin, asked before it takes locks. An engine that has put off too much work holds
    /// commits back here, where they block no other commit. O(1).
    ///
    /// With nothing put off the engine grants a commit of any size: maintenance could not help a commit that is larger than all it allows, which would
    /// wait for ever.
    #[inline]
    fn admit(&self, bytes: usize) -> Admission {
        let _ = bytes;
        Admission::Granted
    }

    /// Makes what a snapshot of a registered timestamp reads through. O(1) in memory.
    ///
    /// The call may come long after the timestamp was published: commits, [flushes](Durable::flush) and steps of [maintenance](Engine::maintain) may
    /// have come between, and what is made of the same timestamp twice may differ. It shows the same state each time, since a registered timestamp
    /// keeps the versions that it sees.
    ///
    /// # Errors
    /// A file of the engine could not be read.
    fn open_snapshot(&self, at: &Registered) -> Result<Self::Snapshot, EngineError>;

    /// The state at a registered timestamp, through what was made of it. O(1).
    fn view<'s>(&'s self, snapshot: &'s Self::Snapshot, at: &'s Registered) -> Self::View<'s>;

    /// The newest state of the locked units, for conditions and declared writes. O(1).
    ///
    /// Reading a vertex whose unit is not locked panics.
    ///
    /// # Errors
    /// A file of the engine could not be read.
    fn latest<'l>(&'l self, locks: &'l HeldLocks<'_>) -> Result<Self::View<'l>, Self::LatestError>;

    /// Whether the engine has put off so much work that needs no timestamp to be released that writers should take a
    /// [step](Engine::maintain). O(1), asked after each commit.
    #[inline]
    fn is_maintenance_due(&self) -> bool {
        false
    }

    /// Takes one step of background work: frees versions that no timestamp in `live` sees, and does what else the engine has put off
    /// (rewriting, flushing, compaction), until about `budget_bytes` are free.
    ///
    /// Units that another thread has locked are left for a later step. Cost is proportional to what was kept for timestamps that are
    /// live no more and to what was put off, not to the size of the graph.
    ///
    /// # Errors
    /// A file of the engine could not be read or written. Every view shows what it showed; what the step was to free or to
    /// move stays where it is, and a later step does it.
    ///
    /// A failed step fails no commit and poisons nothing. The commit that a writer takes it after is applied, perhaps durable: told that
    /// it failed, the caller would repeat it. And nothing is lost but room, which the next step may regain, for a full disk empties. So
    /// the graph keeps the first failure until the application asks for the same work (`Graph::reclaim`) or for the end of all work
    /// (`Graph::close`), and takes steps as before meanwhile. Where steps go on failing the graph grows, up to its memory limit: a commit
    /// there takes a step before it gives up, and fails with the error of that.
    fn maintain(
        &self,
        live: &LiveTimestamps,
        units: &dyn UnitLocks,
        budget_bytes: usize,
    ) -> Result<Progress, EngineError>;

    /// Bytes kept for each timestamp and for no newer one, ascending by timestamp; empty if the engine does not tell them apart.
    ///
    /// Where a unit is locked by another thread, what is kept there is left out.
    fn retained(&self, _units: &dyn UnitLocks) -> Vec<(Timestamp, usize)> {
        Vec::new()
    }

    /// What the engine holds in memory, without what its allocator has [reserved](MemoryUse::reserved_bytes). O(1).
    fn memory(&self) -> MemoryUse;
}

/// Changes that can be applied, and what they will do to the counts.
#[derive(Debug)]
pub struct Prepared<C> {
    /// What [`Engine::apply`] takes.
    pub changes: C,
    /// Edges added and removed.
    pub outcome: Outcome,
    /// Whether applying the changes may make a difference; if not, the commit takes no timestamp. An engine that always looks says exactly that. One
    /// that [defers](Outcome::defer) counts does not know whether what it puts or deletes exists, and says `true`.
    pub changed: bool,
}

/// What [`Engine::admit`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The commit may begin.
    Granted,
    /// Not before a step of [maintenance](Engine::maintain), after which to ask again; of an engine that [owns files](Engine::durable), not before a
    /// [flush](Durable::flush).
    AfterMaintenance,
}

/// How [`Engine::maintain`] takes the locks that it needs.
pub trait UnitLocks {
    /// Runs `work` under the lock of `unit` if that is free; says whether it was.
    fn try_with(&self, unit: LockUnit, work: &mut dyn FnMut(&HeldLocks<'_>)) -> bool;
}

/// What a step of [`Engine::maintain`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// What it freed in memory, and whether anything is left to do. What it freed in files is not counted.
    pub reclaimed: Reclaimed,
    /// Whether the step did anything, in memory or in files. If not, and something is left, other threads hold the locks: the next step waits.
    pub advanced: bool,
}

impl From<Reclaimed> for Progress {
    /// A step that did nothing but free memory.
    fn from(reclaimed: Reclaimed) -> Self {
        Progress { reclaimed, advanced: reclaimed.bytes > 0 }
    }
}

/// What a reclamation did in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reclaimed {
    /// Versions freed. An engine on files counts those that a merge left out, too.
    pub versions: usize,
    /// Bytes by which [what the engine holds in memory](Engine::memory) shrank. Files that were removed do not count: budgets and limits are about memory.
    pub bytes: usize,
    /// Whether work is left, because the budget ended or a unit was locked.
    pub more: bool,
}

/// What an engine holds, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryUse {
    /// The newest version of everything.
    pub live_bytes: usize,
    /// Older versions that snapshots keep, and dead ones not yet reclaimed.
    pub retained_bytes: usize,
    /// Directories and other structure.
    pub index_bytes: usize,
    /// Bytes that are held free for what is written next: pieces given back between others, and what the allocator keeps
    /// beside each piece.
    ///
    /// They belong to no graph and are not part of [`total_bytes`](MemoryUse::total_bytes): the pool of engine `rapid`
    /// serves all graphs of the process, so this is the same number whichever of them is asked. 0 where the engine takes its
    /// memory from the global allocator, and wherever an [engine](Engine::memory) tells what it holds: the graph fills it in.
    pub reserved_bytes: usize,
}

impl MemoryUse {
    /// What two parts of a graph hold together.
    #[must_use]
    pub fn plus(self, other: MemoryUse) -> Self {
        MemoryUse {
            live_bytes: self.live_bytes + other.live_bytes,
            retained_bytes: self.retained_bytes + other.retained_bytes,
            index_bytes: self.index_bytes + other.index_bytes,
            reserved_bytes: self.reserved_bytes + other.reserved_bytes,
        }
    }

    /// All that the graph holds, which what is reserved is not part of.
    #[must_use]
    pub fn total_bytes(&self) -> usize {
        self.live_bytes + self.retained_bytes + self.index_bytes
    }
}
