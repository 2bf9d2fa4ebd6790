//! The choice of the state that a snapshot shows, and of the costs of opening and reading it.

use super::Snapshot;
use crate::engines::SharedStore;
use crate::error::Error;
use hedgerow_sequencer::{ReaderKind, Sequencer};

/// The options of [`Graph::snapshot_with`](crate::Graph::snapshot_with) (GraphOne, 6.1: static
/// views).
///
/// | | shows | opening costs | reading costs |
/// |---|---|---|---|
/// | [fresh](SnapshotOptions::fresh) | everything committed | O(1) | on `hybrid`, the first scan sorts the changes that are not archived |
/// | [stale](SnapshotOptions::stale) | the newest state that is cheap to read | O(1) | the edges only |
/// | [private](SnapshotOptions::private) | everything committed | on `hybrid` O(c log c) for c changes that are not archived | as fresh, but nothing for the first scan |
///
/// Only [`Hybrid`](crate::EngineKind::Hybrid) writes edges to a log first: on other engines the
/// newest state is as cheap to read as any, and the three views are the same.
///
/// A stale view of `hybrid` shows the state that was archived last. Archiving begins when
/// [`GraphOptions::archiving_threshold`](crate::GraphOptions::archiving_threshold) edges wait, and
/// takes a moment; so the view lacks about that many edges, and more if writers are faster than
/// archiving. [`Snapshot::behind`] and [`Snapshot::age`] say how old it is. Before anything is
/// archived it shows the newest state; [`Graph::reclaim`](crate::Graph::reclaim) archives
/// everything.
///
/// ```
/// use hedgerow::prelude::*;
/// use hedgerow::{EngineKind, SnapshotOptions};
///
/// # if cfg!(feature = "hybrid") {
/// let graph = Graph::in_memory(GraphOptions::new().engine(EngineKind::Hybrid).label::<()>("follows"))?;
/// let follows = graph.label::<()>("follows")?;
/// graph.put_edge(follows, 1, 2)?;
/// graph.reclaim()?; // Archives.
/// graph.put_edge(follows, 2, 3)?;
///
/// let stale = graph.snapshot_with(SnapshotOptions::stale())?;
/// assert_eq!((stale.edge_count_of(follows).exact(), stale.behind()), (Some(1), 1));
/// let fresh = graph.snapshot()?;
/// assert!(fresh.contains_edge(follows, 2, 3)?);
/// // The difference between the two, for computations over edges.
/// let recent = fresh.unarchived_edges::<()>(follows)?;
/// assert!(recent.iter().all(|edge| edge.commit > stale.timestamp()) && recent.len() == 1);
/// # }
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SnapshotOptions(View);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum View {
    #[default]
    Fresh,
    Stale,
    Private,
}

impl SnapshotOptions {
    /// Selects the newest state: everything that was committed before.
    #[must_use]
    pub const fn fresh() -> Self {
        SnapshotOptions(View::Fresh)
    }

    /// Selects the newest state that is cheap to read.
    #[must_use]
    pub const fn stale() -> Self {
        SnapshotOptions(View::Stale)
    }

    /// Selects the newest state, prepared for long runs: the preparation of reads is done when the
    /// snapshot is opened. The time of reads does not depend on the length of the log.
    #[must_use]
    pub const fn private() -> Self {
        SnapshotOptions(View::Private)
    }
}

impl Snapshot {
    /// Opens the state that the options select.
    pub(crate) fn open_with(
        typed: &SharedStore,
        SnapshotOptions(view): SnapshotOptions,
    ) -> Result<Self, Error> {
        typed.get()?;
        let is_private = view == View::Private;
        let ordered = super::Ordered(typed.clone());
        let registration = match view {
            View::Fresh | View::Private => Sequencer::open(ordered, ReaderKind::Snapshot)?,
            View::Stale => Sequencer::open_stale(ordered)?,
        };
        Self::of(registration, is_private)
    }

    /// Returns the number of commits to the graph after this state. O(1).
    #[must_use]
    pub fn behind(&self) -> u64 {
        let newest = self.shared().even_in_child().store.sequencer.newest().0;
        newest.0 - self.timestamp().0
    }
}
