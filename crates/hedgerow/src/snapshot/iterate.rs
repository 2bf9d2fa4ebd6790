//! Iterators over the vertices and edges of a snapshot.

use crate::data::{EdgeData, Names, Owner};
use crate::error::Error;
use crate::label::{Hop, Label};
use crate::reads::State;
use crate::snapshot::Snapshot;
use hedgerow_model::{AsKey, Key, LabelId, VertexId};
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use std::ops::{ControlFlow, Range};
use std::vec;

/// The number of vertex ids that are read at a time.
const STEP: u32 = 256;

/// An edge with its ends and its data.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Edge<T = ()> {
    /// The source; of an undirected edge, the vertex with the lower vertex id.
    pub source: Key,
    /// The destination.
    pub destination: Key,
    /// The data of the edge.
    pub data: T,
}

/// The vertices of a snapshot: see [`Snapshot::vertices`].
#[derive(Debug)]
pub struct Vertices {
    snapshot: Snapshot,
    steps: Steps<(VertexId, Key)>,
}

/// The edges of a snapshot: see [`Snapshot::all_edges`].
#[derive(Debug)]
pub struct Edges<T> {
    snapshot: Snapshot,
    label: LabelId,
    steps: Steps<Edge<T>>,
}

/// The items that were read from ids below `next`.
#[derive(Debug)]
struct Steps<T> {
    read: vec::IntoIter<T>,
    next: u32,
    end: u32,
}

impl<T> Steps<T> {
    fn new(end: u32) -> Self {
        Steps { read: Vec::new().into_iter(), next: 0, end }
    }

    /// Returns the next item; reads ahead if none is left, and ends after an error.
    fn next(&mut self, read: impl Fn(Range<u32>) -> Result<Vec<T>, Error>) -> Option<Result<T, Error>> {
        loop {
            if let Some(item) = self.read.next() {
                return Some(Ok(item));
            }
            if self.next == self.end {
                return None;
            }
            let range = self.next..self.end.min(self.next.saturating_add(STEP));
            self.next = range.end;
            match read(range) {
                Ok(items) => self.read = items.into_iter(),
                Err(error) => {
                    self.next = self.end;
                    return Some(Err(error));
                }
            }
        }
    }
}

impl Iterator for Vertices {
    type Item = Result<(VertexId, Key), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let snapshot = &self.snapshot;
        self.steps.next(|range| {
            let mut vertices = Vec::new();
            let scanned = snapshot.scan_vertices(range, |vertex, key| {
                vertices.push((vertex, key));
                ControlFlow::<()>::Continue(())
            });
            scanned.map(|_| vertices)
        })
    }
}

impl<T: EdgeData> Iterator for Edges<T> {
    type Item = Result<Edge<T>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let (snapshot, label) = (&self.snapshot, self.label);
        self.steps.next(|range| edges_in(snapshot, label, range))
    }
}

