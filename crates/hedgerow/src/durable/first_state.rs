//! Stores that begin with a whole graph.

use super::edge_records::EdgeRecords;
use super::first_source::FirstSource;
use super::open;
use crate::data::Record;
use crate::engines::TypedStore;
use crate::error::{Error, ErrorKind, Reason};
use crate::options::{Access, GraphOptions};
use hedgerow_kernels::{BuildOptions, Csr, CsrError};
use hedgerow_log::StoreFiles;
use hedgerow_log::checkpoint::{CheckpointError, Description};
use hedgerow_log::files::{FileSystem, RealFiles};
use hedgerow_model::{
    Catalog, ColumnType, CommitTimestamp, Counts, EdgeSchema, GraphView, Key, LabelId, Topology, VertexId,
    ViewError, with_width,
};
use hedgerow_pipeline::{CheckpointOptions, CheckpointReport, Error as Cause};
use hedgerow_sync::Arc;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::fmt;
use std::path::Path;

/// The graph with which a store begins: a static graph whose vertices have keys.
#[derive(Clone, Copy)]
pub struct FirstState<'g> {
    /// The vertices, and the edges. Of an undirected graph, each edge at least from its end with
    /// the lesser id.
    pub graph: &'g Csr,
    /// The label that the edges get. Its values are those of the static graph, unless it has
    /// records.
    pub label: LabelId,
    /// The key of a vertex. Dense keys are the ids. Other keys differ, which is not checked: a
    /// store with equal keys cannot be opened.
    pub key: &'g (dyn Fn(VertexId) -> Key + Sync),
    /// The records of the edges, if the label has properties: the values of the static graph, of
    /// type `u64`, are their places. If edges may be parallel, the static graph has a neighbor for
    /// each; of several with one number the last counts. The types of their values, and of those
    /// of [`properties`](Self::properties), are not checked: a store with values of other types
    /// cannot be opened, or on an engine with files of its own not be read.
    pub records: Option<&'g EdgeRecords>,
    /// The properties of a vertex, unless no vertex has any.
    pub properties: Option<&'g (dyn Fn(VertexId) -> Record + Sync)>,
    /// The position of the importer, which notes how far it is.
    pub input: Option<&'g [u8]>,
}

impl fmt::Debug for FirstState<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FirstState").field("label", &self.label).finish_non_exhaustive()
    }
}

/// Creates a store in the directory `path`, which is created if it is missing, and makes `state`
/// its first commit: written as a checkpoint, after which the log begins; by an engine with files
/// of its own, into these. Opens no graph.
///
/// Several times as fast as a commit of the same edges, because neither memory of the engine nor
/// the log takes them. A crash leaves no store, an empty one, or all of it. O(vertices + edges), in
/// memory for a few chunks per thread; and, for an engine with files of its own, for the edges from
/// their other ends, unless the graph is directed without a reverse adjacency; such an engine also
/// works without pauses, whatever the [share](CheckpointOptions::share).
///
/// ```
/// use hedgerow::kernels::{BuildOptions, Csr};
/// use hedgerow::prelude::*;
/// use hedgerow::store::{self, FirstState};
/// use hedgerow::{CheckpointOptions, LabelId, Topology, VertexId};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("friends");
/// let [anna, ben] = [0, 1].map(VertexId::new);
/// let csr = Csr::from_edges(2, Topology::Directed, &[(anna, ben)], BuildOptions::default())?;
/// let key = |id: VertexId| Key::from(["anna", "ben"][id.index()]);
/// let state = FirstState {
///     graph: &csr,
///     label: LabelId::DEFAULT,
///     key: &key,
///     records: None,
///     properties: None,
///     input: None,
/// };
/// let options = GraphOptions::new().keys(KeyKind::String).label::<()>("knows");
/// store::create_from(&path, &options, &state, &CheckpointOptions::new())?;
///
/// let graph = Graph::open(&path)?;
/// assert!(graph.contains_edge(graph.label::<()>("knows")?, "anna", "ben")?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Exists`](crate::ErrorKind::Exists) if there is a store;
/// [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if there is no such label, or its
/// values are of another type;
/// [`ErrorKind::Storage`](crate::ErrorKind::Storage) if a file could not be written or the graph
/// contradicts itself, [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled): then there is no
/// store, or an empty one.
pub fn create_from(
    path: impl AsRef<Path>,
    options: &GraphOptions,
    state: &FirstState<'_>,
    checkpoint: &CheckpointOptions,
) -> Result<CheckpointReport, Error> {
    create_from_on(Arc::new(RealFiles::new(path.as_ref())), options, state, checkpoint)
}

