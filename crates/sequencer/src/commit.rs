//! What a commit tells the sequencer, and what it is told.

use hedgerow_model::{DeferredOutcome, EdgeOutcome, LabelId, ParallelOutcome};

/// How a commit changes the counts, beside the edges that its engine counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct VertexCounts {
    /// Vertices that did not exist before.
    pub added: u64,
    /// Vertices that existed and do not exist any more.
    pub removed: u64,
    /// Above every vertex id of the commit.
    pub bound: u32,
}

/// How a commit changes all counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct CountChanges<'c> {
    /// Of vertices.
    pub vertices: VertexCounts,
    /// What the engine counted.
    pub edges: &'c [EdgeOutcome],
    /// What is known of parallel edges beside it.
    pub parallel: &'c [ParallelOutcome],
    /// What the engine left to be counted later.
    pub deferred: &'c [DeferredOutcome],
}

impl CountChanges<'_> {
    /// The labels whose edges are counted anew.
    pub(crate) fn labels(self) -> impl Iterator<Item = LabelId> {
        self.edges
            .iter()
            .map(|outcome| outcome.label)
            .chain(self.parallel.iter().map(|outcome| outcome.label))
            .chain(self.deferred.iter().map(|outcome| outcome.label))
    }
}

/// What a commit saw of the snapshots when it took its stamp.
#[derive(Clone, Copy, Debug, Default)]
pub struct PendingReclaim {
    /// How often a timestamp had lost its last reader, or a commit filed something meanwhile.
    pub releases: u64,
    /// Whether a timestamp lost its last reader between the commit's stamp and its end: if the last one, nothing else reclaims what the commit filed.
    pub filed_late: bool,
    /// How many timestamps had readers in the registry.
    pub open_timestamps: usize,
}

/// Who commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// Nobody who registered himself as [`Reader::Interactive`](crate::Reader::Interactive).
    Blind,
    /// An interactive transaction, itself among those that are open.
    Interactive,
}
