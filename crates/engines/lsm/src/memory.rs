//! Memory use of the engine's parts, and its division among them.

use crate::graph::LsmEngine;
use hedgerow_model::{EngineMemory, MemoryUse};
use hedgerow_sync::MutexGuard;

/// Divisor of the memory budget for the minimum size of the cache of blocks, whatever the other
/// parts take.
const LEAST_CACHE_PART: usize = 16;

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