impl Snapshot {
    /// Returns the vertices with their ids, by which kernels know them, and their keys, in the
    /// order in which they were made: ascending by id. [`Snapshot::for_each_vertex`] visits the
    /// same.
    ///
    /// ```
    /// use hedgerow::prelude::*;
    ///
    /// let graph = Graph::in_memory(GraphOptions::new().label::<()>("knows"))?;
    /// graph.ingest(graph.label::<()>("knows")?, &[(3, 1), (1, 2)])?;
    /// let snapshot = graph.snapshot()?;
    /// let mut keys = Vec::new();
    /// for vertex in snapshot.vertices() {
    ///     let (id, key) = vertex?;
    ///     assert_eq!(snapshot.vertex_id(&key)?, Some(id));
    ///     keys.push(key);
    /// }
    /// keys.sort();
    /// assert_eq!(keys, [1, 2, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn vertices(&self) -> Vertices {
        Vertices { snapshot: self.clone(), steps: Steps::new(self.vertex_bound()) }
    }

    /// Returns the edges of a label with their data, by source in the order of
    /// [`Snapshot::vertices`]. An undirected edge is returned once. Parallel edges are returned one
    /// by one with a record, and only once with `T = ()`.
    ///
    /// Reads the edges of a few hundred vertices at a time. A [kernel](Snapshot::run) sees vertex
    /// ids instead of keys, and is several times as fast.
    ///
    /// ```
    /// use hedgerow::prelude::*;
    ///
    /// let graph = Graph::in_memory(GraphOptions::new().label::<f64>("rates"))?;
    /// let rates = graph.label::<f64>("rates")?;
    /// graph.ingest(rates, &[(1, 10, 4.0), (2, 10, 2.0), (2, 11, 5.0)])?;
    /// let mut sum = 0.0;
    /// for edge in graph.snapshot()?.all_edges(rates)? {
    ///     sum += edge?.data;
    /// }
    /// assert_eq!(sum, 11.0);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// There is no such label, or its edges carry data of another type. The iterator returns an
    /// error and ends if the engine keeps edges in files and cannot read them.
    pub fn all_edges<T: EdgeData>(&self, label: impl Into<Label<T>>) -> Result<Edges<T>, Error> {
        let label = label.into().id();
        T::check(self.typed()?.label_schema(label)?)?;
        Ok(Edges { snapshot: self.clone(), label, steps: Steps::new(self.vertex_bound()) })
    }

    /// Returns the edges of a label with their data, read by all threads of the current thread
    /// pool, in any order: [`Snapshot::all_edges`] in parallel.
    ///
    /// ```
    /// use hedgerow::prelude::*;
    /// use rayon::prelude::*;
    ///
    /// let graph = Graph::in_memory(GraphOptions::new().label::<f64>("rates"))?;
    /// let rates = graph.label::<f64>("rates")?;
    /// graph.ingest(rates, &[(1, 10, 4.0), (2, 10, 2.0), (2, 11, 5.0)])?;
    /// let good = graph.snapshot()?.par_edges(rates)?.filter(|edge| edge.as_ref().is_ok_and(|edge| edge.data > 3.0));
    /// assert_eq!(good.count(), 2);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Snapshot::all_edges`].
    pub fn par_edges<T: EdgeData + Send, L: Into<Label<T>>>(
        &self,
        label: L,
    ) -> Result<impl ParallelIterator<Item = Result<Edge<T>, Error>> + use<T, L>, Error> {
        let label = label.into().id();
        T::check(self.typed()?.label_schema(label)?)?;
        let (snapshot, end) = (self.clone(), self.vertex_bound());
        let steps = (0..end.div_ceil(STEP)).into_par_iter();
        Ok(steps.flat_map_iter(move |step| {
            let first = step * STEP;
            match edges_in(&snapshot, label, first..end.min(first.saturating_add(STEP))) {
                Ok(edges) => edges.into_iter().map(Ok).collect::<Vec<_>>(),
                Err(error) => vec![Err(error)],
            }
        }))
    }

    /// Visits the neighbors of a vertex, in the order of
    /// [`ReadGraph::neighbors`](crate::ReadGraph::neighbors), until `visit` breaks: O(visited), or
    /// O(degree) on engines that keep neighbors in another order.
    ///
    /// # Errors
    /// As [`ReadGraph::neighbors`](crate::ReadGraph::neighbors).
    pub fn visit_neighbors<B>(
        &self,
        hop: impl Into<Hop>,
        key: impl AsKey,
        mut visit: impl FnMut(Key) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, Error> {
        let (hop, key) = (hop.into(), key.as_key());
        let typed = self.typed()?;
        typed.label_schema(hop.label)?;
        typed.check_direction(hop.direction)?;
        State::of(self).visit_values::<(), B>(hop, key, |neighbor, ()| visit(neighbor))
    }

    /// Pairs values by vertex id, as kernels return them, with the keys of the vertices.
    ///
    /// ```
    /// use hedgerow::kernels::PageRank;
    /// use hedgerow::prelude::*;
    ///
    /// let graph = Graph::in_memory(GraphOptions::new().label::<()>("follows"))?;
    /// let follows = graph.label::<()>("follows")?;
    /// graph.ingest(follows, &[(1, 3), (2, 3)])?;
    /// let snapshot = graph.snapshot()?;
    /// let ranks = snapshot.run(PageRank::default().label(follows))?.ranks;
    /// let ranked = snapshot.with_keys(&ranks)?;
    /// let (first, _) = ranked.iter().max_by(|one, other| one.1.total_cmp(&other.1)).expect("not empty");
    /// assert_eq!(*first, 3);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// The store could not be read.
    pub fn with_keys<T: Clone>(&self, values: &[T]) -> Result<Vec<(Key, T)>, Error> {
        let mut with_keys = Vec::with_capacity(values.len());
        self.for_each_vertex(|vertex, key| {
            with_keys.extend(values.get(vertex.index()).map(|value| (key, value.clone())));
        })?;
        Ok(with_keys)
    }
}

/// Returns the edges of a label whose sources are in a range.
fn edges_in<T: EdgeData>(
    snapshot: &Snapshot,
    label: LabelId,
    range: Range<u32>,
) -> Result<Vec<Edge<T>>, Error> {
    let is_undirected = snapshot.topology().is_undirected();
    let belongs_here = |vertex: VertexId, neighbor: VertexId| !is_undirected || vertex <= neighbor;
    let mut edges = Vec::new();
    if T::IS_RECORD {
        let catalog = snapshot.typed()?.shared_catalog();
        let names = Names { catalog: &catalog, owner: Owner::Edge(label) };
        for vertex in range.map(VertexId::new) {
            snapshot.scan_records(label, vertex, |source, (neighbor, destination), record| {
                if belongs_here(vertex, neighbor) {
                    edges.push(Edge { source, destination, data: T::from_record(record, &names)? });
                }
                Ok(())
            })?;
        }
        return Ok(edges);
    }
    snapshot.scan_values::<T::Column>(label, range, |(vertex, source), (neighbor, destination), value| {
        if belongs_here(vertex, neighbor) {
            edges.push(Edge { source: source.clone(), destination, data: T::from_value(value)? });
        }
        Ok(())
    })?;
    Ok(edges)
}
