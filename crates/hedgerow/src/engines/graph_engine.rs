//! The interface of an engine of the closed set.

use super::EngineSnapshot;
use crate::options::GraphOptions;
use hedgerow_model::token::Registered;
use hedgerow_model::{Catalog, Engine, EngineOptions};

/// An engine of the closed set.
pub(crate) trait GraphEngine: SnapshotPart {
    /// Does all work that the first reads of a snapshot would do. By default there is none.
    fn prepare_reads(&self, _part: &Self::Snapshot, _at: &Registered) {}

    /// Bytes that the engine's allocator has reserved, as in
    /// [`MemoryUse`](hedgerow_model::MemoryUse::reserved_bytes).
    fn reserved(&self) -> usize {
        self.memory().reserved_bytes
    }
}

/// An engine whose part of a snapshot is a variant of [`EngineSnapshot`].
pub(crate) trait SnapshotPart: Engine {
    /// Returns the engine's part of a snapshot. Panics if the snapshot belongs to a graph on
    /// another engine.
    fn part_of(snapshot: &EngineSnapshot) -> &Self::Snapshot;

    /// Wraps the engine's part of a snapshot.
    fn snapshot_with(part: Self::Snapshot) -> EngineSnapshot;
}

/// Defines the enums of engines and of their parts of snapshots, each with a variant for each
/// feature that is compiled.
macro_rules! closed_set {
    ($($feature:literal => $variant:ident($engine:ty),)*) => {
        /// The engine of [`TypedStore::store`] at its own type, for code that is compiled for each
        /// engine.
        pub(crate) enum TypedEngine {
            $(#[cfg(feature = $feature)] $variant(Arc<$engine>),)*
        }

        /// An engine's part of a snapshot.
        pub(crate) enum EngineSnapshot {
            $(#[cfg(feature = $feature)] $variant(<$engine as Engine>::Snapshot),)*
        }

        $(
            #[cfg(feature = $feature)]
            impl SnapshotPart for $engine {
                #[inline]
                fn part_of(snapshot: &EngineSnapshot) -> &Self::Snapshot {
                    match snapshot {
                        EngineSnapshot::$variant(part) => part,
                        #[allow(unreachable_patterns, reason = "unless other engines are compiled")]
                        _ => unreachable!("a snapshot is read in the graph that opened it"),
                    }
                }

                fn snapshot_with(part: Self::Snapshot) -> EngineSnapshot {
                    EngineSnapshot::$variant(part)
                }
            }
        )*
    };
}
pub(super) use closed_set;

/// The topology and the catalog of a graph.
pub(super) fn engine_options(options: &GraphOptions, catalog: &Catalog) -> EngineOptions {
    EngineOptions { topology: options.settings().topology, catalog: catalog.clone() }
}
