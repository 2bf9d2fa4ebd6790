//! What a graph knows of the work that is put off.

use crate::error::Error;
use crate::settings::{Compaction, Settings};
use hedgerow_sequencer::Wakeup;
use hedgerow_sync::atomic::{AtomicU64, AtomicUsize};
use hedgerow_sync::{Arc, Mutex};

/// What is known of the work that is put off.
pub(crate) struct Maintenance {
    pub(crate) compaction: Compaction,
    /// The sequencer's count of releases up to which everything is reclaimed.
    pub(crate) reclaimed_releases: AtomicU64,
    /// Writers that reclaim at the moment.
    pub(crate) reclaimers: AtomicUsize,
    /// The first failed step that no caller was told of yet.
    pub(crate) failed: Mutex<Option<Error>>,
    /// Whoever writes the engine's own files has it.
    pub(crate) flushing: Mutex<()>,
    /// Whoever waits until the engine admits a commit has it.
    pub(crate) admitting: Mutex<()>,
    /// Of the thread that reclaims, if one is to.
    pub(crate) wakeup: Option<Arc<Wakeup>>,
}

impl Maintenance {
    pub fn new(settings: &Settings) -> Self {
        let compaction = settings.compaction;
        let has_thread =
            compaction == Compaction::InBackground && !settings.is_simulated && !cfg!(hedgerow_shuttle);
        Maintenance {
            compaction,
            reclaimed_releases: AtomicU64::new(0),
            reclaimers: AtomicUsize::new(0),
            failed: Mutex::default(),
            flushing: Mutex::default(),
            admitting: Mutex::default(),
            wakeup: has_thread.then(Arc::default),
        }
    }
}
