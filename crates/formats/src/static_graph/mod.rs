//! Whole graphs from files, as static graphs: no writable engine, no versions, no locks.

mod error;
mod numbering;
mod serialized;

pub use error::StaticGraphError;
pub(crate) use numbering::{IdPair, Numbering};

use crate::{Batch, VertexKey};
use hedgerow_kernels::csr::{BuildOptions, Csr, CsrBuilder};
use hedgerow_model::scatter::OWNERS_OF_PART;
use hedgerow_model::{ColumnType, GraphView, Key, KeyKind, KeyRef, Topology, VertexId};
use rayon::ThreadPool;
use std::marker::PhantomData;
use std::sync::Arc;

/// A static graph whose vertices have keys. Ids are in the order in which the keys first came, or
/// in the [order of the keys](StaticGraphBuilder::in_key_order); those of dense keys are the keys.
#[derive(Debug)]
pub struct StaticGraph {
    csr: Arc<Csr>,
    numbering: Numbering,
}

/// Builds a [`StaticGraph`] from batches of a file.
///
/// ```
/// use hedgerow_formats::{GraphReader, ReadOptions, StaticGraphBuilder};
/// use hedgerow_kernels::csr::BuildOptions;
/// use hedgerow_model::{AsKey, GraphView, KeyKind, LabelId, Topology};
///
/// let mut reader = GraphReader::from_reader("edges", &b"7 9\n9 5\n"[..], ReadOptions::default())?;
/// let mut builder = StaticGraphBuilder::<u64>::new(Topology::Directed, KeyKind::Number);
/// let mut pieces = Vec::new();
/// while reader.read_pieces_on(None, &mut pieces)? {
///     pieces.iter().try_for_each(|piece| builder.add(piece))?;
/// }
/// let graph = builder.finish(BuildOptions::default())?;
/// assert_eq!(graph.csr().edge_count(LabelId::DEFAULT).exact(), Some(2));
/// assert_eq!(graph.vertex_id(5.as_key()).map(|id| id.get()), Some(2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct StaticGraphBuilder<'p, K> {
    graph: UnfinishedGraph<'p>,
    keys: PhantomData<fn(K)>,
}

/// The fewest edges that are added to the graph at a time, in all and for each part of the ids.
const EDGES_AT_A_TIME: usize = if cfg!(test) { 2 } else { 1 << 19 };
const EDGES_PER_PART: usize = 16;

/// The bits of the weight of an edge that comes without one.
const UNIT_WEIGHT: u64 = 1f64.to_bits();

/// A graph by vertex ids, whatever the keys: compiled here, with the optimizations of this crate.
#[derive(Debug)]
struct UnfinishedGraph<'p> {
    numbering: Numbering,
    edges: UnfinishedEdges<'p>,
    /// Edges that are not in `edges` yet, and the values of the first of them, as bits: the others
    /// have the weight 1.
    ends: Vec<IdPair>,
    values: Vec<u64>,
    /// Edges and their values that wait until ids are in the order of keys, if they are to be.
    waiting: Option<Vec<(Vec<IdPair>, Vec<u64>)>>,
    /// True if each edge is kept once, from its end with the lesser id.
    is_once: bool,
    /// Bytes that keys and edges may take until the graph is finished.
    limit: usize,
}

