//! Full compaction of an engine's own files, and reports about them.

use crate::error::Error;
use crate::store::Store;
use hedgerow_model::{CompactProgress, Durable, EngineError, EngineReport, FileTotals, LevelReport};
use hedgerow_sync::Arc;
use hedgerow_sync::CancelToken;
use std::fmt;
use std::ops::ControlFlow;

/// Options of `Graph::compact`. By default it runs to its end at full speed, on the calling thread.
#[derive(Clone, Default)]
pub struct CompactOptions {
    cancel: Option<CancelToken>,
    progress: Option<Arc<dyn Fn(CompactProgress) + Send + Sync>>,
}

impl CompactOptions {
    /// The default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops when `token` is raised, with `ErrorKind::Cancelled`. Files compacted by then stay
    /// compacted.
    #[must_use]
    pub fn cancelled_by(mut self, token: &CancelToken) -> Self {
        self.cancel = Some(token.clone());
        self
    }

    /// Reports to `progress`, on the calling thread, after each block.
    #[must_use]
    pub fn reporting_to(mut self, progress: impl Fn(CompactProgress) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(progress));
        self
    }

    fn observe(&self, progress: CompactProgress) -> ControlFlow<()> {
        self.progress.iter().for_each(|report| report(progress));
        match self.cancel.as_ref().is_some_and(CancelToken::is_cancelled) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

impl fmt::Debug for CompactOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompactOptions").field("cancel", &self.cancel).finish_non_exhaustive()
    }
}

/// The result of a full compaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CompactReport {
    /// The engine's files after recent commits were flushed, before the compaction.
    pub before: FileTotals,
    /// The engine's files afterwards, without files that an open snapshot keeps.
    pub after: FileTotals,
    /// Versions of edges and vertices in the files before, deletions and replaced ones included.
    pub versions_before: u64,
    /// Versions in the files afterwards.
    pub versions_after: u64,
    /// Files of the engine that are in no level: replaced ones that open snapshots still read.
    pub kept_for_snapshots: FileTotals,
}

impl Store {
    /// Returns the engine's report on its own files and their memory; `None` if it has no files, or
    /// cannot tell.
    ///
    /// # Errors
    /// If the directory cannot be read.
    pub fn engine_report(&self) -> Result<Option<EngineReport>, Error> {
        Ok(self.engine.durable().map_or(Ok(None), Durable::report)?)
    }

    /// Flushes the newest state, and compacts all of the engine's files.
    ///
    /// # Errors
    /// If the engine has no files of its own, the graph cannot be written, a file cannot be read or
    /// written, or the compaction is cancelled.
    pub fn compact(&self, options: &CompactOptions) -> Result<CompactReport, Error> {
        let journal = self.journal().ok_or(Error::InMemory)?;
        let durable = self.engine.durable().ok_or(Error::NothingToCompact)?;
        let report = || durable.report()?.ok_or(Error::NothingToCompact);
        journal.log()?.check()?;
        self.flush_newest()?;
        let before = report()?.totals();
        let (live, _) = self.sequencer.live();
        let ended = durable.compact_all(&live, &mut |progress| options.observe(progress));
        if ended.map_err(|error| self.closed_or(error))?.is_break() {
            return Err(Error::CompactionCancelled);
        }
        let report = report()?;
        let after: LevelReport = report.totals();
        Ok(CompactReport {
            before: before.files,
            after: after.files,
            versions_before: before.versions,
            versions_after: after.versions,
            kept_for_snapshots: report.unlisted,
        })
    }

    /// The error of a write, or the error that the graph was closed meanwhile.
    fn closed_or(&self, error: EngineError) -> Error {
        match self.journal().map(|journal| journal.log().and_then(|log| Ok(log.check()?))) {
            Some(Err(closed)) => closed,
            _ => error.into(),
        }
    }
}
