//! Whole graphs from files, as static graphs: no writable engine, no versions, no locks.

mod numbering;

use crate::{Batch, Edge, VertexKey};
use hedgerow_kernels::csr::{BuildOptions, Csr, CsrBuilder, CsrError};
use hedgerow_model::{
    CapacityError, Column, GraphView, Key, KeyKind, KeyRef, Topology, VertexId, VertexIdError,
};
use numbering::Numbering;
use std::marker::PhantomData;
use std::sync::Arc;

/// A static graph whose vertices have keys. Ids are in the order in which the keys first came;
/// those of dense keys are the keys.
#[derive(Debug)]
pub struct StaticGraph {
    csr: Arc<Csr>,
    numbering: Numbering,
}

/// Builds a [`StaticGraph`] from batches of a file.
///
/// ```
/// use hedgerow_formats::{Batch, GraphReader, ReadOptions, StaticGraphBuilder, StaticGraphError};
/// use hedgerow_kernels::csr::BuildOptions;
/// use hedgerow_model::{AsKey, GraphView, KeyKind, LabelId, Topology};
///
/// let mut reader = GraphReader::from_reader("edges", &b"7 9\n9 5\n"[..], ReadOptions::default())?;
/// let mut builder = StaticGraphBuilder::<u64, ()>::new(Topology::Directed, KeyKind::Number);
/// let mut batch = Batch::new();
/// while reader.read_batch(&mut batch)? {
///     builder.add(&batch, |_| Ok::<_, StaticGraphError>(()))?;
/// }
/// let graph = builder.finish(BuildOptions::default())?;
/// assert_eq!(graph.csr().edge_count(LabelId::DEFAULT).exact(), Some(2));
/// assert_eq!(graph.vertex_id(5.as_key()).map(|id| id.get()), Some(2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct StaticGraphBuilder<K, W> {
    numbering: Numbering,
    edges: CsrBuilder<W>,
    /// The edges of a batch, for reuse.
    batch: Vec<(VertexId, VertexId, W)>,
    /// Bytes that the graph may take while it is loaded; `None` for any number.
    limit: Option<usize>,
    keys: PhantomData<fn(K)>,
}

/// A graph that cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum StaticGraphError {
    /// A dense key is no vertex id.
    #[error(transparent)]
    VertexId(#[from] VertexIdError),
    /// There are too many vertices, or the memory limit is exceeded.
    #[error(transparent)]
    Capacity(#[from] CapacityError),
    /// The graph cannot be built.
    #[error(transparent)]
    Csr(#[from] CsrError),
}

impl<K: VertexKey, W: Column> StaticGraphBuilder<K, W> {
    /// A builder of a graph without vertices, whose keys are numbered, unless they are `u64` and
    /// are to be [dense](KeyKind::Dense): ids themselves.
    #[must_use]
    pub fn new(topology: Topology, keys: KeyKind) -> Self {
        let kind = if K::KIND == KeyKind::Number { keys } else { K::KIND };
        let (numbering, edges) = (Numbering::new(kind), CsrBuilder::new(topology));
        StaticGraphBuilder { numbering, edges, batch: Vec::new(), limit: None, keys: PhantomData }
    }

    /// Limits the bytes of keys and edges until the graph is finished; then
    /// [`BuildOptions::memory`] does.
    #[must_use]
    pub fn with_limit(self, limit: Option<usize>) -> Self {
        StaticGraphBuilder { limit, ..self }
    }

    /// Adds the vertices of a batch, then its edges with the values that `value_of` returns. Of
    /// several values for one edge the last one wins. Expected O(batch).
    ///
    /// # Errors
    /// The error of `value_of`; or a dense key is no vertex id, there are more vertices than ids, or
    /// the limit is exceeded.
    pub fn add<E: From<StaticGraphError>>(
        &mut self,
        batch: &Batch<K>,
        value_of: impl Fn(&Edge<K>) -> Result<W, E>,
    ) -> Result<(), E> {
        let held = self.bytes();
        for vertex in &batch.vertices {
            self.numbering.id_of(vertex.as_key())?;
        }
        self.batch.clear();
        self.batch.reserve(batch.edges.len());
        for edge in &batch.edges {
            let source = self.numbering.id_of(edge.source.as_key())?;
            let destination = self.numbering.id_of(edge.destination.as_key())?;
            self.batch.push((source, destination, value_of(edge)?));
        }
        self.edges.add(&self.batch);
        let (bytes, limit) = (self.bytes(), self.limit.unwrap_or(usize::MAX));
        if bytes > limit {
            let exceeded = CapacityError::Memory { needed: bytes - held, held, limit };
            return Err(StaticGraphError::from(exceeded).into());
        }
        Ok(())
    }

    /// Bytes of keys and edges so far.
    fn bytes(&self) -> usize {
        self.numbering.bytes() + self.edges.bytes() as usize
    }

    /// Builds the graph. O(vertices + edges), plus sorting the rows.
    ///
    /// # Errors
    /// The graph does not fit into memory, or the build was canceled.
    pub fn finish(self, options: BuildOptions<'_>) -> Result<StaticGraph, StaticGraphError> {
        let StaticGraphBuilder { numbering, edges, .. } = self;
        let bound = numbering.bound();
        // Dense keys may be so sparse that nearly all memory would be spent on the gaps.
        options.memory.check(0, bound, numbering.count()).map_err(CsrError::from)?;
        let csr = edges.finish(bound, options)?;
        let csr =
            if numbering.count() < u64::from(bound) { csr.without_vertices(numbering.gaps())? } else { csr };
        Ok(StaticGraph { csr: Arc::new(csr), numbering })
    }
}

impl StaticGraph {
    /// The graph by vertex ids. Its label is [`LabelId::DEFAULT`](hedgerow_model::LabelId::DEFAULT).
    #[must_use]
    pub fn csr(&self) -> &Arc<Csr> {
        &self.csr
    }

    /// The vertex with a key. Expected O(1).
    #[must_use]
    pub fn vertex_id(&self, key: KeyRef<'_>) -> Option<VertexId> {
        self.numbering.find(key)
    }

    /// The key of a vertex; `None` if there is none with this id. O(1).
    #[must_use]
    pub fn key(&self, vertex: VertexId) -> Option<Key> {
        let exists = self.csr.contains_vertex(vertex);
        exists.is_ok_and(|exists| exists).then(|| self.numbering.key(vertex))
    }
}
