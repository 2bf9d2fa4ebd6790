//! Writing a checkpoint while others write and read, and what it makes superfluous.

use crate::commit::sequencer::Reader;
use crate::durable::{CheckpointOptions, CheckpointReport};
use crate::error::{Error, Reason};
use crate::kernels::CancelToken;
use crate::storage::Store;
use hedgerow_log::checkpoint::{self, Description, ViewSource, WriteOptions, WriteProgress};
use hedgerow_log::{CheckpointEntry, Log, StoreError};
use hedgerow_model::Engine;

impl<E: Engine> Store<E> {
    /// See [`Graph::checkpoint`](crate::Graph::checkpoint).
    pub(super) fn checkpoint(&self, options: &CheckpointOptions) -> Result<CheckpointReport, Error> {
        let journal = self.sequencer.journal().ok_or(Reason::InMemory)?;
        let log = journal.log()?;
        let _exclusive = journal.exclusive.lock();
        log.check()?;
        let former = log.manifest().checkpoint;
        let (registration, (wall_clock, input)) =
            self.sequencer.open_and_see(Reader::Snapshot, |head| (head.wall_clock, head.input.clone()))?;
        let (at, counts) = (registration.token().at(), registration.token().counts().clone());
        let mut report = CheckpointReport {
            number: former.map_or(0, |former| former.number),
            timestamp: at,
            written: false,
            bytes: former.map_or(0, |former| former.length),
            vertices: counts.vertices,
            edges: counts.total_edges(),
            pruned: 0,
        };
        if former.is_none_or(|former| former.at < at) {
            let description = Description {
                store: log.manifest().store,
                timestamp: at,
                wall_clock,
                topology: self.topology,
                keys: self.dictionary.kind(),
                catalogue: (*self.catalogue).clone(),
                counts,
                input: input.as_deref().map(Box::from),
            };
            let view = self.engine.view(registration.token());
            let source = ViewSource::new(&view, |vertex| self.dictionary.key(vertex));
            report.number += 1;
            let name = checkpoint::name_of(report.number);
            let written = options.with(self.pool_for(usize::MAX), |options| {
                checkpoint::write(&**log.files(), &name, &description, &source, options)
            })?;
            (report.written, report.bytes) = (true, written.bytes);
            install(log, CheckpointEntry { number: report.number, at, length: written.bytes })?;
        }
        report.pruned = log.prune()?;
        Ok(report)
    }
}

/// Makes a checkpoint the one that the next opening starts from, and removes the one before. If that fails, nobody knows which of the
/// two the manifest names: both stay, until the next opening.
fn install(log: &Log, entry: CheckpointEntry) -> Result<(), StoreError> {
    if let Some(former) = log.install_checkpoint(entry)? {
        log.files().remove(&checkpoint::name_of(former.number))?;
    }
    Ok(())
}

impl CheckpointOptions {
    /// Runs `write` with these options in the form in which the writer takes them.
    fn with<T>(&self, pool: Option<&rayon::ThreadPool>, write: impl FnOnce(&WriteOptions<'_>) -> T) -> T {
        let is_cancelled = || self.cancel.as_ref().is_some_and(CancelToken::is_cancelled);
        let progress = |progress: WriteProgress| self.progress.iter().for_each(|report| report(progress));
        write(&WriteOptions {
            pool,
            share: self.share,
            is_cancelled: Some(&is_cancelled),
            progress: Some(&progress),
        })
    }
}
