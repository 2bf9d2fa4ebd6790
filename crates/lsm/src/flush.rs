//! Flushing the MemGraphs to level 0 (LSMGraph, 4.1: MemGraphs take turns).

use crate::engine::LsmEngine;
use crate::sources::Sources;
use hedgerow_levels::FlushPart;
use hedgerow_model::token::{LiveTimestamps, Registered};
use hedgerow_model::{CommitTimestamp, Counts, Durable, EngineError, FileUpkeep};
use hedgerow_sync::Arc;
use std::time::Instant;

impl Durable for LsmEngine {
    fn durable_through(&self) -> CommitTimestamp {
        self.tree.current().durable_through()
    }

    fn counts(&self) -> Result<Counts, EngineError> {
        Ok(self.counts.clone())
    }

    /// Commits fill the other half of the memory while the flush goes on.
    fn is_flush_due(&self) -> bool {
        self.sources.read().active().used_bytes() > self.options.mem_graph_bytes / 2
    }

    /// Commits continue in a new MemGraph meanwhile. Those after `at` that are in an old one are
    /// copied to a small one, which stays until the next flush.
    fn flush(&self, at: &Registered, live: &LiveTimestamps) -> Result<(), EngineError> {
        let _one_at_a_time = self.flushing.lock();
        let (from, through) = (self.durable_through(), at.at());
        if through <= from {
            return Ok(());
        }
        let (begin, _running) = (Instant::now(), self.pace.begin_flush());
        let sources = self.begin_mem_graph();
        self.pace.begin_filling();
        let parts = (0..self.adjacencies()).map(|adjacency| {
            let mem_graphs = sources.mem_graphs.iter();
            let versions = mem_graphs.map(|mem_graph| mem_graph.versions(adjacency, from, through));
            FlushPart { adjacency, sources: versions.collect() }
        });
        self.tree.flush(parts.collect(), live, through, at.counts())?;
        self.end_mem_graphs(&sources, through);
        let flushed = sources.mem_graphs[1..].iter().map(|mem_graph| mem_graph.used_bytes());
        self.pace.flushed(flushed.sum(), begin.elapsed());
        Ok(())
    }

    fn upkeep(&self) -> Option<&dyn FileUpkeep> {
        Some(self)
    }
}

impl LsmEngine {
    /// Begins another MemGraph for the commits to come, unless the active one is empty. No commit
    /// goes into the others any more.
    fn begin_mem_graph(&self) -> Arc<Sources> {
        let mut sources = self.sources.write();
        if sources.active().used_bytes() > 0 {
            let mem_graphs = std::iter::once(self.new_mem_graph()).chain(sources.mem_graphs.iter().cloned());
            let levels = Arc::clone(&sources.levels);
            *sources = Arc::new(Sources { mem_graphs: mem_graphs.collect(), levels });
        }
        Arc::clone(&sources)
    }

    /// Ends the MemGraphs that no commit goes into, except for what is not in the levels yet.
    fn end_mem_graphs(&self, flushed: &Sources, through: CommitTimestamp) {
        let residues = flushed.mem_graphs[1..].iter().filter_map(|mem_graph| mem_graph.residue(through));
        let residues: Vec<_> = residues.map(Arc::new).collect();
        let mut sources = self.sources.write();
        // Flushes take turns, so the active MemGraph is still the one that this flush found or began.
        let active = Arc::clone(&sources.mem_graphs[0]);
        let mem_graphs = std::iter::once(active).chain(residues).collect();
        *sources = Arc::new(Sources { mem_graphs, levels: self.tree.current() });
        drop(sources);
        self.flushed.add(flushed.mem_graphs[1..].iter());
        self.share_memory();
    }
}