#[derive(Debug)]
enum UnfinishedEdges<'p> {
    Plain(CsrBuilder<'p, ()>),
    /// Edges with the bits of their values, which are of this type.
    Valued(CsrBuilder<'p, u64>, ColumnType),
}

impl<'p, K: VertexKey> StaticGraphBuilder<'p, K> {
    /// A builder of a graph without vertices, whose keys are numbered, unless they are `u64` and
    /// are to be [dense](KeyKind::Dense): ids themselves.
    #[must_use]
    pub fn new(topology: Topology, keys: KeyKind) -> Self {
        Self::with(UnfinishedEdges::Plain(CsrBuilder::new(topology)), keys)
    }

    /// Like [`new`](Self::new); each edge has a value of type `column`, such as a weight, or the
    /// place of its record.
    ///
    /// # Panics
    /// Values of this type take no bytes: not before the graph is finished.
    #[must_use]
    pub fn valued(topology: Topology, keys: KeyKind, column: ColumnType) -> Self {
        Self::with(UnfinishedEdges::Valued(CsrBuilder::new(topology), column), keys)
    }

    fn with(edges: UnfinishedEdges<'p>, keys: KeyKind) -> Self {
        let kind = if K::KIND == KeyKind::Number { keys } else { K::KIND };
        let numbering = Numbering::new(kind);
        let (ends, values) = (Vec::new(), Vec::new());
        let (is_once, limit) = (false, usize::MAX);
        let graph = UnfinishedGraph { numbering, edges, ends, values, waiting: None, is_once, limit };
        StaticGraphBuilder { graph, keys: PhantomData }
    }

    /// Keeps all edges between two vertices, as neighbors repeated in their order.
    #[must_use]
    pub fn with_duplicates(mut self) -> Self {
        self.graph.edges = match self.graph.edges {
            UnfinishedEdges::Plain(edges) => UnfinishedEdges::Plain(edges.with_duplicates()),
            UnfinishedEdges::Valued(edges, column) => {
                UnfinishedEdges::Valued(edges.with_duplicates(), column)
            }
        };
        self
    }

    /// Gives the edges weights, before any edge is added.
    ///
    /// # Panics
    /// Edges were added.
    pub(crate) fn give_weights(&mut self) {
        let none = UnfinishedEdges::Plain(CsrBuilder::new(Topology::Directed));
        self.graph.edges = match std::mem::replace(&mut self.graph.edges, none) {
            UnfinishedEdges::Plain(edges) if self.graph.ends.is_empty() => {
                UnfinishedEdges::Valued(edges.with_values(), ColumnType::F64)
            }
            _ => panic!("edges with other values"),
        };
    }

    /// Takes keys, which are numbers, as ids, and all ids below the last one as vertices.
    pub(crate) fn with_all_ids(mut self) -> Self {
        self.graph.numbering = Numbering::Ids(0);
        self
    }

    /// Numbers the vertices in the order of their keys. Edges wait for that, in 8 bytes each and
    /// those of a value.
    #[must_use]
    pub fn in_key_order(mut self) -> Self {
        self.graph.waiting = Some(Vec::new());
        self
    }

    /// Keeps each edge once, from its end with the lesser id, whichever end it comes from: the half
    /// of an undirected graph, as a directed one.
    #[must_use]
    pub fn from_lesser_ends(mut self) -> Self {
        self.graph.is_once = true;
        self
    }

    /// Lets threads of a pool take a part of the work on added edges.
    #[must_use]
    pub fn on(mut self, pool: Option<&'p ThreadPool>) -> Self {
        self.graph.edges = match self.graph.edges {
            UnfinishedEdges::Plain(edges) => UnfinishedEdges::Plain(edges.on(pool)),
            UnfinishedEdges::Valued(edges, column) => UnfinishedEdges::Valued(edges.on(pool), column),
        };
        self
    }

    /// Limits the bytes of keys and edges, while the graph is loaded and when it is finished.
    #[must_use]
    pub fn with_limit(mut self, limit: Option<usize>) -> Self {
        self.graph.limit = limit.unwrap_or(usize::MAX);
        self
    }

    /// Adds the vertices of a batch, then its edges, whose values are 1 if they are of type `f64`.
    /// Expected O(batch).
    ///
    /// # Errors
    /// A dense key is no vertex id, there are more vertices than ids, or the limit is exceeded.
    ///
    /// # Panics
    /// The edges have values of another type, and the batch has edges: now, or when the graph is
    /// finished.
    pub fn add(&mut self, batch: &Batch<K>) -> Result<(), StaticGraphError> {
        self.assign_ids(batch)?;
        self.graph.hand_over_many()
    }

    /// Like [`add`](Self::add), with a weight for each edge. Of several weights of one edge the
    /// last one counts.
    ///
    /// # Errors
    /// See [`add`](Self::add).
    ///
    /// # Panics
    /// The numbers of edges and weights differ.
    pub fn add_weighted(&mut self, batch: &Batch<K>, weights: &[f64]) -> Result<(), StaticGraphError> {
        self.add_valued(batch, bytemuck::cast_slice(weights))
    }

    /// Like [`add_weighted`](Self::add_weighted), with the bits of a value for each edge.
    ///
    /// # Errors
    /// See [`add`](Self::add).
    ///
    /// # Panics
    /// The numbers of edges and values differ.
    pub fn add_valued(&mut self, batch: &Batch<K>, values: &[u64]) -> Result<(), StaticGraphError> {
        assert_eq!(batch.edges.len(), values.len(), "a value for each edge");
        // Edges without a weight have come before.
        self.graph.values.resize(self.graph.ends.len(), UNIT_WEIGHT);
        self.assign_ids(batch)?;
        self.graph.values.extend_from_slice(values);
        self.graph.hand_over_many()
    }

    /// A bound above the ids of all vertices so far. O(1).
    pub(crate) fn vertex_bound(&self) -> u32 {
        self.graph.numbering.bound()
    }

    /// The id of a vertex that was added. Expected O(1).
    #[must_use]
    pub fn vertex_id(&self, key: KeyRef<'_>) -> Option<VertexId> {
        self.graph.numbering.find(key)
    }

    fn assign_ids(&mut self, batch: &Batch<K>) -> Result<(), StaticGraphError> {
        let UnfinishedGraph { numbering, ends, .. } = &mut self.graph;
        K::assign_ids(batch, numbering, ends)
    }

    /// Builds the graph. O(vertices + edges), plus sorting the rows.
    ///
    /// # Errors
    /// The limit is exceeded, the graph does not fit into memory, or the build was canceled.
    pub fn finish(self, options: BuildOptions<'_>) -> Result<StaticGraph, StaticGraphError> {
        self.graph.finish(options)
    }
}

impl UnfinishedGraph<'_> {
    /// Hands over the edges of `ends` if they are many.
    fn hand_over_many(&mut self) -> Result<(), StaticGraphError> {
        let parts = self.numbering.bound() as usize / OWNERS_OF_PART;
        if self.ends.len() >= EDGES_AT_A_TIME.max(parts * EDGES_PER_PART) {
            self.hand_over();
        }
        let edges = match &self.edges {
            UnfinishedEdges::Plain(edges) => edges.bytes(),
            UnfinishedEdges::Valued(edges, _) => edges.bytes(),
        };
        let size = |(ends, values): &(Vec<IdPair>, Vec<u64>)| size_of_val(&**ends) + size_of_val(&**values);
        let waiting: usize = self.waiting.iter().flatten().map(size).sum();
        self.check_limit(edges as usize + waiting + size_of_val(&*self.ends))
    }

    fn hand_over(&mut self) {
        let (ends, values) = (std::mem::take(&mut self.ends), std::mem::take(&mut self.values));
        match &mut self.waiting {
            Some(waiting) => waiting.push((ends, values)),
            None => self.ends = self.add(ends, values),
        }
    }

    /// Hands over the edges that wait until ids are in the order of keys.
    fn hand_over_waiting(&mut self) {
        let Some(waiting) = self.waiting.take() else { return };
        let ids = self.numbering.sort();
        for (mut ends, values) in waiting {
            if let Some(ids) = &ids {
                let renumbered = |(one, other): IdPair| (ids[one.index()], ids[other.index()]);
                ends.iter_mut().for_each(|ends| *ends = renumbered(*ends));
            }
            self.add(ends, values);
        }
    }

    /// Adds edges to the graph; returns their memory, or that of former ones.
    fn add(&mut self, mut ends: Vec<IdPair>, mut values: Vec<u64>) -> Vec<IdPair> {
        if self.is_once {
            let ordered = |(one, other): IdPair| (one.min(other), one.max(other));
            ends.iter_mut().for_each(|ends| *ends = ordered(*ends));
        }
        match &mut self.edges {
            UnfinishedEdges::Plain(edges) => {
                let units = vec![(); ends.len()];
                edges.add(ends, units)
            }
            UnfinishedEdges::Valued(edges, column) => {
                if *column == ColumnType::F64 {
                    values.resize(ends.len(), UNIT_WEIGHT);
                }
                edges.add(ends, values)
            }
        }
    }

    /// Checks that keys and edges, which take this many bytes, are within the limit.
    fn check_limit(&self, edges: usize) -> Result<(), StaticGraphError> {
        let (needed, limit) = (self.numbering.bytes() + edges, self.limit);
        if needed <= limit { Ok(()) } else { Err(StaticGraphError::MemoryLimit { needed, limit }) }
    }

    fn finish(mut self, options: BuildOptions<'_>) -> Result<StaticGraph, StaticGraphError> {
        self.hand_over();
        self.hand_over_waiting();
        let bound = self.numbering.bound();
        self.check_limit(match &self.edges {
            UnfinishedEdges::Plain(edges) => edges.finished_bytes(bound),
            UnfinishedEdges::Valued(edges, _) => edges.finished_bytes(bound),
        } as usize)?;
        let UnfinishedGraph { numbering, edges, .. } = self;
        let csr = match edges {
            UnfinishedEdges::Plain(edges) => edges.finish(bound, numbering.count(), options)?,
            UnfinishedEdges::Valued(edges, column) => {
                edges.finish(bound, numbering.count(), options)?.with_bits_of(column)
            }
        };
        let csr = match numbering.count() < u64::from(bound) {
            true => csr.without_vertices(numbering.gaps())?,
            false => csr,
        };
        Ok(StaticGraph { csr: Arc::new(csr), numbering })
    }
}

impl StaticGraph {
    /// The graph by vertex ids, with the label
    /// [`LabelId::DEFAULT`](hedgerow_model::LabelId::DEFAULT).
    #[must_use]
    pub fn csr(&self) -> &Arc<Csr> {
        &self.csr
    }

    /// The vertex with a key. Expected O(1).
    #[must_use]
    pub fn vertex_id(&self, key: KeyRef<'_>) -> Option<VertexId> {
        self.numbering.find(key)
    }

    /// The key of a vertex that exists. O(1).
    pub(crate) fn key_of(&self, vertex: VertexId) -> KeyRef<'_> {
        self.numbering.key(vertex)
    }

    /// The key of a vertex; `None` if there is none with this id. O(1).
    #[must_use]
    pub fn key(&self, vertex: VertexId) -> Option<Key> {
        let exists = self.csr.contains_vertex(vertex);
        exists.is_ok_and(|exists| exists).then(|| self.key_of(vertex).to_key())
    }
}
