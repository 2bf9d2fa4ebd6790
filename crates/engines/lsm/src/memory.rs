//! Memory use of the engine's parts, and its limits.

use crate::engine::LsmEngine;
use crate::mem_graph::MemGraph;
use hedgerow_model::{ColumnType, CommitTimestamp, EngineMemory, MemoryUse};
use hedgerow_sync::{Arc, GrowingList, Mutex, MutexGuard};
use std::sync::Weak;

/// Divisor of the memory budget for the minimum size of the cache of blocks, whatever the other
/// parts take.
const LEAST_CACHE_PART: usize = 16;

/// Limits on the memory of the parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryLimits {
    /// Bytes of changes at which commits wait for a flush.
    pub(crate) mem_graph_bytes: usize,
    /// Bytes for blocks of files, their indexes, the set of vertices and kept rows.
    pub(crate) cache_bytes: usize,
}

impl MemoryLimits {
    /// Creates an empty MemGraph for half of the changes, in commits after `begin`. Its blocks are
    /// small parts of that, and most rows need at most 64 bytes.
    pub(crate) fn new_mem_graph(self, columns: &GrowingList<ColumnType>, begin: CommitTimestamp) -> MemGraph {
        let columns: Vec<_> = columns.iter().copied().collect();
        let bytes = self.mem_graph_bytes / 2;
        let block_words = (bytes / 32 / size_of::<u64>()).next_power_of_two().clamp(1024, 8192);
        MemGraph::new(&columns, begin, block_words, bytes / 64)
    }
}

/// Flushed MemGraphs, which snapshots may still read.
#[derive(Debug, Default)]
pub(crate) struct FlushedMemGraphs(Mutex<Vec<Weak<MemGraph>>>);

impl FlushedMemGraphs {
    /// Adds MemGraphs, and forgets MemGraphs that are gone. O(MemGraphs).
    pub(crate) fn add<'m>(&self, mem_graphs: impl Iterator<Item = &'m Arc<MemGraph>>) {
        let mut flushed = self.0.lock();
        flushed.retain(|mem_graph| mem_graph.strong_count() > 0);
        flushed.extend(mem_graphs.map(Arc::downgrade));
    }

    /// Returns the bytes of the MemGraphs that snapshots read. O(MemGraphs).
    fn bytes(&self) -> usize {
        let flushed = self.0.lock();
        flushed.iter().filter_map(Weak::upgrade).map(|mem_graph| mem_graph.bytes()).sum()
    }
}

impl LsmEngine {
    /// Returns the bytes of the parts. O(MemGraphs · adjacencies).
    pub(crate) fn memory_by_part(&self) -> EngineMemory {
        let sources = self.sources();
        EngineMemory {
            recent_bytes: sources.mem_graph_bytes() + self.flushed.bytes(),
            index_bytes: sources.levels.index_bytes(),
            vertex_bytes: self.vertices.bytes(),
            cache_bytes: self.tree.cache_bytes() + self.kept.now(),
            budget_bytes: self.limits.mem_graph_bytes + self.limits.cache_bytes,
        }
    }

    /// Returns the bytes in memory, in the terms of all engines. O(MemGraphs · adjacencies).
    pub(crate) fn memory_use(&self) -> MemoryUse {
        let (sources, kept_bytes) = (self.sources(), self.kept.now());
        MemoryUse {
            live_bytes: sources.mem_graph_bytes(),
            // Memory that only snapshots read.
            retained_bytes: self.flushed.bytes() + kept_bytes,
            index_bytes: sources.levels.index_bytes() + self.vertices.bytes() + self.tree.cache_bytes(),
            ..MemoryUse::default()
        }
    }

    /// Divides the memory anew if snapshots keep more than was claimed, unless another thread does.
    pub(crate) fn share_memory_if_due(&self) {
        if self.kept.is_claim_due()
            && let Some(sharing) = self.sharing.try_lock()
        {
            self.share(sharing);
        }
    }

    /// Gives the cache of blocks the memory left by MemGraphs, kept rows, the indexes of files and
    /// the set of vertices. O(MemGraphs · adjacencies + files), and O(blocks) if the size changes
    /// much.
    pub(crate) fn share_memory(&self) {
        self.share(self.sharing.lock());
    }

    fn share(&self, _one_at_a_time: MutexGuard<'_, ()>) {
        let EngineMemory { recent_bytes, index_bytes, vertex_bytes, budget_bytes, .. } =
            self.memory_by_part();
        let taken = recent_bytes.max(self.limits.mem_graph_bytes) + index_bytes + vertex_bytes;
        let left = budget_bytes.saturating_sub(taken).min(self.limits.cache_bytes);
        let blocks = usize::try_from(self.sources().levels.most_bytes()).unwrap_or(usize::MAX);
        let kept = self.kept.claim(left, blocks);
        self.tree.limit_cache(left.saturating_sub(kept).max(budget_bytes / LEAST_CACHE_PART));
    }
}

#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests {
    use super::*;
    use hedgerow_model::CommitTimestamp;

    #[test]
    fn flushed_mem_graphs_count_while_they_are_read() {
        let flushed = FlushedMemGraphs::default();
        let mem_graphs =
            [1, 2].map(|_| Arc::new(MemGraph::new(&[ColumnType::Unit], CommitTimestamp(0), 64, 16)));
        flushed.add(mem_graphs.iter());
        assert_eq!(flushed.bytes(), mem_graphs.iter().map(|mem_graph| mem_graph.bytes()).sum());
        let [one, other] = mem_graphs;
        drop(other);
        assert_eq!(flushed.bytes(), one.bytes());
        drop(one);
        flushed.add([].iter());
        assert_eq!(flushed.0.lock().len(), 0);
    }
}
