//! Methods of [`GraphOptions`] that make and open graphs in stores.

use crate::durable::open;
use crate::error::{Error, ErrorKind};
use crate::graph::Graph;
use crate::options::{Access, GraphOptions};
use hedgerow_log::files::{FileSystem, RealFiles};
use hedgerow_sync::Arc;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// The time between two attempts to open a locked store.
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(20);

impl GraphOptions {
    /// Creates an empty graph in the directory `path`, which is created if it is missing.
    ///
    /// ```
    /// use hedgerow::prelude::*;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("friends");
    /// let graph = GraphOptions::new().label::<()>("knows").create(&path)?;
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
    /// [`ErrorKind::Exists`] if there is a store; the errors of [`Graph::in_memory`];
    /// [`ErrorKind::ReadOnly`] if the options open for reading only; a file system error.
    pub fn create(&self, path: impl AsRef<Path>) -> Result<Graph, Error> {
        self.create_on(Arc::new(RealFiles::new(path.as_ref())))
    }

    /// Opens the graph in the directory `path`.
    ///
    /// Loads the newest checkpoint, or only the keys of vertices if the engine has files of its
    /// own, and replays the log behind it: [`Graph::recovery`] returns a report. O(graph);
    /// O(vertices) with such an engine.
    ///
    /// # Errors
    /// - [`ErrorKind::NotFound`] if there is no store, or it does not have the requested state;
    /// - [`ErrorKind::Locked`] if the store is open elsewhere;
    /// - [`ErrorKind::Storage`] if it is damaged or the file system fails, in which case nothing
    ///   was changed;
    /// - [`ErrorKind::InvalidInput`] if an option differs from what the graph was made with; the
    ///   error names both;
    /// - [`ErrorKind::Unsupported`] if its engine, or compression, is not compiled into the
    ///   program, or the engine is none of the library's: select another;
    /// - [`ErrorKind::Capacity`] if the graph needs more memory than its limit.
    ///
    /// A past state is missing if it is older than the checkpoint or newer than the log, or if it
    /// is unknown which state was the newest at that [time](crate::AsOf::Time).
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Graph, Error> {
        let path = path.as_ref();
        let files = || match self.access {
            Access::Write => RealFiles::new(path),
            Access::Read(_) | Access::Checkpoint => RealFiles::read_only(path),
        };
        let begin = Instant::now();
        loop {
            match self.open_on(Arc::new(files())) {
                Err(error) if error.kind() == ErrorKind::Locked && begin.elapsed() < self.wait => {
                    thread::sleep(BETWEEN_ATTEMPTS);
                }
                opened => return opened,
            }
        }
    }

    /// Opens the graph in the directory `path`, or creates it if there is none.
    ///
    /// ```
    /// use hedgerow::prelude::*;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("friends");
    /// let options = GraphOptions::new().label::<()>("visited");
    /// for visitor in 1..=3 {
    ///     let graph = options.open_or_create(&path)?;
    ///     let visited = graph.label::<()>("visited")?;
    ///     graph.put_edge(visited, visitor, 0)?;
    ///     assert!(graph.contains_edge(visited, 1, 0)?, "the first visitor is still there");
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`open`](GraphOptions::open) and [`create`](GraphOptions::create). If another process
    /// creates the graph at the same moment, this one opens it, or finds it
    /// [locked](ErrorKind::Locked).
    pub fn open_or_create(&self, path: impl AsRef<Path>) -> Result<Graph, Error> {
        let is =
            |result: &Result<Graph, Error>, kind| result.as_ref().is_err_and(|error| error.kind() == kind);
        let opened = self.open(&path);
        if !is(&opened, ErrorKind::NotFound) {
            return opened;
        }
        let created = self.create(&path);
        if is(&created, ErrorKind::Exists) { self.open(&path) } else { created }
    }

    /// [`create`](GraphOptions::create) in any directory. For tests.
    #[doc(hidden)]
    pub fn create_on(&self, files: Arc<dyn FileSystem>) -> Result<Graph, Error> {
        open::create(files, self.clone())
    }

    /// [`open`](GraphOptions::open) in any directory, without waiting. For tests.
    #[doc(hidden)]
    pub fn open_on(&self, files: Arc<dyn FileSystem>) -> Result<Graph, Error> {
        open::open(files, self.clone())
    }
}
