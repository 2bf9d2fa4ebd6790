//! What a storage engine is: apply effects, give views, reclaim what nobody sees.

use crate::token::{HeldLocks, LiveTimestamps, Registered, Stamp};
use crate::{
    Allowance, Effects, GraphView, LabelId, LockUnit, Outcome, ShortWrites, Timestamp, VertexId,
    VertexRecords,
};
use rayon::ThreadPool;

/// A store of versioned adjacencies.
///
/// An engine knows nothing of transactions, keys, logs or conflicts; those exist once, in the
/// commit pipeline above it. It is handed proofs ([`token`](crate::token)) of what it may rely on.
pub trait Engine: Send + Sync + 'static {
    /// A state of the graph.
    type View<'s>: GraphView + VertexRecords
    where
        Self: 's;

    /// What [`prepare`](Engine::prepare) built, not yet visible. Dropping it changes nothing.
    type Changes<'l>: Send
    where
        Self: 'l;

    /// How it commits single edges: usually itself, or [`NoShortWrites`](crate::NoShortWrites).
    type ShortWrites: ShortWrites;

    /// Whether [`Engine::exists`] answers; if not, only a view under its lock can tell whether a vertex exists.
    const TELLS_EXISTENCE: bool = false;

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
    /// A limit would be exceeded. Nothing has changed then.
    fn prepare<'l>(
        &'l self,
        locks: &'l HeldLocks<'_>,
        effects: &'l Effects,
        allowance: Allowance,
        pool: Option<&ThreadPool>,
    ) -> Result<Prepared<Self::Changes<'l>>, CapacityError>;

    /// Makes prepared changes part of the graph at `stamp`. Cannot fail, and is short.
    fn apply(&self, stamp: Stamp, changes: Self::Changes<'_>);

    /// The short way of single edges; `None` if every commit takes [`prepare`](Engine::prepare).
    fn short_writes(&self) -> Option<&Self::ShortWrites>;

    /// Whether a vertex exists in the newest state, asked only of an engine that [tells](Engine::TELLS_EXISTENCE). O(1).
    ///
    /// Without its lock, what it says may change at once. But whoever deletes a vertex of a graph whose edges are
    /// stored from one end only holds every lock: to whoever holds one, what exists there goes on existing.
    #[inline]
    fn exists(&self, _vertex: VertexId) -> bool {
        unreachable!("only a view of this engine can tell what exists");
    }

    /// Whether the engine keeps copies of the records of a label's edges in memory of its own, if they have so many bytes: then
    /// nobody needs what the handles of new edges lead to once the changes are applied, and a handle that is read leads
    /// to a copy. That stays as long as the thread was pinned when it read the handle and is pinned still
    /// ([`epoch`](hedgerow_sync::epoch)), until the cursor that lent the handle is called again, or while the owner is locked and not changed.
    #[inline]
    fn embeds_record(&self, _label: LabelId, _bytes: usize) -> bool {
        false
    }

    /// The state at a registered timestamp. O(1).
    fn view<'s>(&'s self, at: &'s Registered) -> Self::View<'s>;

    /// The newest state of the locked units, for conditions and declared writes. O(1).
    ///
    /// Reading a vertex whose unit is not locked panics.
    fn latest<'l>(&'l self, locks: &'l HeldLocks<'_>) -> Self::View<'l>;

    /// Whether so much could be freed without any timestamp being released that writers should [reclaim](Engine::reclaim).
    /// O(1), asked after each commit.
    #[inline]
    fn asks_for_reclamation(&self) -> bool {
        false
    }

    /// Frees versions that no timestamp in `live` sees, until about `budget_bytes` are free.
    ///
    /// Units that are locked by somebody else are left for the next call. Cost is proportional to
    /// what was kept for timestamps that are live no more, not to the size of the graph.
    fn reclaim(&self, live: &LiveTimestamps, units: &dyn UnitLocks, budget_bytes: usize) -> Reclaimed;

    /// Bytes kept for each timestamp and for no newer one, ascending by timestamp.
    ///
    /// Where a unit is locked by somebody else, what is kept there is left out.
    fn retained(&self, units: &dyn UnitLocks) -> Vec<(Timestamp, usize)>;

    /// What the engine holds. O(1). What it has reserved is told by [`Engine::reserved_bytes`], and is 0 here.
    fn memory(&self) -> MemoryUse;

    /// Bytes that the engine's own allocator, if it has one, took from the system and holds free, for all graphs of the
    /// process together: see [`MemoryUse::reserved_bytes`].
    fn reserved_bytes(&self) -> usize {
        0
    }
}

/// Changes that can be applied, and what they will do to the counts.
#[derive(Debug)]
pub struct Prepared<C> {
    /// What [`Engine::apply`] takes.
    pub changes: C,
    /// Edges added and removed.
    pub outcome: Outcome,
    /// Whether applying the changes makes any difference.
    pub changed: bool,
}

/// How [`Engine::reclaim`] takes the locks that it needs.
pub trait UnitLocks {
    /// Runs `work` under the lock of `unit` if that is free; says whether it was.
    fn try_with(&self, unit: LockUnit, work: &mut dyn FnMut(&HeldLocks<'_>)) -> bool;
}

/// What a reclamation did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reclaimed {
    /// Versions freed.
    pub versions: usize,
    /// Bytes freed.
    pub bytes: usize,
    /// Whether dead versions are left, because the budget ended or a unit was locked.
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
    /// memory from the global allocator.
    pub reserved_bytes: usize,
}

impl MemoryUse {
    /// All that the graph holds, which what is reserved is not part of.
    #[must_use]
    pub fn total_bytes(&self) -> usize {
        self.live_bytes + self.retained_bytes + self.index_bytes
    }
}

/// A limit of the store would be exceeded. The commit has changed nothing; the graph stays usable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CapacityError {
    /// All vertex ids are in use.
    #[error("all vertex ids up to {} are in use", VertexId::MAX)]
    VertexIds,
    /// The memory limit of the graph.
    #[error(
        "the commit needs {needed} bytes, the graph holds {held} of at most {limit}; raise the memory limit, delete \
         something, or close snapshots"
    )]
    Memory {
        /// Bytes that the commit needs.
        needed: usize,
        /// Bytes that the graph holds.
        held: usize,
        /// The graph's limit.
        limit: usize,
    },
    /// The file that an engine keeps blocks in cannot grow.
    #[error(
        "the scratch file, which the graph lies in, cannot grow by {needed} bytes: {reason}; make room on its disk or raise \
         its limit, delete something, or close snapshots"
    )]
    Scratch {
        /// Bytes that it should have grown by.
        needed: usize,
        /// Why it cannot.
        reason: std::io::ErrorKind,
    },
    /// The neighbours of one block outgrow its 32-bit offsets.
    #[error("the neighbours of vertices {first} to {last} are more than a block can hold")]
    Block {
        /// The first vertex of the block.
        first: VertexId,
        /// The last vertex of the block.
        last: VertexId,
    },
}
