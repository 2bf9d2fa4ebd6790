//! Methods of [`Graph`] for graphs in stores.

use crate::durable::{self, StoreInfo};
use crate::edge_tuple::EdgeTuple;
use crate::error::Error;
use crate::graph::Graph;
use crate::label::Label;
use crate::options::GraphOptions;
use hedgerow_log::{BackupReport, Durability, Log};
use hedgerow_model::EngineReport;
use hedgerow_pipeline::{
    CheckpointOptions, CheckpointReport, Commit, CompactOptions, CompactReport, Error as Cause, Journal,
    Recovery,
};
use std::borrow::Borrow;
use std::path::Path;

impl Graph {
    // --- stores ------------------------------------------------------------------------------

    /// Opens the store in the directory `path` with the options that it was made with, to read and
    /// write it: [`GraphOptions::open`] without options.
    ///
    /// # Errors
    /// As [`GraphOptions::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        GraphOptions::new().open(path)
    }

    /// Creates an empty graph in the directory `path`: see [`GraphOptions::create`].
    ///
    /// # Errors
    /// As [`GraphOptions::create`].
    pub fn create(path: impl AsRef<Path>, options: impl Borrow<GraphOptions>) -> Result<Self, Error> {
        options.borrow().create(path)
    }

    /// Opens the graph in the directory `path`, or creates it if there is none: see
    /// [`GraphOptions::open_or_create`].
    ///
    /// # Errors
    /// As [`GraphOptions::open_or_create`].
    pub fn open_or_create(path: impl AsRef<Path>, options: impl Borrow<GraphOptions>) -> Result<Self, Error> {
        options.borrow().open_or_create(path)
    }

    /// Returns the report of opening the store; `None` if this program made the graph, or it lives
    /// in memory.
    #[must_use]
    pub fn recovery(&self) -> Option<&Recovery> {
        self.journal()?.recovery.as_ref()
    }

    /// Returns the point at which a commit is done; `None` if the graph lives in memory or is read
    /// only.
    #[must_use]
    pub fn durability(&self) -> Option<Durability> {
        self.journal()?.log().ok().map(Log::durability)
    }

    /// Waits until every earlier commit survives a loss of power.
    ///
    /// # Errors
    /// [`ErrorKind::LogFailed`](crate::ErrorKind::LogFailed);
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) if the graph lives in memory,
    /// [`ErrorKind::ReadOnly`](crate::ErrorKind::ReadOnly).
    pub fn flush(&self) -> Result<(), Error> {
        self.typed.get()?;
        let log = self.journal().ok_or(Cause::InMemory)?.log()?;
        Ok(log.flush()?)
    }

    /// Writes the newest state to one file, from which the next opening starts, while writers and
    /// readers continue; then removes the previous checkpoint and the part of the log that is no
    /// longer needed.
    ///
    /// Concurrent calls take turns. Writes nothing if nothing was committed since the last
    /// checkpoint. O(graph).
    ///
    /// If the engine has files of its own, these are the checkpoint: they are brought up to the
    /// newest commit, and no other file is written. O(changes that are in no file yet).
    ///
    /// # Errors
    /// A file system error: the previous checkpoint is then still there, and the graph can be
    /// written, unless the error is [`ErrorKind::LogFailed`](crate::ErrorKind::LogFailed).
    /// [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled). As [`Graph::flush`].
    pub fn checkpoint(&self, options: &CheckpointOptions) -> Result<CheckpointReport, Error> {
        Ok(self.typed.get()?.store.checkpoint(options)?)
    }

    /// Flushes recent commits to the files of an engine that keeps edges in files of its own, and
    /// merges all these files. The merge removes deletions and replaced values, except those that
    /// open snapshots, or the [history](crate::GraphOptions::history), need. Reads get faster, and
    /// the files smaller; the engine does the same in the background, but only enough to bound the
    /// cost of reads.
    ///
    /// Writers and readers continue meanwhile; commits after the call began may stay unmerged. Each
    /// step replaces a few files atomically: after an error, a cancellation or a crash the content
    /// of the graph is unchanged, and another call goes on. Needs room on disk for a part of the
    /// files, and little memory. For a graph that is compacted already, the files are read and
    /// nothing is written. O(bytes of the files).
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) if the engine keeps no such files:
    /// a [checkpoint](Graph::checkpoint) makes its store smaller.
    /// [`ErrorKind::Storage`](crate::ErrorKind::Storage) if a file could not be read or written,
    /// [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled). As [`Graph::flush`].
    pub fn compact(&self, options: &CompactOptions) -> Result<CompactReport, Error> {
        Ok(self.typed.get()?.store.compact(options)?)
    }

    /// Returns the storage report of an engine that keeps edges in files of its own: the files, and
    /// the memory for them; `None` if the engine keeps everything in memory. O(files).
    ///
    /// # Errors
    /// The file system failed.
    pub fn engine_report(&self) -> Result<Option<EngineReport>, Error> {
        Ok(self.typed.get()?.store.engine_report()?)
    }

    /// Makes every earlier commit durable, then copies the store to the directory `path`, or brings
    /// an older copy there up to date, while readers and writers continue: see
    /// [`store::backup`](crate::store::backup).
    ///
    /// # Errors
    /// As [`store::backup`](crate::store::backup). As [`Graph::flush`], except that a graph that is
    /// read only can be copied.
    pub fn backup(&self, path: impl AsRef<Path>) -> Result<BackupReport, Error> {
        self.typed.get()?;
        let journal = self.journal().ok_or(Cause::InMemory)?;
        if let Ok(log) = journal.log() {
            log.flush()?;
        }
        durable::backup::backup_to(journal.files(), path.as_ref())
    }

    /// Makes everything durable, refuses further commits, and releases the store. Reads of this
    /// graph continue.
    ///
    /// Every later write through any handle fails with
    /// [`ErrorKind::Closed`](crate::ErrorKind::Closed); closing again changes nothing. Dropping the
    /// last handle and snapshot closes the store, too, but cannot report a failure. The next
    /// opening is faster after a [checkpoint](Graph::checkpoint).
    ///
    /// # Errors
    /// As [`Graph::flush`]. With the graph closed,
    /// [`ErrorKind::Storage`](crate::ErrorKind::Storage) if the engine could not read or write one
    /// of its files since the last call of [`Graph::reclaim`]: no commit is affected.
    pub fn close(&self) -> Result<(), Error> {
        self.typed.get()?.store.close()?;
        Ok(self.typed.get()?.store.report_failed_maintenance()?)
    }

    /// Returns a description of the store; `None` if the graph lives in memory.
    #[must_use]
    pub fn store_info(&self) -> Option<StoreInfo> {
        let journal = self.journal()?;
        let engine = self.typed.engine;
        let in_files = self.typed.get().ok()?.store.in_files_through();
        Some(StoreInfo::of(journal, engine, in_files))
    }

    // --- imports -----------------------------------------------------------------------------

    /// Puts edges like [`Graph::ingest`], and notes in the same commit the position `input` of an
    /// importer, in bytes of its choice. Commits even if no edge is new.
    ///
    /// An importer that was stopped at any time resumes at [`Graph::input_position`]: nothing is
    /// imported twice or left out.
    ///
    /// # Errors
    /// As [`Graph::ingest`].
    pub fn ingest_from<S: EdgeTuple + Sync>(
        &self,
        label: impl Into<Label<S::Data>>,
        edges: &[S],
        input: &[u8],
    ) -> Result<Commit, Error> {
        self.typed.get()?.ingest(label.into().id(), edges, Some(input))
    }

    /// Returns the position in the last commit of [`Graph::ingest_from`], or of a transaction that
    /// [notes](crate::WriteTxn::note_input) its input.
    #[must_use]
    pub fn input_position(&self) -> Option<Box<[u8]>> {
        let input = self.typed.get().ok()?.store.sequencer.input();
        input.as_deref().map(Box::from)
    }

    fn journal(&self) -> Option<&Journal> {
        self.typed.even_in_child().store.journal()
    }
}
