//! State of deferred work.

use crate::error::Error;
use crate::settings::{Compaction, Settings};
use hedgerow_sequencer::Wakeup;
use hedgerow_sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use hedgerow_sync::{Arc, Mutex};

/// State of deferred work.
pub(crate) struct Maintenance {
    pub(crate) compaction: Compaction,
    /// The sequencer's release count up to which everything is reclaimed.
    pub(crate) reclaimed_releases: AtomicU64,
    /// Number of writers that are reclaiming.
    pub(crate) reclaimers: AtomicUsize,
    /// The first failed step that was not reported to a caller yet.
    pub(crate) failed: Mutex<Option<Error>>,
    /// True while the graph is being closed: a step may fail then, because no file may change any
    /// more.
    pub(crate) is_ending: AtomicBool,
    /// Held while the engine's own files are written.
    pub(crate) flushing: Mutex<()>,
    /// Held by a commit while it waits for the engine to admit it.
    pub(crate) admitting: Mutex<()>,
    /// Wakes the garbage collection thread, if the graph has one.
    pub(crate) wakeup: Option<Arc<Wakeup>>,
    /// Wakes the flush thread, if the graph has one.
    pub(crate) flush_wakeup: Option<Arc<Wakeup>>,
}

impl Maintenance {
    /// Nothing is deferred yet. `has_files` is true if the engine has its own files.
    pub fn new(settings: &Settings, has_files: bool) -> Self {
        let compaction = settings.compaction;
        let has_thread =
            compaction == Compaction::InBackground && !settings.is_simulated && !cfg!(hedgerow_shuttle);
        Maintenance {
            compaction,
            reclaimed_releases: AtomicU64::new(0),
            reclaimers: AtomicUsize::new(0),
            failed: Mutex::default(),
            is_ending: AtomicBool::default(),
            flushing: Mutex::default(),
            admitting: Mutex::default(),
            wakeup: has_thread.then(Arc::default),
            flush_wakeup: (has_thread && has_files).then(Arc::default),
        }
    }
}
