//! What the parts of the engine take of its memory, and may take.

use crate::engine::LsmEngine;
use crate::mem_graph::MemGraph;
use hedgerow_model::{ColumnType, CommitTimestamp, EngineMemory, MemoryUse};
use hedgerow_sync::{Arc, GrowingList, Mutex, MutexGuard};
use std::sync::Weak;

/// The cache of blocks gets at least this part of the memory, whatever the other parts take.
const LEAST_CACHE_PART: usize = 16;

/// How much memory the parts may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryLimits {
    /// Bytes of changes at which commits wait for a flush.
    pub(crate) mem_graph_bytes: usize,
    /// Bytes of blocks of files.
    pub(crate) cache_bytes: usize,
}

impl MemoryLimits {
    /// An empty MemGraph for half of the changes, in commits after `begin`: memory comes in small parts of
    /// that, and most rows need no more than 64 bytes.
    pub(crate) fn new_mem_graph(self, columns: &GrowingList<ColumnType>, begin: CommitTimestamp) -> MemGraph {
        let columns: Vec<_> = columns.iter().copied().collect();
        let bytes = self.mem_graph_bytes / 2;
        let block_words = (bytes / 32 / size_of::<u64>()).next_power_of_two().clamp(1024, 8192);
        MemGraph::new(&columns, begin, block_words, bytes / 64)
    }
}

/// MemGraphs that were flushed. Snapshots may still read them.
#[derive(Debug, Default)]
pub(crate) struct FlushedMemGraphs(Mutex<Vec<Weak<MemGraph>>>);

impl FlushedMemGraphs {
    /// Adds some, and forgets those that are gone. O(MemGraphs).
    pub(crate) fn add<'m>(&self, mem_graphs: impl Iterator<Item = &'m Arc<MemGraph>>) {
        let mut flushed = self.0.lock();
        flushed.retain(|mem_graph| mem_graph.strong_count() > 0);
        flushed.extend(mem_graphs.map(Arc::downgrade));
    }

    /// Bytes of those that snapshots read. O(MemGraphs).
    fn bytes(&self) -> usize {
        let flushed = self.0.lock();
        flushed.iter().filter_map(Weak::upgrade).map(|mem_graph| mem_graph.bytes()).sum()
    }
}

impl LsmEngine {
    /// Bytes of the parts. O(MemGraphs · adjacencies).
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

    /// Bytes in memory, in the terms of all engines. O(MemGraphs · adjacencies).
    pub(crate) fn memory_use(&self) -> MemoryUse {
        let (sources, kept_bytes) = (self.sources(), self.kept.now());
        MemoryUse {
            live_bytes: sources.mem_graph_bytes(),
            // What only snapshots read.
            retained_bytes: self.flushed.bytes() + kept_bytes,
            index_bytes: sources.levels.index_bytes() + self.vertices.bytes() + self.tree.cache_bytes(),
            ..MemoryUse::default()
        }
    }

    /// Shares the memory anew if snapshots keep more than was claimed, unless another thread does.
    pub(crate) fn share_memory_if_due(&self) {
        if self.kept.is_claim_due()
            && let Some(sharing) = self.sharing.try_lock()
        {
            self.share(sharing);
        }
    }

    /// Gives the cache of blocks what MemGraphs, kept rows, the indexes of files and the set of vertices
    /// leave of the memory. O(MemGraphs · adjacencies + files), and O(blocks) if that is not about the same.
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
