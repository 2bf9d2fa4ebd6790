//! Edges as they are committed, with or without their weights.

use hedgerow::{AsKey, EdgeTuple, Error, Graph, LabelId, WriteGraph};
use hedgerow_formats::{Edge, VertexKey};

/// An edge of a label without values, or with weights.
pub trait StreamEdge: EdgeTuple<Data: Copy> + Send + Sync + 'static {
    /// The keys of its ends.
    type Key: VertexKey;

    /// An edge of a stream; one that is deleted may lack the weight.
    fn of(edge: Edge<Self::Key>) -> Self;
}

impl<K: VertexKey + AsKey + Send + Sync + 'static> StreamEdge for (K, K) {
    type Key = K;

    fn of(edge: Edge<K>) -> Self {
        (edge.source, edge.destination)
    }
}

impl<K: VertexKey + AsKey + Send + Sync + 'static> StreamEdge for (K, K, f64) {
    type Key = K;

    fn of(edge: Edge<K>) -> Self {
        (edge.source, edge.destination, edge.weight.unwrap_or_default())
    }
}

/// Puts the edges, and deletes those at the ascending positions `deletions`, in their order and as
/// one commit, with the position of the stream after them.
pub fn commit<E: StreamEdge>(
    graph: &Graph,
    label: LabelId,
    edges: &[E],
    deletions: &[usize],
    position: &[u8],
) -> Result<(), Error> {
    if deletions.is_empty() {
        return graph.ingest_from(label, edges, position).map(drop);
    }
    let transaction = graph.begin()?;
    let mut deletions = deletions.iter().peekable();
    for (number, edge) in edges.iter().enumerate() {
        match deletions.next_if_eq(&&number) {
            Some(_) => transaction.delete_edge(label, edge.source(), edge.destination())?,
            None => transaction.put_edge_with(label, edge.source(), edge.destination(), *edge.data())?,
        }
    }
    transaction.note_input(position);
    transaction.commit().map(drop)
}
