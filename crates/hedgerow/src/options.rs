//! The options of a graph, and the isolation of its transactions.

use crate::data::{EdgeType, Properties};
use crate::engine_kind::EngineKind;
use crate::retries::Retries;
use hedgerow_log::{Durability, LogOptions};
use hedgerow_model::{CompactionLimits, KeyKind, LabelSchema, RecordSchema, Topology};
use hedgerow_pipeline::{Compaction, Settings};
use hedgerow_sequencer::{AsOf, Clock, History, ManualClock};
use std::path::PathBuf;
use std::time::Duration;

/// The protection of a transaction against commits between its start and its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// First committer wins: the commit fails with a conflict if another commit has changed
    /// something that the transaction *wrote* since it began.
    ///
    /// Allows write skew: two transactions that each read something that the other writes, and
    /// write different things, both commit.
    #[default]
    Snapshot,
    /// Also fails if something that the transaction *read* was changed. If every writing
    /// transaction is `Serializable` or declared, or reads nothing, the whole history is
    /// serializable.
    Serializable,
}

hedgerow_model::names!(Isolation, "isolation": Snapshot => "snapshot", Serializable => "serializable");

/// The options to make and open a graph: a builder, like [`std::fs::OpenOptions`] for files.
///
/// Engine, topology, keys, labels, properties of vertices and strictness are what a graph is
/// **made** with. An option that is not set is the default for a new graph, and the stored one for
/// a graph that is opened; an option that is set must match the opened graph. Only the engine may
/// differ, unless it keeps edges in files of its own.
///
/// All other options say how the process **works** with the graph, may differ each time, and are
/// not kept in the store.
///
/// | to | call |
/// |---|---|
/// | make a graph | [`Graph::in_memory`](crate::Graph::in_memory), [`create`](GraphOptions::create) |
/// | open one to write | [`open`](GraphOptions::open), [`open_or_create`](GraphOptions::open_or_create); without options, [`Graph::open`](crate::Graph::open) |
/// | open one to read only | [`open`](GraphOptions::open) after [`read_only`](GraphOptions::read_only), [`as_of`](GraphOptions::as_of) or [`from_checkpoint`](GraphOptions::from_checkpoint) |
///
/// ```
/// use hedgerow::Durability;
/// use hedgerow::prelude::*;
/// use std::time::Duration;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("friends");
/// let options = GraphOptions::new().topology(Topology::Undirected).keys(KeyKind::String).label::<()>("knows");
/// let graph = options.create(&path)?;
/// let knows = graph.label::<()>("knows")?;
/// graph.put_edge(knows, "ann", "bob")?;
/// graph.close()?;
///
/// let options = GraphOptions::new().durability(Durability::Buffered).wait(Duration::from_secs(1));
/// let graph = options.open(&path)?;
/// assert!(graph.contains_edge(knows, "bob", "ann")?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct GraphOptions {
    pub(crate) engine: Option<EngineKind>,
    pub(crate) topology: Option<Topology>,
    pub(crate) keys: Option<KeyKind>,
    /// If empty, the labels of the store, or the one label that every graph has.
    pub(crate) labels: Vec<LabelSchema>,
    pub(crate) vertices: Option<RecordSchema>,
    pub(crate) strict: Option<bool>,
    pub(crate) access: Access,
    pub(crate) wait: Duration,
    pub(crate) memory_limit: Option<usize>,
    pub(crate) memory_budget: Option<usize>,
    pub(crate) compaction_limits: Option<CompactionLimits>,
    pub(crate) preferred_engine: Option<EngineKind>,
    pub(crate) threads: Option<usize>,
    pub(crate) retries: Option<u32>,
    pub(crate) log: LogOptions,
    pub(crate) keeps_commit_order: bool,
    pub(crate) is_simulated: bool,
    pub(crate) clock: Clock,
    pub(crate) history: History,
    pub(crate) compaction: Option<Compaction>,
    pub(crate) archiving_threshold: Option<usize>,
    pub(crate) scratch: Option<PathBuf>,
    pub(crate) scratch_limit: Option<usize>,
}

/// The access for which a graph is opened.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Access {
    /// To read and write the newest state.
    #[default]
    Write,
    /// To read the newest state, or a past one.
    Read(Option<AsOf>),
    /// To read the newest checkpoint.
    Checkpoint,
}

impl GraphOptions {
    /// Sets nothing: a new graph is on engine `rapid`, directed without reverse adjacency, and has
    /// numbers as keys and one label, called `edge`, without data.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the engine that stores the graph.
    #[must_use]
    pub fn engine(mut self, engine: EngineKind) -> Self {
        self.engine = Some(engine);
        self
    }

