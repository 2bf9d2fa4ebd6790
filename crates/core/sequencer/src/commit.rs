//! The reports of a commit to the sequencer, and the sequencer's answers.

use hedgerow_model::{DeferredOutcome, EdgeOutcome, LabelId, ParallelOutcome};

/// Changes of the counts of vertices by a commit.
#[derive(Clone, Copy, Debug, Default)]
pub struct VertexCounts {
    /// Vertices that did not exist before.
    pub added: u64,
    /// Vertices that existed and no longer do.
    pub removed: u64,
    /// Greater than every vertex id of the commit.
    pub bound: u32,
}

/// Changes of all counts by a commit.
#[derive(Clone, Copy, Debug, Default)]
pub struct CountChanges<'c> {
    /// Changes of the counts of vertices.
    pub vertices: VertexCounts,
    /// Edges that the engine counted.
    pub edges: &'c [EdgeOutcome],
    /// Counts of parallel edges, where they are known.
    pub parallel: &'c [ParallelOutcome],
    /// Edges that the engine will count later.
    pub deferred: &'c [DeferredOutcome],
}

impl CountChanges<'_> {
    /// The labels whose counts change.
    pub(crate) fn labels(self) -> impl Iterator<Item = LabelId> {
        self.edges
            .iter()
            .map(|outcome| outcome.label)
            .chain(self.parallel.iter().map(|outcome| outcome.label))
            .chain(self.deferred.iter().map(|outcome| outcome.label))
    }
}

/// State of the snapshots at the end of a commit, by which the commit decides whether to reclaim.
#[derive(Clone, Copy, Debug, Default)]
pub struct PendingReclaim {
    /// Number of releases, plus the number of commits that may have filed versions during a
    /// release.
    pub releases: u64,
    /// Number of timestamps with readers in the registry.
    pub open_timestamps: usize,
}

/// The kind of a committing writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriterKind {
    /// A writer that is not registered as
    /// [`ReaderKind::Interactive`](crate::ReaderKind::Interactive).
    Blind,
    /// An interactive transaction, which is itself among the open ones.
    Interactive,
}
