//! Applies changes to a graph while its store is opened, in batches that fit a memory limit.

use crate::error::Error;
use crate::settings::Settings;
use crate::store::Store;
use hedgerow_erased::ErasedRoom;
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{Changes, CommitTimestamp, Engine, EngineError, Outcome, Staged};
use hedgerow_sequencer::{CountChanges, VertexCounts};
use rayon::ThreadPool;

/// Approximate number of changes per batch.
const AT_ONCE: usize = 1 << 22;

/// Changes per batch in simulations, small so that they apply several batches.
const AT_ONCE_IN_SIMULATIONS: usize = 16;

/// Approximate bytes of a gathered change until it is applied.
const BYTES_OF_CHANGE: usize = 128;

/// The minimum changes per batch: smaller batches cost more time than they save memory.
const FEWEST_AT_ONCE: usize = 1 << 12;

/// Approximate number of changes to apply together.
#[derive(Clone, Copy, Debug)]
pub struct Batches {
    /// Changes from a checkpoint.
    pub(super) loaded: usize,
    /// Changes from the log.
    pub(super) replayed: usize,
    /// True if what has no order may be kept until all has come, because memory is not limited.
    pub(super) scatters: bool,
}

impl Batches {
    /// Batch sizes at which a batch takes about the memory that the graph may take.
    pub fn of(options: &Settings) -> Self {
        let limits = [options.memory_limit, options.scratch_limit];
        let loaded = match limits.into_iter().flatten().min() {
            _ if options.is_simulated => AT_ONCE_IN_SIMULATIONS,
            Some(limit) => (limit / BYTES_OF_CHANGE).clamp(FEWEST_AT_ONCE, AT_ONCE),
            None => AT_ONCE,
        };
        let scatters = limits == [None; 2];
        Batches { loaded, scatters, replayed: if options.keeps_commit_order { 1 } else { loaded } }
    }
}

impl Store {
    /// Applies `size` changes that were committed up to `at`. The opening thread holds all locks,
    /// and the graph is not shared. The caller restores the keys.
    ///
    /// At the memory limit it first frees versions that earlier batches replaced, and then lets the
    /// graph take up to twice the limit: the memory layout may differ from that of the graph that
    /// was closed.
    pub(super) fn restore_changes(
        &self,
        held: &mut HeldLocks<'_>,
        at: CommitTimestamp,
        (changes, size): (Changes<'_>, usize),
        vertices: VertexCounts,
    ) -> Result<(), Error> {
        let pool = self.pool_for(size);
        let (mut room, mut second_room) = (ErasedRoom::default(), ErasedRoom::default());
        let staged = match self.engine.stage(held, changes, &mut room, self.allowance(), pool) {
            Err(EngineError::Capacity(_)) => {
                self.archive_restored(None, true)?;
                let with_held = |_, work: &mut dyn FnMut(&HeldLocks<'_>)| {
                    work(held);
                    true
                };
                self.maintain_under(&with_held, usize::MAX)?;
                let allowance = self.allowance().with_overdraft();
                self.engine.stage(held, changes, &mut second_room, allowance, pool)?
            }
            staged => staged?,
        };
        let Staged { changes, outcome: Outcome { edges, parallel, deferred }, .. } = staged;
        let counts = CountChanges { vertices, edges: &edges, parallel: &parallel, deferred: &deferred };
        let stamps = self.sequencer.stamp_again(at, counts);
        self.engine.apply(held, stamps, changes);
        self.archive_restored(pool, false)
    }

    /// Archives restored changes in an archiving engine, if they are many or `everything` is to be
    /// archived.
    fn archive_restored(&self, pool: Option<&ThreadPool>, everything: bool) -> Result<(), Error> {
        let archived = self.engine.archiving().map(|archiving| archiving.archive_restored(everything, pool));
        Ok(archived.unwrap_or(Ok(()))?)
    }
}
