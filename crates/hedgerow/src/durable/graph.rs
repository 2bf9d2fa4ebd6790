//! The durable side of a graph, as applications see it.

use crate::data::EdgeData;
use crate::durable::{StoreInfo, open};
use crate::error::{Error, ErrorKind};
use crate::graph::Graph;
use crate::label::Label;
use crate::options::GraphOptions;
use crate::stores::with_store;
use hedgerow_log::files::{FileSystem, RealFiles};
use hedgerow_log::{Durability, Log};
use hedgerow_model::AsKey;
use hedgerow_pipeline::{
    BulkEdge, CheckpointOptions, CheckpointReport, Commit, Error as Cause, Journal, Recovery,
};
use hedgerow_sequencer::AsOf;
use hedgerow_sync::Arc;
use std::path::Path;

impl Graph {
    // --- stores ------------------------------------------------------------------------------

    /// Makes an empty graph that is kept in the directory `path`, which is made if there is none.
    ///
    /// ```
    /// use hedgerow::prelude::*;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("friends");
    /// let graph = Graph::create(&path, GraphOptions::new().label::<()>("knows"))?;
    /// let knows = graph.label::<()>("knows")?;
    /// graph.put_edge(knows, 1, 2)?; // Survives a loss of power from here on.
    /// graph.close()?;
    /// drop(graph);
    ///
    /// let graph = Graph::open(&path)?;
    /// assert!(graph.contains_edge(knows, 1, 2)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Exists`](crate::ErrorKind::Exists) if there is a store; what [`Graph::in_memory`] refuses; the file system's.
    pub fn create(path: impl AsRef<Path>, options: GraphOptions) -> Result<Self, Error> {
        Self::create_on(Arc::new(RealFiles::new(path.as_ref())), options)
    }