    /// Sets the engine for a graph whose [engine](GraphOptions::engine) is not set. A store whose
    /// engine keeps edges in files of its own opens with that engine instead.
    #[must_use]
    pub fn prefer_engine(mut self, engine: EngineKind) -> Self {
        self.preferred_engine = Some(engine);
        self
    }

    /// Makes the graph directed or undirected, with reverse adjacency or without.
    #[must_use]
    pub fn topology(mut self, topology: Topology) -> Self {
        self.topology = Some(topology);
        self
    }

    /// Sets the kind of keys by which the application names vertices: numbers if not set.
    #[must_use]
    pub fn keys(mut self, keys: KeyKind) -> Self {
        self.keys = Some(keys);
        self
    }

    /// Adds a label whose edges carry `T`: nothing (`()`), a number, or a struct with
    /// [`Properties`]. A new graph without any label has one called `edge`, which carries nothing.
    #[must_use]
    pub fn label<T: EdgeType>(self, name: impl Into<String>) -> Self {
        self.label_schema(LabelSchema { name: name.into(), edges: T::edge_schema() })
    }

    /// Adds a label that allows several edges between two vertices, each with the properties of `P`
    /// and a number that is unique between the two vertices; files and the command line call that
    /// number `key`.
    #[must_use]
    pub fn parallel_label<P: Properties>(self, name: impl Into<String>, key: impl Into<String>) -> Self {
        self.label_schema(LabelSchema::with_parallel_edges(name, key, P::schema()))
    }

    /// Adds a label whose schema is only known at run time.
    #[must_use]
    pub fn label_schema(mut self, label: LabelSchema) -> Self {
        self.labels.push(label);
        self
    }

    /// Gives vertices the properties of `P`. Each of its fields must be an `Option`, because edges
    /// create vertices without properties.
    #[must_use]
    pub fn vertices<P: Properties>(self) -> Self {
        self.vertex_properties(P::schema())
    }

    /// Sets the properties of vertices, known at run time.
    #[must_use]
    pub fn vertex_properties(mut self, schema: RecordSchema) -> Self {
        self.vertices = Some(schema);
        self
    }

