//! Shortest paths between two vertices of a snapshot.
//!
//! | file | purpose |
//! |---|---|
//! | `edges` | the edges that a search follows, and their weights |
//! | `search` | one shortest path, by number of edges or by weight |
//! | `several` | several, the shortest first |

mod edges;
mod search;
mod several;

use crate::error::Error;
use crate::snapshot::Snapshot;
use edges::FollowedEdges;
use hedgerow_model::{AsKey, Direction, Key, LabelId};
use hedgerow_pipeline::ViewReads;
use hedgerow_sync::CancelToken;

/// A path: see [`Snapshot::path`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Path {
    /// The vertices from one end to the other, both included.
    pub vertices: Vec<Key>,
    /// The number of edges, or the sum of their weights.
    pub length: f64,
}

/// The paths to search for: see [`Snapshot::paths`].
#[derive(Clone, Copy, Debug)]
pub struct PathOptions<'n> {
    weight: Weight<'n>,
    longest: f64,
    count: usize,
    cancel: Option<&'n CancelToken>,
}

/// The requested weight of an edge.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Weight<'n> {
    One,
    Value,
    Property(&'n str),
}

impl Default for PathOptions<'_> {
    fn default() -> Self {
        PathOptions { weight: Weight::One, longest: f64::INFINITY, count: 1, cancel: None }
    }
}

impl<'n> PathOptions<'n> {
    /// One path with the fewest edges.
    #[must_use]
    pub fn new() -> Self {
        PathOptions::default()
    }

    /// The length of a path is the sum of the values of its edges.
    #[must_use]
    pub fn by_value(self) -> Self {
        PathOptions { weight: Weight::Value, ..self }
    }

    /// The length of a path is the sum of this property of its edges, a number. Edges without it
    /// are not followed; of several parallel edges, the lightest counts.
    #[must_use]
    pub fn by_property(self, name: &'n str) -> Self {
        PathOptions { weight: Weight::Property(name), ..self }
    }

    /// No path is longer than this.
    #[must_use]
    pub fn at_most(self, length: f64) -> Self {
        PathOptions { longest: length, ..self }
    }

    /// Up to this number of paths, the shortest first.
    #[must_use]
    pub fn count(self, count: usize) -> Self {
        PathOptions { count, ..self }
    }

    /// Stops when `token` is raised, with [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled).
    #[must_use]
    pub fn cancelled_by(self, token: &'n CancelToken) -> Self {
        PathOptions { cancel: Some(token), ..self }
    }
}

impl Snapshot {
    /// Returns a path with the fewest edges of a label from one vertex to another; `None` if there
    /// is none, or if a vertex does not exist.
    ///
    /// Searches from both ends if edges can be followed backwards, which visits far fewer vertices
    /// of a large graph: undirected, or [with reverse
    /// adjacency](crate::Topology::DirectedWithReverse). O(vertices + edges) of the part
    /// that is visited, in time and memory.
    ///
    /// ```
    /// use hedgerow::prelude::*;
    ///
    /// let graph = Graph::in_memory(GraphOptions::new().label::<()>("knows"))?;
    /// let knows = graph.label::<()>("knows")?;
    /// graph.ingest(knows, &[(1, 2), (2, 3), (3, 4), (1, 5), (5, 4)])?;
    /// let path = graph.snapshot()?.path(knows, 1, 4)?.expect("they are connected");
    /// assert_eq!((path.vertices, path.length), (vec![1.into(), 5.into(), 4.into()], 2.0));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// There is no such label, a key is of another kind than the graph's, or the store could not be
    /// read.
    pub fn path(
        &self,
        label: impl Into<LabelId>,
        from: impl AsKey,
        to: impl AsKey,
    ) -> Result<Option<Path>, Error> {
        Ok(self.paths(label, from, to, &PathOptions::new())?.pop())
    }

    /// Returns the shortest paths from one vertex to another, the shortest first: by number of
    /// edges, by their values or by a property. No path visits a vertex twice.
    ///
    /// By number of edges as [`Snapshot::path`]; by weight by Dijkstra's algorithm, O(edges log
    /// edges) of the part that is visited. Each further path takes as many searches as the last one
    /// has edges (Yen's algorithm).
    ///
    /// ```
    /// use hedgerow::PathOptions;
    /// use hedgerow::prelude::*;
    ///
    /// let graph = Graph::in_memory(GraphOptions::new().label::<f64>("roads"))?;
    /// let roads = graph.label::<f64>("roads")?;
    /// graph.ingest(roads, &[(1, 2, 1.0), (2, 3, 1.0), (1, 3, 5.0)])?;
    /// let options = PathOptions::new().by_value().count(2);
    /// let paths = graph.snapshot()?.paths(roads, 1, 3, &options)?;
    /// assert_eq!(paths.iter().map(|path| path.length).collect::<Vec<_>>(), [2.0, 5.0]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Snapshot::path`]; or the edges have no such weight, or the weight of a visited edge is
    /// negative, infinite or not a number.
    pub fn paths(
        &self,
        label: impl Into<LabelId>,
        from: impl AsKey,
        to: impl AsKey,
        options: &PathOptions<'_>,
    ) -> Result<Vec<Path>, Error> {
        let (label, from, to) = (label.into(), from.as_key(), to.as_key());
        let typed = self.typed()?;
        typed.check_ends(from, to)?;
        typed.label_schema(label)?;
        let weight = match options.weight {
            Weight::One => None,
            Weight::Value => Some(typed.edge_weight(label, None)?),
            Weight::Property(name) => Some(typed.edge_weight(label, Some(name))?),
        };
        let is_reversible = self.topology().stored(Direction::In).is_some();
        let PathOptions { longest, count, cancel, .. } = *options;
        let view = self.erased_view()?;
        let reads = ViewReads { store: &typed.store, view: &view, staged: self.staged() };
        let (Some(from), Some(to)) = (reads.vertex(from)?, reads.vertex(to)?) else { return Ok(Vec::new()) };
        let edges = FollowedEdges { reads, label, weight, is_reversible, cancel };
        let routes = several::shortest_routes(&edges, (from, to), count, longest)?;
        let path = |route: search::Route| Path {
            length: route.length(),
            vertices: route.vertices.into_iter().map(|vertex| edges.reads.key(vertex)).collect(),
        };
        Ok(routes.into_iter().map(path).collect())
    }
}