/// [`create_from`] in any directory. For tests.
#[doc(hidden)]
pub fn create_from_on(
    files: Arc<dyn FileSystem>,
    options: &GraphOptions,
    state: &FirstState<'_>,
    checkpoint: &CheckpointOptions,
) -> Result<CheckpointReport, Error> {
    if !matches!(options.access, Access::Write) {
        return Err(Cause::ReadOnly.into());
    }
    // Fails before anything is made on disk, if an option is wrong or the engine is not compiled.
    open::empty(&files, options)?;
    let made_with = options.of_new_store()?;
    let (topology, schema) = (made_with.topology, state.schema(&made_with.catalog)?);
    let pool = match options.settings().threads {
        _ if options.is_simulated => None,
        Some(1) => None,
        // Without threads it is written, too, only slower.
        threads => ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build().ok(),
    };
    let owns_files = options.engine_or_default().owns_files();
    let has_ends = match topology {
        Topology::Directed => true,
        Topology::Undirected => state.graph.topology().is_undirected(),
        Topology::DirectedWithReverse => false,
    };
    let turned = (owns_files && !has_ends).then(|| state.turned(pool.as_ref())).transpose()?;
    let other_ends = turned.as_ref().filter(|_| topology.is_undirected());
    let source = FirstSource::new(state, (state.graph, other_ends), &schema, topology);
    let edges = match source.is_parallel {
        true => source.pairs(),
        false => state.graph.edge_count(LabelId::DEFAULT).at_most(),
    };
    let counts = state.counts(edges, made_with.catalog.labels().len());
    let mut store = [1; 16];
    if !options.is_simulated {
        getrandom::fill(&mut store).map_err(Reason::Random)?;
    }
    let description = Description {
        store,
        timestamp: CommitTimestamp::ZERO.next(),
        wall_clock: options.clock.wall(),
        topology,
        keys: made_with.keys,
        catalog: made_with.catalog.clone(),
        counts,
        input: state.input.map(Box::from),
    };
    let (number, bytes) = checkpoint.with(pool.as_ref(), &|| 1.0, |write| {
        if !owns_files {
            let mut store = StoreFiles::create(files, made_with, store)?;
            let written = store.begin_with(&description, &source, write).map_err(Cause::from)?;
            return Ok::<_, Error>((written.number, written.length));
        }
        let Description { timestamp, wall_clock, ref counts, .. } = description;
        let turned = turned.as_ref().filter(|_| !topology.is_undirected());
        let incoming = turned.map(|turned| FirstSource::new(state, (turned, None), &schema, topology));
        let edges = (state.label, &source, incoming.as_ref());
        let created =
            StoreFiles::create_with(Arc::clone(&files), made_with, store, (timestamp, wall_clock), || {
                let counts = || source.with_parallel_edges(counts);
                TypedStore::begin_files(options, &files, edges, (&description, write), counts)
            });
        match created {
            // The files of the engine are no checkpoint, which has a number and a length.
            Ok(_) => Ok((0, 0)),
            Err(error)
                if error.kind() == ErrorKind::Storage
                    && write.is_cancelled.is_some_and(|is_cancelled| is_cancelled()) =>
            {
                Err(Cause::from(CheckpointError::Cancelled).into())
            }
            Err(error) => Err(error),
        }
    })?;
    let edges = match source.is_parallel {
        true => source.parallel_edges.into_inner().into(),
        false => description.counts.total_edges(),
    };
    let (timestamp, vertices) = (description.timestamp, description.counts.vertices);
    Ok(CheckpointReport { number, timestamp, written: true, bytes, vertices, edges, pruned: 0 })
}

impl FirstState<'_> {
    /// The schema of the label. Fails unless the label exists, and has values or records like those
    /// given.
    fn schema(&self, catalog: &Catalog) -> Result<EdgeSchema, ViewError> {
        let label = self.label;
        let edges = &catalog.label(label).ok_or(ViewError::UnknownLabel(label))?.edges;
        let (declared, found) = (edges.column(), self.graph.column());
        let asked = match (self.records, found) {
            (Some(_), ColumnType::U64) => ColumnType::Record,
            _ => found,
        };
        match declared == asked {
            true => Ok(edges.clone()),
            false => Err(ViewError::WrongColumn { label, declared, asked }),
        }
    }

    /// The edges from their other ends.
    fn turned(&self, pool: Option<&ThreadPool>) -> Result<Csr, CsrError> {
        let (graph, build) = (self.graph, BuildOptions { pool, ..BuildOptions::default() });
        with_width!(graph.column(), W => Csr::transposed::<_, W>(graph, LabelId::DEFAULT, build))
    }

    /// The size of the graph with this number of edges, or of pairs that parallel ones connect, and
    /// with `labels` labels.
    fn counts(&self, edges: u64, labels: usize) -> Counts {
        let count_of = |label: usize| if label == self.label.index() { edges } else { 0 };
        let (vertex_bound, vertices) = (self.graph.vertex_bound(), self.graph.vertex_count());
        Counts { vertex_bound, vertices, edges: (0..labels).map(count_of).collect(), beside: None }
    }
}
