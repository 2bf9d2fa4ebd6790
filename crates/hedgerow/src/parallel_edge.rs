//! One of several edges between two vertices.

use hedgerow_model::{Key, Record};

/// One of the edges of a vertex over a label whose edges may be parallel.
///
/// ```
/// use hedgerow::{Direction, EdgeSchema, EdgeUpdate, Field, Graph, GraphOptions, LabelId, LabelSchema, ParallelSchema, RecordSchema, ValueType};
///
/// let amount = Field { name: "amount".into(), value_type: ValueType::F64, nullable: false };
/// let payments = ParallelSchema { key: "number".into(), record: RecordSchema { fields: vec![amount] } };
/// let pays = LabelSchema { name: "pays".into(), edges: EdgeSchema::Parallel(payments) };
/// let graph = Graph::in_memory(GraphOptions::new().label(pays))?;
///
/// let pays = LabelId::DEFAULT;
/// for (number, to, amount) in [(1001, 2, 9.5), (1002, 2, 20.0), (1003, 3, 4.0)] {
///     graph.update_parallel_edge(pays, 1, to, number, &EdgeUpdate::put().set("amount", amount))?;
/// }
/// let snapshot = graph.snapshot()?;
/// let to_two: Vec<u64> = snapshot.parallel_edges(pays, 1, 2, ..)?.into_iter().map(|(number, _)| number).collect();
/// assert_eq!(to_two, [1001, 1002]);
/// let later = snapshot.parallel_neighbors(pays, Direction::Out, 1, 1002..)?;
/// let later: Vec<_> = later.into_iter().map(|edge| (edge.neighbor, edge.key)).collect();
/// assert_eq!(later, [(2.into(), 1002), (3.into(), 1003)]);
/// assert_eq!((snapshot.degree(pays, Direction::Out, 1)?, snapshot.parallel_degree(pays, Direction::Out, 1)?), (2, 3));
/// # Ok::<(), hedgerow::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ParallelEdge {
    /// The vertex at the other end.
    pub neighbor: Key,
    /// What tells it from the others that lead there.
    pub key: u64,
    /// Its record, in the order of the label's schema.
    pub record: Record,
}
