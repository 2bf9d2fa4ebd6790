//! An edge of a label that allows several edges between two vertices.

use hedgerow_model::Key;

/// An edge of a vertex over a label whose edges may be parallel.
///
/// ```
/// use hedgerow::prelude::*;
///
/// #[derive(Properties, Debug, PartialEq)]
/// struct Payment {
///     amount: f64,
/// }
///
/// let graph = Graph::in_memory(GraphOptions::new().parallel_label::<Payment>("pays", "number"))?;
/// let pays = graph.label::<Payment>("pays")?;
/// for (number, to, amount) in [(1001, 2, 9.5), (1002, 2, 20.0), (1003, 3, 4.0)] {
///     graph.put_parallel_edge(pays, 1, to, number, Payment { amount })?;
/// }
/// let snapshot = graph.snapshot()?;
/// let to_two = snapshot.parallel_edges(pays, 1, 2, ..)?;
/// assert_eq!(to_two, [(1001, Payment { amount: 9.5 }), (1002, Payment { amount: 20.0 })]);
/// let later = snapshot.parallel_neighbors(pays, 1, 1002..)?;
/// let later: Vec<_> = later.into_iter().map(|edge| (edge.neighbor, edge.number)).collect();
/// assert_eq!(later, [(2.into(), 1002), (3.into(), 1003)]);
/// assert_eq!((snapshot.degree(pays, 1)?, snapshot.parallel_degree(pays, 1)?), (2, 3));
/// # Ok::<(), hedgerow::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ParallelEdge<T = crate::Record> {
    /// The vertex at the other end.
    pub neighbor: Key,
    /// The number of the edge: unique among the edges between the two vertices.
    pub number: u64,
    /// The data of the edge.
    pub data: T,
}
