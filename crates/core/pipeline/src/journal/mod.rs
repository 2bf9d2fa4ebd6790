//! The log of a graph's commits, and the rest of its store.

mod log_maintainer;
mod recovery;

pub use recovery::Recovery;

use crate::error::Error;
use hedgerow_log::files::{EngineFiles, FileSystem, OpenMode};
use hedgerow_log::{Body, CommitReader, Durability, Log, Manifest, SegmentEntry};
use hedgerow_model::CommitTimestamp;
use hedgerow_sequencer::CommitLog;
use hedgerow_sync::{Arc, Mutex, thread_local};
use log_maintainer::LogMaintainer;
use std::cell::Cell;
use std::path::PathBuf;

/// Maximum bytes of a body that is kept for the next commits.
const LARGEST_KEPT_BODY: usize = 256 << 10;

thread_local! {
    static BODIES: Cell<Vec<Body>> = Cell::default();
}

/// Encodes `count` commits into buffers that the thread reuses.
#[inline]
pub(crate) fn with_bodies<T>(count: usize, encode: impl FnOnce(&mut [Body]) -> T) -> T {
    if count == 0 {
        return encode(&mut []);
    }
    let mut bodies = BODIES.with(Cell::take);
    bodies.resize_with(count.max(bodies.len()), Body::default);
    let result = encode(&mut bodies[..count]);
    if bodies[..count].iter().all(|body| body.as_bytes().len() <= LARGEST_KEPT_BODY) {
        BODIES.with(|kept| kept.set(bodies));
    }
    result
}

/// The log of a graph with the files around it.
#[derive(Debug)]
pub struct Journal {
    files: Arc<dyn FileSystem>,
    /// The files of an engine that keeps its own.
    engine_files: Option<EngineFiles>,
    rights: Rights,
    /// The result of opening the store, unless it was just created.
    pub recovery: Option<Recovery>,
    /// Held while a checkpoint is made, and during close.
    pub(super) exclusive: Mutex<()>,
}

/// The access of this graph to the store.
#[derive(Debug)]
enum Rights {
    Write {
        log: CommitLog,
        log_maintainer: LogMaintainer,
    },
    /// Read only, from the newest checkpoint.
    Read(Box<Manifest>),
}

impl Journal {
    /// A store whose log takes commits, with the files of an engine that keeps its own.
    pub fn new(
        log: Log,
        recovery: Option<Recovery>,
        engine_files: Option<EngineFiles>,
        is_simulated: bool,
    ) -> Self {
        let files = Arc::clone(log.files());
        let log = Arc::new(log);
        engine_files.iter().for_each(|files| files.belong_to(&log));
        let log_maintainer = if is_simulated { LogMaintainer::default() } else { LogMaintainer::of(&log) };
        let rights = Rights::Write { log: CommitLog::new(log), log_maintainer };
        Journal { files, engine_files, rights, recovery, exclusive: Mutex::default() }
    }

    /// A store that is only read.
    pub fn read_only(files: Arc<dyn FileSystem>, manifest: Manifest, recovery: Recovery) -> Self {
        let rights = Rights::Read(Box::new(manifest));
        Journal { files, engine_files: None, rights, recovery: Some(recovery), exclusive: Mutex::default() }
    }

    /// The log, if the graph can be written.
    #[inline]
    pub fn log(&self) -> Result<&Log, Error> {
        self.commit_log().map(CommitLog::log)
    }

    /// The log in the form that the sequencer takes, if the graph can be written.
    #[inline]
    pub(crate) fn commit_log(&self) -> Result<&CommitLog, Error> {
        match &self.rights {
            Rights::Write { log, .. } => Ok(log),
            Rights::Read(_) => Err(Error::ReadOnly),
        }
    }

    /// The newest commit up to which all commits survive a loss of power.
    pub fn durable(&self) -> CommitTimestamp {
        match &self.rights {
            Rights::Write { log, .. } => log.durable(),
            Rights::Read(manifest) => {
                manifest.checkpoint.map_or(manifest.durable, |checkpoint| checkpoint.at.max(manifest.durable))
            }
        }
    }

    /// The files that belong to the store.
    pub fn manifest(&self) -> Manifest {
        match &self.rights {
            Rights::Write { log, .. } => log.log().manifest(),
            Rights::Read(manifest) => (**manifest).clone(),
        }
    }

    /// The files of the store.
    pub fn files(&self) -> &Arc<dyn FileSystem> {
        &self.files
    }

    /// The path of the store.
    pub fn location(&self) -> PathBuf {
        self.files.location()
    }

    /// Bytes of the commits in the segments of this manifest that `reader` has not read: see
    /// [`CommitReader::bytes_left`].
    pub(crate) fn bytes_left(&self, manifest: &Manifest, reader: &CommitReader) -> u64 {
        let end = self.log().ok().map(Log::end);
        reader.bytes_left(manifest, |entry| match end {
            Some((segment, bytes)) if segment == entry.number => bytes,
            // Made ahead of the commits.
            Some((segment, _)) if segment < entry.number => 0,
            _ => self.bytes_of(entry),
        })
    }

    /// Bytes of the commits after `at`, and of those before it in its segment. O(segments).
    #[must_use]
    pub fn bytes_after(&self, manifest: &Manifest, at: CommitTimestamp) -> u64 {
        self.bytes_left(manifest, &CommitReader::after(Arc::clone(&self.files), at))
    }

    /// Bytes of a segment; 0 if it was removed meanwhile.
    pub fn bytes_of(&self, segment: &SegmentEntry) -> u64 {
        let file = self.files.open(&segment.file_name(), OpenMode::Read);
        file.and_then(|file| file.length()).unwrap_or(0)
    }

    /// Waits until the state read at `at` is as durable as required.
    pub fn settle_read(&self, at: CommitTimestamp, asked: Durability) -> Result<(), Error> {
        match &self.rights {
            Rights::Write { log, .. } if asked.max(log.log().durability()) == Durability::Sync => {
                Ok(log.log().wait_durable(at)?)
            }
            _ => Ok(()),
        }
    }

    /// Writes the buffer of the log if it is large, for callers that commit many times before they
    /// wait.
    pub(crate) fn relieve(&self) -> Result<(), Error> {
        self.wake_log_maintainer();
        Ok(self.log()?.relieve()?)
    }

    /// Lets the log maintainer create the next segment, if one is due.
    pub(crate) fn wake_log_maintainer(&self) {
        if let Rights::Write { log, log_maintainer, .. } = &self.rights
            && log.log().needs_maintenance()
        {
            log_maintainer.wake();
        }
    }

    /// Ends the log. No checkpoint runs meanwhile, and no file of the engine changes afterwards.
    pub(crate) fn close(&self) -> Result<(), Error> {
        let _exclusive = self.exclusive.lock();
        self.engine_files.iter().for_each(EngineFiles::close);
        match &self.rights {
            Rights::Write { log, log_maintainer, .. } => {
                log_maintainer.end();
                Ok(log.log().close()?)
            }
            Rights::Read(_) => Ok(()),
        }
    }
}
