//! The interface of an engine of the closed set.

use crate::options::GraphOptions;
use hedgerow_model::token::Registered;
use hedgerow_model::{Catalog, Engine, EngineOptions};

/// An engine's part of a snapshot.
pub(crate) enum EngineSnapshot {
    /// No part: `rapid` and `tel` read by timestamp.
    None,
    #[cfg(feature = "hybrid")]
    Hybrid(hedgerow_hybrid::HybridSnapshot),
    #[cfg(feature = "lsm")]
    Lsm(hedgerow_lsm::LsmSnapshot),
    #[cfg(feature = "erased")]
    Erased(hedgerow_erased::ErasedSnapshot),
}

/// An engine of the closed set.
pub(crate) trait GraphEngine: Engine {
    /// Returns the engine's part of a snapshot. Panics if the snapshot belongs to a graph on
    /// another engine.
    fn part_of(snapshot: &EngineSnapshot) -> &Self::Snapshot;

    /// Wraps the engine's part of a snapshot.
    fn snapshot_with(part: Self::Snapshot) -> EngineSnapshot;

    /// Does all work that the first reads of a snapshot would do. By default there is none.
    fn prepare_reads(&self, _part: &Self::Snapshot, _at: &Registered) {}

    /// Bytes that the engine's allocator has reserved, as in
    /// [`MemoryUse`](hedgerow_model::MemoryUse::reserved_bytes).
    fn reserved(&self) -> usize {
        self.memory().reserved_bytes
    }
}

/// Implements [`GraphEngine`] for an engine with a part of its own in each snapshot, and perhaps
/// [`GraphEngine::prepare_reads`].
#[cfg(any(feature = "hybrid", feature = "lsm", feature = "erased"))]
macro_rules! engine_with_snapshots {
    ($engine:ty, $variant:ident $(, $method:item)?) => {
        impl $crate::engines::graph_engine::GraphEngine for $engine {
            #[inline]
            fn part_of(snapshot: &$crate::engines::graph_engine::EngineSnapshot) -> &Self::Snapshot {
                match snapshot {
                    $crate::engines::graph_engine::EngineSnapshot::$variant(part) => part,
                    _ => unreachable!("a snapshot is read in the graph that opened it"),
                }
            }

            fn snapshot_with(part: Self::Snapshot) -> $crate::engines::graph_engine::EngineSnapshot {
                $crate::engines::graph_engine::EngineSnapshot::$variant(part)
            }

            $($method)?
        }
    };
}
#[cfg(any(feature = "hybrid", feature = "lsm", feature = "erased"))]
pub(super) use engine_with_snapshots;

/// The topology and the catalog of a graph.
pub(super) fn engine_options(options: &GraphOptions, catalog: &Catalog) -> EngineOptions {
    EngineOptions { topology: options.settings().topology, catalog: catalog.clone() }
}
