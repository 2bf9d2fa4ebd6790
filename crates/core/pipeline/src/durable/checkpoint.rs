//! Writes a checkpoint concurrently with readers and writers, and removes the files that it makes
//! obsolete.

use crate::durable::own_files::Flushed;
use crate::durable::{CheckpointOptions, CheckpointReport};
use crate::error::Error;
use crate::store::Store;
use hedgerow_log::checkpoint::{self, Description, ViewSource, WriteOptions};
use hedgerow_log::{CheckpointEntry, Log, StoreError};
use hedgerow_model::{
    Adjacency, Catalog, CommitTimestamp, Count, Counts, Cursor, Direction, Durable, Engine, GraphView,
    LabelId, VertexId,
};
use hedgerow_sequencer::{ReaderKind, Sequencer};
use hedgerow_sync::atomic::{AtomicU64, Ordering};
use smallvec::SmallVec;
use std::ops::ControlFlow;

/// Fraction of its time that a checkpoint thread works while there are commits, by default.
const SHARE_BESIDE_WRITERS: f64 = 0.5;

impl Store {
    /// Writes the newest state as a checkpoint, and prunes the log before it.
    ///
    /// # Errors
    /// If a file cannot be written, the graph is in memory, read-only or closed, or the checkpoint
    /// is cancelled.
    pub fn checkpoint(&self, options: &CheckpointOptions) -> Result<CheckpointReport, Error> {
        let written = self.checkpoint_newest(options);
        // Frees the versions that were kept for the written state.
        self.reclaim_after_close();
        written
    }

    fn checkpoint_newest(&self, options: &CheckpointOptions) -> Result<CheckpointReport, Error> {
        let journal = self.journal().ok_or(Error::InMemory)?;
        let log = journal.log()?;
        if let Some(durable) = self.engine.durable() {
            return self.flush_as_checkpoint(durable);
        }
        let _exclusive = journal.exclusive.lock();
        log.check()?;
        let former = log.manifest().checkpoint;
        let (registration, (wall_clock, input)) =
            Sequencer::open_and_see(&*self.sequencer, ReaderKind::Snapshot, |head| {
                (head.wall_clock, head.input.clone())
            })?;
        let (at, counts) = (registration.token().at(), registration.token().counts());
        let state = self.engine.open_snapshot(registration.token())?;
        let view = self.engine.view(&state, registration.token());
        // After the snapshot, so that the catalog has the labels of all its edges. The manifest has
        // these labels, too.
        let catalog = self.catalog.to_catalog();
        let edges = self.count_edges(&view, &catalog)?;
        let mut report = CheckpointReport {
            number: former.map_or(0, |former| former.number),
            timestamp: at,
            written: false,
            bytes: former.map_or(0, |former| former.length),
            vertices: counts.vertices,
            edges: Count::exactly(
                (0..).zip(&edges).map(|(label, pairs)| counts.parallel_of(LabelId(label)).max(*pairs)).sum(),
            ),
            pruned: 0,
        };
        if former.is_none_or(|former| former.at < at) {
            let description = Description {
                store: log.manifest().store,
                timestamp: at,
                wall_clock,
                topology: self.topology,
                keys: self.dictionary.kind(),
                catalog,
                counts: Counts { edges, beside: None, ..*counts },
                input: input.as_deref().map(Box::from),
            };
            let source = ViewSource::new(&view, |vertex| self.dictionary.key(vertex));
            report.number += 1;
            let name = checkpoint::name_of(report.number);
            let share = self.share_beside_writers(at);
            let check_owner = || log.check_lock();
            let written = options.with(self.pool_for(usize::MAX), &share, |options| {
                let options = WriteOptions { check_owner: Some(&check_owner), ..*options };
                checkpoint::write(&**log.files(), &name, &description, &source, &options)
            })?;
            (report.written, report.bytes) = (true, written.bytes);
            install(log, CheckpointEntry { number: report.number, at, length: written.bytes })?;
        }
        report.pruned = log.prune(CommitTimestamp::ZERO)?;
        Ok(report)
    }

    /// Brings the engine's own files up to the newest commit: they are the checkpoint.
    fn flush_as_checkpoint(&self, durable: &dyn Durable) -> Result<CheckpointReport, Error> {
        let Flushed { through, counts, is_new, pruned } = self.flush_to_files(durable)?;
        Ok(CheckpointReport {
            number: 0,
            timestamp: through,
            written: is_new,
            bytes: 0,
            vertices: counts.vertices,
            edges: counts.total_each_edge(),
            pruned,
        })
    }

    /// Number of edges of each label in a state; parallel edges count as the pairs that they
    /// connect. O(labels), or O(edges) if the engine counts later.
    fn count_edges(&self, view: &impl GraphView, catalog: &Catalog) -> Result<SmallVec<[u64; 2]>, Error> {
        let count = |label: LabelId| match view.edge_count(label).exact() {
            Some(edges) => Ok(edges),
            None => {
                let (adjacency, mut edges) = (view.adjacency::<()>(label, Direction::Out)?, 0);
                let scanned = adjacency.cursor().scan(0..view.vertex_bound(), |owner, neighbors, _| {
                    let is_counted =
                        |to: &&VertexId| self.topology.is_canonical_entry(Direction::Out, owner, **to);
                    edges += neighbors.iter().filter(is_counted).count() as u64;
                    ControlFlow::<()>::Continue(())
                });
                scanned?.is_continue();
                Ok(edges)
            }
        };
        // The catalog checked that its labels fit in 16 bits.
        (0..catalog.labels().len() as u16).map(LabelId).map(count).collect()
    }

    /// The fraction of its time that a checkpoint thread works by default. Each call checks for
    /// commits since the previous call, the first one since `at`.
    fn share_beside_writers(&self, at: CommitTimestamp) -> impl Fn() -> f64 + Sync {
        let seen = AtomicU64::new(at.0);
        move || {
            let newest = self.sequencer.newest().0.0;
            let was_quiet = seen.swap(newest, Ordering::Relaxed) == newest;
            if was_quiet { 1.0 } else { SHARE_BESIDE_WRITERS }
        }
    }
}

/// Installs a checkpoint for the next opening, and removes the previous one. If that fails, the
/// manifest may name either, so both stay until the next opening.
fn install(log: &Log, entry: CheckpointEntry) -> Result<(), StoreError> {
    if let Some(former) = log.install_checkpoint(entry)? {
        log.files().remove(&checkpoint::name_of(former.number))?;
    }
    Ok(())
}
