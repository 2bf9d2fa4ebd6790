//! The engine's own files: flushing the MemGraphs to level 0 (LSMGraph, 4.1: MemGraphs take turns),
//! reports, and full compaction.

use crate::adjacency::{VERTICES, part_of};
use crate::graph::{BegunFlush, LsmEngine};
use crate::levels::{FlushPart, FlushPoint, FullStep, RowContent};
use crate::mem_graph::MemGraph;
use crate::pace::Filling;
use crate::reader::RowReader;
use crate::sources::RowSources;
use hedgerow_encoding::decode_vertex;
use hedgerow_model::token::{LiveTimestamps, Registered};
use hedgerow_model::{
    Admission, CommitTimestamp, CompactProgress, Counts, Durable, EngineError, EngineReport, KeyRef,
    PartReport, ReadError, VertexId,
};
use hedgerow_sync::Arc;
use std::ops::ControlFlow;
use std::time::Instant;

impl Durable for LsmEngine {
    fn durable_through(&self) -> CommitTimestamp {
        self.tree.current().durable_through()
    }

    fn counts(&self) -> Result<Counts, EngineError> {
        Ok(self.counts.clone())
    }

    fn note(&self) -> Vec<u8> {
        self.tree.current().note().to_vec()
    }

    fn each_key(&self, visit: &mut dyn FnMut(VertexId, KeyRef<'_>)) -> Result<(), EngineError> {
        let sources = self.sources();
        let mut rows = RowReader::new(&sources, VERTICES, self.durable_through(), RowContent::Records);
        let _: ControlFlow<()> = rows.scan(0..u32::MAX, |vertex, row| {
            if let Some((_, value)) = row.edges().next() {
                let key = decode_vertex(row.record(value));
                let key = key.map_err(|error| ReadError::new(format!("the key of vertex {vertex}"), error));
                key?.0.into_iter().for_each(|key| visit(vertex, key));
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(())
    }

    fn admit(&self, bytes: usize) -> Admission {
        let sources = self.sources.read();
        let (held, active) = (sources.used_bytes(), sources.active().used_bytes());
        drop(sources);
        let limit = self.limits.mem_graph_bytes;
        // A commit larger than the limit goes beyond it in any case.
        if held.saturating_add(bytes.min(limit / 2)) > limit {
            return Admission::AfterFlush;
        }
        if self.tree.is_overfull() {
            return Admission::AfterMaintenance;
        }
        let (most, flushes_left) = (limit / 2, self.tree.flushes_left());
        let pause = self.pace.pause(Filling { bytes: active, most, flushes_left }, self.tree.is_crowded());
        pause.map_or(Admission::Granted, Admission::AfterPause)
    }

    /// True from half of the memory on: commits fill the other half during the flush.
    fn is_flush_due(&self) -> bool {
        self.sources.read().active().used_bytes() > self.limits.mem_graph_bytes / 2
    }

    fn begin_flush(&self, at: &Registered) {
        if at.at() > self.durable_through() {
            let begun = self.begin_mem_graph(at.at());
            *self.flushing.lock() = Some(begun);
        }
    }

    /// Commits go into a new MemGraph since the flush was announced. Commits after `at` in an old
    /// MemGraph are copied to a small one, which stays until the next flush.
    fn flush(&self, at: &Registered, live: &LiveTimestamps, note: &[u8]) -> Result<(), EngineError> {
        let mut announced = self.flushing.lock();
        let (from, through) = (self.durable_through(), at.at());
        if through <= from {
            return Ok(());
        }
        let begun = announced.take().filter(|begun| begun.at == through);
        let BegunFlush { since, running, .. } = begun.unwrap_or_else(|| self.begin_mem_graph(through));
        // The active MemGraph has only commits after `at`.
        let sources = self.sources();
        let flushed = &sources.mem_graphs[1..];
        let versions_of = |adjacency| -> Vec<_> {
            flushed.iter().map(|mem_graph| mem_graph.versions(adjacency, from, through)).collect()
        };
        let mut versions: Vec<_> = (0..self.adjacencies()).map(versions_of).collect();
        let parts = (0..).zip(&mut versions);
        let parts = parts
            .map(|(adjacency, versions)| FlushPart { adjacency, sources: versions.iter_mut().collect() });
        let reached =
            FlushPoint { durable_through: through, counts: at.counts().clone(), note: note.to_vec() };
        self.tree.flush(parts.collect(), live, reached)?;
        let residue = |(number, mem_graph): (usize, &Arc<MemGraph>)| {
            mem_graph.residue(versions.iter().map(|of_adjacency| &of_adjacency[number]))
        };
        let residues = flushed.iter().enumerate().filter_map(residue).map(Arc::new).collect();
        self.end_mem_graphs(flushed, residues);
        let bytes = flushed.iter().map(|mem_graph| mem_graph.used_bytes()).sum();
        self.pace.flushed(bytes, since.elapsed());
        drop(running);
        Ok(())
    }

    fn report(&self) -> Result<Option<EngineReport>, EngineError> {
        let unlisted = self.tree.unlisted()?;
        let sources = self.sources();
        let parts = (0..self.adjacencies()).map(|adjacency| PartReport {
            part: part_of(adjacency),
            levels: sources.levels.reports(adjacency),
        });
        Ok(Some(EngineReport {
            parts: parts.filter(|part| !part.levels.is_empty()).collect(),
            unlisted,
            memory: self.memory_by_part(),
            cache: self.tree.cache_use(),
        }))
    }

    fn compact_all(
        &self,
        live: &LiveTimestamps,
        observe: &mut dyn FnMut(CompactProgress) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, EngineError> {
        let mut full = self.tree.compact_all(live);
        let ended = loop {
            match full.step(observe)? {
                FullStep::Merged => {
                    // Make room for the next step.
                    self.renew_levels();
                    self.tree.remove_unread()?;
                }
                FullStep::Done => break ControlFlow::Continue(()),
                FullStep::Stopped => break ControlFlow::Break(()),
            }
        };
        Ok(ended)
    }
}

impl LsmEngine {
    /// Begins another MemGraph for the commits after `at`, unless the active one is empty. From
    /// then on, no commit goes into the others.
    fn begin_mem_graph(&self, at: CommitTimestamp) -> BegunFlush {
        let mut sources = self.sources.write();
        if sources.active().used_bytes() > 0 {
            *sources = Arc::new(self.with_new_mem_graph(&sources, at));
        }
        drop(sources);
        self.pace.begin_filling();
        BegunFlush { at, since: Instant::now(), running: self.pace.begin_flush() }
    }

    /// Ends the flushed MemGraphs, which are the oldest, and replaces them by residues, which are
    /// not in the levels yet.
    fn end_mem_graphs(&self, flushed: &[Arc<MemGraph>], residues: Vec<Arc<MemGraph>>) {
        let mut sources = self.sources.write();
        let newer = sources.mem_graphs.len() - flushed.len();
        let mem_graphs = sources.mem_graphs[..newer].iter().cloned().chain(residues).collect();
        *sources = Arc::new(RowSources { mem_graphs, levels: self.tree.current() });
        drop(sources);
        self.flushed.add(flushed.iter());
        self.share_memory();
    }
    /// Makes later views read the current levels of the tree.
    pub(crate) fn renew_levels(&self) {
        let mut sources = self.sources.write();
        let mem_graphs = sources.mem_graphs.clone();
        *sources = Arc::new(RowSources { mem_graphs, levels: self.tree.current() });
        drop(sources);
        self.share_memory();
    }
}