    /// Opens the graph in the directory `path` with the options that it was made with: [`GraphOptions::of_store`].
    ///
    /// Loads the newest checkpoint and replays the log behind it: [`Graph::recovery`] says what was found. O(graph).
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no store, [`ErrorKind::Locked`](crate::ErrorKind::Locked) if it is open
    /// elsewhere, [`ErrorKind::Storage`](crate::ErrorKind::Storage) if it is damaged or the file system fails, in which case nothing was
    /// changed, [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) if its engine is not built, or is none of the library's and keeps edges in files of
    /// its own: [`Graph::open_with`] names it.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_with(&path, GraphOptions::of_store(&path)?)
    }

    /// Opens the graph in the directory `path` with other options. Topology, keys, labels, vertex properties and strictness must be those that the graph was made
    /// with; durability, threads, memory limit and sizes of the log may be others, and so may the engine, unless it keeps edges in files of its own.
    ///
    /// # Errors
    /// As [`Graph::open`]; [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if an option differs from what is on disk, which names both;
    /// [`ErrorKind::Capacity`](crate::ErrorKind::Capacity) if the graph needs more memory than its limit.
    pub fn open_with(path: impl AsRef<Path>, options: GraphOptions) -> Result<Self, Error> {
        Self::open_on(Arc::new(RealFiles::new(path.as_ref())), options)
    }

    /// Opens the graph in the directory `path` with these options, or creates it with them if there is none.
    ///
    /// ```
    /// use hedgerow::prelude::*;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("friends");
    /// for visitor in 1..=3 {
    ///     let graph = Graph::open_or_create(&path, GraphOptions::new().label::<()>("visited"))?;
    ///     let visited = graph.label::<()>("visited")?;
    ///     graph.put_edge(visited, visitor, 0)?;
    ///     assert!(graph.contains_edge(visited, 1, 0)?, "the first visitor is still there");
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Graph::open_with`] and [`Graph::create`]. If another process creates the graph at the same moment, this one opens it, or finds it
    /// [locked](crate::ErrorKind::Locked).
    pub fn open_or_create(path: impl AsRef<Path>, options: GraphOptions) -> Result<Self, Error> {
        let opened = Self::open_with(&path, options.clone());
        if opened.as_ref().is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            let created = Self::create(&path, options.clone());
            return match created {
                Err(error) if error.kind() == ErrorKind::Exists => Self::open_with(&path, options),
                created => created,
            };
        }
        opened
    }

    /// Opens the newest checkpoint of the store in the directory `path` to read it, beside a process that goes on writing to the store, if there is one.
    ///
    /// Nothing is locked and nothing is changed. Commits after the checkpoint are not there, and none will be. Writes fail
    /// with [`ErrorKind::ReadOnly`](crate::ErrorKind::ReadOnly).
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no store or no checkpoint in it; otherwise as [`Graph::open`].
    pub fn open_checkpoint(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_checkpoint_on(Arc::new(RealFiles::read_only(path.as_ref())))
    }

    /// Opens the newest checkpoint as [`Graph::open_checkpoint`] does, with other options, as [`Graph::open_with`].
    ///
    /// # Errors
    /// As [`Graph::open_checkpoint`] and [`Graph::open_with`].
    pub fn open_checkpoint_with(path: impl AsRef<Path>, options: GraphOptions) -> Result<Self, Error> {
        open::open_checkpoint(Arc::new(RealFiles::read_only(path.as_ref())), Some(options))
    }

    /// Opens the graph in the directory `path` to read its newest state, beside other readers. Nothing is changed, so that this needs neither room on
    /// the disk nor a file system that can be written to. Writes fail with [`ErrorKind::ReadOnly`](crate::ErrorKind::ReadOnly).
    ///
    /// While it is loaded no process can open the store to write; afterwards it may be written again. Loads the newest checkpoint and replays the log
    /// behind it, as [`Graph::open`] does: O(graph).
    ///
    /// ```
    /// use hedgerow::prelude::*;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("friends");
    /// let graph = Graph::create(&path, GraphOptions::new().label::<()>("knows"))?;
    /// let knows = graph.label::<()>("knows")?;
    /// graph.put_edge(knows, 1, 2)?;
    /// graph.close()?;
    ///
    /// let graph = Graph::open_read_only(&path)?;
    /// assert!(graph.snapshot()?.contains_edge(knows, 1, 2)?);
    /// assert_eq!(graph.put_edge(knows, 2, 3).unwrap_err().kind(), ErrorKind::ReadOnly);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Locked`](crate::ErrorKind::Locked) if the store is open to write: [`Graph::open_checkpoint`] reads beside a writer. Otherwise as
    /// [`Graph::open`].
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Self, Error> {
        open::open_to_read(Arc::new(RealFiles::read_only(path.as_ref())), None, None)
    }

    /// Opens the newest state as [`Graph::open_read_only`] does, with other options, as [`Graph::open_with`].
    ///
    /// # Errors
    /// As [`Graph::open_read_only`] and [`Graph::open_with`].
    pub fn open_read_only_with(path: impl AsRef<Path>, options: GraphOptions) -> Result<Self, Error> {
        open::open_to_read(Arc::new(RealFiles::read_only(path.as_ref())), Some(options), None)
    }

    /// Reads a past state of the graph in the directory `path`: that of its newest checkpoint, or any after it, from the log. The graph
    /// cannot be written; the options are those of [`Graph::open_with`].
    ///
    /// While it is read, no process may have the store open to write; afterwards it may be written again. What was before the checkpoint is gone.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if the state is older than the checkpoint, or not there yet, or if it is unknown which
    /// state was the newest at that [time](AsOf::Time); otherwise as [`Graph::open_with`].
    pub fn open_at(
        path: impl AsRef<Path>,
        state: impl Into<AsOf>,
        options: GraphOptions,
    ) -> Result<Self, Error> {
        Self::open_at_on(Arc::new(RealFiles::read_only(path.as_ref())), state.into(), options)
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
        let log = self.journal().ok_or(Cause::InMemory)?.log()?;
        Ok(log.flush()?)
    }

    /// Writes the newest state as one file, from which the next opening starts, while writers and readers go on; then removes
    /// the checkpoint before and the part of the log that is no longer needed.
    ///
    /// One at a time; another call waits. Writes nothing if nothing was committed since the last one. O(graph).
    ///
    /// An engine that keeps edges in files of its own has these brought up to the same commit first; the checkpoint then has vertices and keys only.
    ///
    /// # Errors
    /// The file system's: the checkpoint before is then still there, and the graph can be written, unless the error is
    /// [`ErrorKind::LogFailed`](crate::ErrorKind::LogFailed). [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled). As [`Graph::flush`].
    pub fn checkpoint(&self, options: &CheckpointOptions) -> Result<CheckpointReport, Error> {
        Ok(with_store!(&*self.stores, store => store.checkpoint(options))?)
    }

    /// Makes everything durable, takes no more commits, and gives the store free for others. Reads of this graph go on.
    ///
    /// Every later write through any handle fails with [`ErrorKind::Closed`](crate::ErrorKind::Closed); to close again changes nothing. A graph
    /// that is dropped without being closed loses nothing that was promised; a closed one is opened faster if a
    /// [checkpoint](Graph::checkpoint) was made before, and damage anywhere in its log is found.
    ///
    /// # Errors
    /// As [`Graph::flush`]. With the graph closed, [`ErrorKind::Storage`](crate::ErrorKind::Storage) if the engine could not read or write one of its files
    /// since [`Graph::reclaim`] was last called: no commit is affected.
    pub fn close(&self) -> Result<(), Error> {
        with_store!(&*self.stores, store => store.close())?;
        Ok(with_store!(&*self.stores, store => store.report_failed_maintenance())?)
    }

    /// What belongs to the store; `None` if the graph lives in memory.
    #[must_use]
    pub fn store_info(&self) -> Option<StoreInfo> {
        let journal = self.journal()?;
        let engine = self.stores.engine;
        let in_files = with_store!(&*self.stores, store => store.in_files_through());
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
    pub fn ingest_from<B: BulkEdge>(
        &self,
        label: impl Into<Label<B::Value>>,
        edges: &[B],
        input: &[u8],
    ) -> Result<Commit, Error> {
        let label = label.into().id();
        self.stores.check_written_column::<B::Value>(label)?;
        Ok(with_store!(&*self.stores, store => store.ingest(label, edges, Some(input)))?)
    }

    /// Puts edges with records as [`Graph::ingest_records`], and notes `input` as [`Graph::ingest_from`] does.
    ///
    /// # Errors
    /// As [`Graph::ingest_records`].
    pub fn ingest_records_from<K: AsKey + Sync, T: EdgeData>(
        &self,
        label: impl Into<Label<T>>,
        edges: &[(K, K, T)],
        input: &[u8],
    ) -> Result<Commit, Error> {
        self.stores.ingest_records(label.into().id(), edges, Some(input))
    }

    /// What the last commit of [`Graph::ingest_from`] or [`Graph::ingest_records_from`], or of a transaction that [notes](crate::WriteTxn::note_input) its input, noted.
    #[must_use]
    pub fn input_position(&self) -> Option<Box<[u8]>> {
        let input = with_store!(&*self.stores, store => store.sequencer.input());
        input.as_deref().map(Box::from)
    }

    // --- on any file system, for tests -------------------------------------------------------

    /// [`Graph::create`] in any directory.
    ///
    /// # Errors
    /// As [`Graph::create`].
    #[doc(hidden)]
    pub fn create_on(files: Arc<dyn FileSystem>, options: GraphOptions) -> Result<Self, Error> {
        open::create(files, options)
    }

    /// [`Graph::open_with`] in any directory.
    ///
    /// # Errors
    /// As [`Graph::open_with`].
    #[doc(hidden)]
    pub fn open_on(files: Arc<dyn FileSystem>, options: GraphOptions) -> Result<Self, Error> {
        open::open(files, options)
    }

    /// [`Graph::open_at`] in any directory.
    ///
    /// # Errors
    /// As [`Graph::open_at`].
    #[doc(hidden)]
    pub fn open_at_on(files: Arc<dyn FileSystem>, state: AsOf, options: GraphOptions) -> Result<Self, Error> {
        open::open_to_read(files, Some(options), Some(state))
    }

    /// [`Graph::open_read_only_with`] in any directory.
    #[doc(hidden)]
    pub fn open_read_only_on(files: Arc<dyn FileSystem>, options: GraphOptions) -> Result<Self, Error> {
        open::open_to_read(files, Some(options), None)
    }

    /// [`Graph::open_checkpoint`] in any directory.
    ///
    /// # Errors
    /// As [`Graph::open_checkpoint`].
    #[doc(hidden)]
    pub fn open_checkpoint_on(files: Arc<dyn FileSystem>) -> Result<Self, Error> {
        open::open_checkpoint(files, None)
    }

    fn journal(&self) -> Option<&Journal> {
        with_store!(&*self.stores, store => store.journal())
    }
}
