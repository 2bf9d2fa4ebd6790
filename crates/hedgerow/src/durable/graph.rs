//! The durable side of a graph, as applications see it.

use crate::durable::StoreInfo;
use crate::edge_tuple::EdgeTuple;
use crate::error::Error;
use crate::graph::Graph;
use crate::label::Label;
use crate::options::GraphOptions;
use hedgerow_log::{Durability, Log};
use hedgerow_model::EngineReport;
use hedgerow_pipeline::{
    CheckpointOptions, CheckpointReport, Commit, CompactOptions, CompactReport, Error as Cause, Journal,
    Recovery,
};
use std::borrow::Borrow;
use std::path::Path;

impl Graph {
    // --- stores ------------------------------------------------------------------------------

    /// Opens the store in the directory `path` with the options that it was made with, to read and write it:
    /// [`GraphOptions::open`] without options.
    ///
    /// # Errors
    /// As [`GraphOptions::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        GraphOptions::new().open(path)
    }

    /// Makes an empty graph in the directory `path`: [`GraphOptions::create`].
    ///
    /// # Errors
    /// As [`GraphOptions::create`].
    pub fn create(path: impl AsRef<Path>, options: impl Borrow<GraphOptions>) -> Result<Self, Error> {
        options.borrow().create(path)
    }

    /// Opens the graph in the directory `path`, or makes it if there is none:
    /// [`GraphOptions::open_or_create`].
    ///
    /// # Errors
    /// As [`GraphOptions::open_or_create`].
    pub fn open_or_create(path: impl AsRef<Path>, options: impl Borrow<GraphOptions>) -> Result<Self, Error> {
        options.borrow().open_or_create(path)
    }

    /// What opening the store found; `None` if the graph was made by this program or lives in memory.
    #[must_use]
    pub fn recovery(&self) -> Option<&Recovery> {
        self.journal()?.recovery.as_ref()
    }

    /// When a commit is done; `None` if the graph lives in memory or cannot be written.
    #[must_use]
    pub fn durability(&self) -> Option<Durability> {
        self.journal()?.log().ok().map(Log::durability)
    }

    /// Waits until everything that was committed before survives a loss of power.
    ///
    /// # Errors
    /// [`ErrorKind::LogFailed`](crate::ErrorKind::LogFailed); [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) if the graph lives in memory,
    /// [`ErrorKind::ReadOnly`](crate::ErrorKind::ReadOnly).
    pub fn flush(&self) -> Result<(), Error> {
        self.stores.get()?;
        let log = self.journal().ok_or(Cause::InMemory)?.log()?;
        Ok(log.flush()?)
    }

    /// Writes the newest state as one file, from which the next opening starts, while writers and readers go on; then removes
    /// the checkpoint before and the part of the log that is no longer needed.
    ///
    /// One at a time; another call waits. Writes nothing if nothing was committed since the last one. O(graph).
    ///
    /// Where the engine has files of its own, these serve as the checkpoint: they are brought up to the newest commit, and no other file is
    /// written. O(what is in no file yet).
    ///
    /// # Errors
    /// The file system's: the checkpoint before is then still there, and the graph can be written, unless the error is
    /// [`ErrorKind::LogFailed`](crate::ErrorKind::LogFailed). [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled). As [`Graph::flush`].
    pub fn checkpoint(&self, options: &CheckpointOptions) -> Result<CheckpointReport, Error> {
        Ok(self.stores.get()?.store.checkpoint(options)?)
    }

    /// Flushes recent commits to the files of an engine that keeps edges in files of its own, and merges all these files, so that they have
    /// no deletions and no replaced values but those that open snapshots, or the [history](crate::GraphOptions::history), need. Reads get
    /// faster, and the files smaller; the engine does the same in passing, but only as much as bounds the cost of reads.
    ///
    /// Writers and readers go on meanwhile; what is committed after the call began may stay as it is. Each step replaces a few files at
    /// once: after an error, a cancellation or a crash the graph is as it was, and another call goes on. Needs room on disk for
    /// a part of the files, and little memory. Of a graph that is compacted, the files are read and nothing is written. O(bytes of the files).
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) if the engine keeps no such files: a [checkpoint](Graph::checkpoint) is what
    /// makes its store smaller. [`ErrorKind::Storage`](crate::ErrorKind::Storage) if a file could not be read or written,
    /// [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled). As [`Graph::flush`].
    pub fn compact(&self, options: &CompactOptions) -> Result<CompactReport, Error> {
        Ok(self.stores.get()?.store.compact(options)?)
    }

    /// What an engine that keeps edges in files of its own has in these files, and in memory for them; `None` if the engine keeps
    /// everything in memory. O(files).
    ///
    /// # Errors
    /// The file system's.
    pub fn engine_report(&self) -> Result<Option<EngineReport>, Error> {
        Ok(self.stores.get()?.store.engine_report()?)
    }

    /// Makes everything durable, refuses further commits, and releases the store. Reads of this graph go on.
    ///
    /// Every later write through any handle fails with [`ErrorKind::Closed`](crate::ErrorKind::Closed); to close again changes nothing.
    /// Dropping the last handle and snapshot closes the store, too, but cannot report a failure. The next opening is faster after a
    /// [checkpoint](Graph::checkpoint).
    ///
    /// # Errors
    /// As [`Graph::flush`]. With the graph closed, [`ErrorKind::Storage`](crate::ErrorKind::Storage) if the engine could not read or write one of its files
    /// since [`Graph::reclaim`] was last called: no commit is affected.
    pub fn close(&self) -> Result<(), Error> {
        self.stores.get()?.store.close()?;
        Ok(self.stores.get()?.store.report_failed_maintenance()?)
    }

    /// What belongs to the store; `None` if the graph lives in memory.
    #[must_use]
    pub fn store_info(&self) -> Option<StoreInfo> {
        let journal = self.journal()?;
        let engine = self.stores.engine;
        let in_files = self.stores.get().ok()?.store.in_files_through();
        Some(StoreInfo::of(journal, engine, in_files))
    }

    // --- imports -----------------------------------------------------------------------------

    /// Puts edges as [`Graph::ingest`], and notes in the same commit that this came from `input`: how far an importer got, in
    /// bytes of its own. There is a commit even if no edge is new.
    ///
    /// An importer that is stopped at any time asks [`Graph::input_position`] and goes on there: nothing is imported twice or
    /// left out.
    ///
    /// # Errors
    /// As [`Graph::ingest`].
    pub fn ingest_from<S: EdgeTuple + Sync>(
        &self,
        label: impl Into<Label<S::Data>>,
        edges: &[S],
        input: &[u8],
    ) -> Result<Commit, Error> {
        self.stores.get()?.ingest(label.into().id(), edges, Some(input))
    }

    /// What the last commit of [`Graph::ingest_from`], or of a transaction that [notes](crate::WriteTxn::note_input) its input, noted.
    #[must_use]
    pub fn input_position(&self) -> Option<Box<[u8]>> {
        let input = self.stores.get().ok()?.store.sequencer.input();
        input.as_deref().map(Box::from)
    }

    fn journal(&self) -> Option<&Journal> {
        self.stores.even_in_child().store.journal()
    }
}