    /// Rejects edges between vertices that don't exist, instead of creating these vertices.
    #[must_use]
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = Some(strict);
        self
    }

    /// Limits the memory of the graph: a commit that grows the newest state fails if the graph
    /// would use more than this many bytes. [`Graph::memory`](crate::Graph::memory) counts them:
    /// edges, vertices with their keys and properties, records, and versions that open snapshots
    /// and the history retain.
    ///
    /// A commit that only deletes is never refused, so a full graph can be shrunk. It may still
    /// take memory, because blocks are rewritten and snapshots may retain the replaced ones; since
    /// it can delete only what exists, the excess is bounded. A commit that frees more than it
    /// adds is accepted. Commits at the same time can together exceed the limit.
    ///
    /// Opening a store allows up to twice the limit, because the layout in memory may differ from
    /// that of the graph that was closed. A graph above its limit does not grow until enough is
    /// deleted.
    ///
    /// Not counted are: about 100 KiB of locks and reader slots per graph; the working memory of a
    /// commit, a checkpoint or an opening while it runs (for a commit, in proportion to its
    /// operations); commits that wait for the log ([`GraphOptions::buffer_bytes`], up to four times
    /// that); the stacks of worker threads; and the memory that allocators round up or hold free
    /// ([`MemoryUse::reserved_bytes`](crate::MemoryUse::reserved_bytes)). Engine `rapid` reserves
    /// address space in regions of 32 MiB, of which only used pages are resident. The size of the
    /// dictionary is an estimate, which may be a quarter off.
    #[must_use]
    pub fn memory_limit(mut self, bytes: usize) -> Self {
        self.memory_limit = Some(bytes);
        self
    }

    /// Sets the memory budget, in bytes, of an engine with files of its own, such as
    /// [`Lsm`](EngineKind::Lsm): half for edges that are in no file yet, half to read files. If not
    /// set, half of the [limit](GraphOptions::memory_limit), or 128 MiB without a limit.
    ///
    /// Commits wait while the first half is full. The second half holds the indexes of files (about
    /// 1/300 of the files), a bit per vertex, and cached blocks, which always get a sixteenth of
    /// the budget. Snapshots keep rows in scan order in at most half of the second half, if that
    /// leaves room to cache the files of any one label in one direction. Keys are not counted.
    ///
    /// A graph of another engine is refused as [`Unsupported`](crate::ErrorKind::Unsupported).
    #[must_use]
    pub fn memory_budget(mut self, bytes: usize) -> Self {
        self.memory_budget = Some(bytes);
        self
    }

    /// Limits the resources that an engine with files of its own may use to merge them in the
    /// background, while no commit has to wait for a merge; unlimited if not set. With tighter
    /// limits more files wait to be merged, and reads look into more of them.
    /// [`Graph::compact`](crate::Graph::compact) is not limited. Limits out of range are refused as
    /// [`InvalidInput`](crate::ErrorKind::InvalidInput), graphs of other engines as
    /// [`Unsupported`](crate::ErrorKind::Unsupported).
    #[must_use]
    pub fn compaction_limits(mut self, limits: CompactionLimits) -> Self {
        self.compaction_limits = Some(limits);
        self
    }

    /// Sets the threads that free garbage and archive the edge log of
    /// [`Hybrid`](EngineKind::Hybrid): if not set, writers, and on `Hybrid` a background thread. An
    /// engine with files of its own always uses a background thread, unless compaction is off.
    #[must_use]
    pub fn compaction(mut self, compaction: Compaction) -> Self {
        self.compaction = Some(compaction);
        self
    }

    /// Sets the number of edges in the log of engine [`Hybrid`](EngineKind::Hybrid) from which on
    /// they are archived: 65,536 if not set. Larger batches take less time per edge, but a
    /// computation on a snapshot first sorts the edges that are not archived. Commits pause while
    /// the log holds more than 2 Mi edges, or more than the threshold if that is larger. A graph of
    /// another engine is refused as [`Unsupported`](crate::ErrorKind::Unsupported).
    #[must_use]
    pub fn archiving_threshold(mut self, edges: usize) -> Self {
        self.archiving_threshold = Some(edges);
        self
    }

    /// Keeps the edges in a memory-mapped file in this directory, for graphs larger than memory:
    /// the system keeps used pages in memory while they fit. Only engine [`Tel`](EngineKind::Tel)
    /// supports this, on Linux; a graph of another engine is refused as
    /// [`Unsupported`](crate::ErrorKind::Unsupported).
    ///
    /// The file is scratch: it has no name and ends with the process, and opening a store rebuilds
    /// it from checkpoint and log. In memory stay keys, vertices with their properties, long
    /// records of edges, and 8 bytes per vertex and stored direction; for labels whose edges may be
    /// parallel 16 bytes more, and the data of these edges. [`Graph::memory`](crate::Graph::memory)
    /// and [`GraphOptions::memory_limit`] count the file, too. A commit for which the disk has no
    /// room fails as [`Capacity`](crate::ErrorKind::Capacity) without changing anything.
    #[must_use]
    pub fn scratch(mut self, directory: impl Into<PathBuf>) -> Self {
        self.scratch = Some(directory.into());
        self
    }

    /// Limits the disk space of the file of [`GraphOptions::scratch`], in bytes; unlimited if not
    /// set.
    #[must_use]
    pub fn scratch_limit(mut self, bytes: usize) -> Self {
        self.scratch_limit = Some(bytes);
        self
    }

    /// Sets the past states that [`Graph::snapshot_at`](crate::Graph::snapshot_at) can read: none
    /// if not set. History is kept in memory, and begins when the graph is made or opened.
    #[must_use]
    pub fn history(mut self, history: History) -> Self {
        self.history = history;
        self
    }

    /// Opening a store keeps the order of the commits in its log, for
    /// [`Newest::by_commit`](crate::Newest::by_commit): it applies them one by one, which takes
    /// longer than in batches. All commits before the newest checkpoint still count as one.
    #[must_use]
    pub fn keep_commit_order(mut self) -> Self {
        self.keeps_commit_order = true;
        self
    }

    /// Sets the number of worker threads for large commits: one per core if not set.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Sets how often [`Graph::transact`](crate::Graph::transact) retries a transaction after a
    /// conflict: 100 times if not set. It waits for a random time before each retry: up to 50 µs
    /// before the first, then up to twice as long each time, and at most 20 ms. With 0 a conflict
    /// is returned at once.
    #[must_use]
    pub fn retries(mut self, retries: u32) -> Self {
        self.retries = Some(retries);
        self
    }

    /// Returns the settings that do not depend on the engine.
    pub(crate) fn settings(&self) -> Settings {
        Settings {
            topology: self.topology.unwrap_or_default(),
            keys: self.keys.unwrap_or_default(),
            strict: self.strict.unwrap_or_default(),
            memory_limit: self.memory_limit,
            scratch_limit: self.scratch_limit,
            threads: self.threads,
            compaction: self.compaction_or_default(),
            history: self.history,
            clock: self.clock.clone(),
            keeps_commit_order: self.keeps_commit_order,
            is_simulated: self.is_simulated,
        }
    }

    /// In the background if the engine merges files, which takes longer than a commit may, or
    /// archives, which takes longer than appending.
    fn compaction_or_default(&self) -> Compaction {
        let engine = self.engine_or_default();
        match self.compaction {
            None if engine.has_edge_log() => Compaction::InBackground,
            None | Some(Compaction::ByWriters) if engine.owns_files() => Compaction::InBackground,
            compaction => compaction.unwrap_or_default(),
        }
    }

    pub(crate) fn engine_or_default(&self) -> EngineKind {
        self.engine.or(self.preferred_engine).unwrap_or_default()
    }

    pub(crate) fn retries_or_default(&self) -> u32 {
        self.retries.unwrap_or(Retries::DEFAULT)
    }

    /// Opens the graph to read its newest state, together with other readers. Changes nothing, so
    /// it needs neither room on the disk nor a writable file system. Writes fail with
    /// [`ErrorKind::ReadOnly`](crate::ErrorKind::ReadOnly).
    ///
    /// While the graph is loaded no process can open the store to write; afterwards one can. The
    /// last call of `read_only`, `as_of` and `from_checkpoint` counts.
    ///
    /// ```
    /// use hedgerow::prelude::*;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("friends");
    /// let graph = GraphOptions::new().label::<()>("knows").create(&path)?;
    /// let knows = graph.label::<()>("knows")?;
    /// graph.put_edge(knows, 1, 2)?;
    /// graph.close()?;
    ///
    /// let graph = GraphOptions::new().read_only().open(&path)?;
    /// assert!(graph.snapshot()?.contains_edge(knows, 1, 2)?);
    /// assert_eq!(graph.put_edge(knows, 2, 3).unwrap_err().kind(), ErrorKind::ReadOnly);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.access = Access::Read(None);
        self
    }

    /// Opens a past state of the graph as [`read_only`](GraphOptions::read_only) opens the newest:
    /// the state of its newest checkpoint, or any later one in the log. Older states are gone.
    #[must_use]
    pub fn as_of(mut self, state: impl Into<AsOf>) -> Self {
        self.access = Access::Read(Some(state.into()));
        self
    }

    /// Opens the newest checkpoint of the store, while another process may go on writing to it. For
    /// an engine with files of its own, these files are the checkpoint.
    ///
    /// Locks and changes nothing. The graph has no commits after the checkpoint, and never will.
    /// Writes fail with [`ErrorKind::ReadOnly`](crate::ErrorKind::ReadOnly).
    #[must_use]
    pub fn from_checkpoint(mut self) -> Self {
        self.access = Access::Checkpoint;
        self
    }

    /// Sets how long to wait for a store that is open elsewhere before failing with
    /// [`ErrorKind::Locked`](crate::ErrorKind::Locked): not at all if not set. Retries every 20 ms.
    #[must_use]
    pub fn wait(mut self, at_most: Duration) -> Self {
        self.wait = at_most;
        self
    }

    /// Sets when a commit is done: by default when it survives a loss of power. Without meaning for
    /// a graph in memory.
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.log.durability = durability;
        self
    }

    /// Sets the size of the largest segment of the log, in bytes: 16 MiB if not set. The first
    /// segment after an opening has 64 KiB, each later one 16 times as much as the one before, up
    /// to this size; a larger commit gets a segment of its size. Closing cuts segments after their
    /// last commits.
    #[must_use]
    pub fn segment_bytes(mut self, bytes: u64) -> Self {
        self.log.segment_bytes = bytes;
        self
    }

    /// Sets how many bytes of commits are buffered in memory before they are written: 1 MiB if not
    /// set.
    #[must_use]
    pub fn buffer_bytes(mut self, bytes: usize) -> Self {
        self.log.buffer_bytes = bytes;
        self
    }

    /// Sets how many bytes are written between syncs, under [`Durability::Buffered`]: 16 MiB if not
    /// set.
    #[must_use]
    pub fn unsynced_bytes(mut self, bytes: u64) -> Self {
        self.log.unsynced_bytes = bytes;
        self
    }

    /// Uses no background thread, clock or randomness: equal calls give equal operations on the
    /// files. For tests.
    #[doc(hidden)]
    #[must_use]
    pub fn simulated(mut self) -> Self {
        self.is_simulated = true;
        self.clock = Clock::Still;
        self
    }

    /// Sets the clock of the graph. For tests.
    #[doc(hidden)]
    #[must_use]
    pub fn clock(mut self, clock: &ManualClock) -> Self {
        self.clock = Clock::Manual(clock.clone());
        self
    }
}
