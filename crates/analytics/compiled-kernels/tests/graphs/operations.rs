//! Tests kernels and static copies as operations of a graph: their errors and their early ends.

use hedgerow::kernels::{Bfs, BuildOptions, CancelToken, Execution, PageRank};
use hedgerow::{
    ColumnType, EdgeSchema, Error, ErrorKind, Graph, GraphOptions, KeyKind, LabelId, LabelSchema, VertexId,
    WriteGraph,
};

#[test]
fn kernels_run_on_an_empty_graph_and_can_be_cancelled() {
    let graph = Graph::in_memory(GraphOptions::new()).unwrap();
    let empty = graph.snapshot().unwrap();
    assert!(empty.run(PageRank::default()).unwrap().ranks.is_empty());
    assert_eq!(refusal(empty.run(Bfs::new(VertexId::new(0)))), ErrorKind::Kernel);
    graph.ingest(LabelId::DEFAULT, &(0..1000u64).map(|edge| (edge, edge + 1)).collect::<Vec<_>>()).unwrap();
    let snapshot = graph.snapshot().unwrap();
    let token = CancelToken::default();
    token.cancel();
    let execution = Execution::default().cancelled_by(&token);
    assert_eq!(refusal(snapshot.run(PageRank { execution, ..PageRank::default() })), ErrorKind::Kernel);
    assert_eq!(snapshot.run(Bfs::new(VertexId::new(0))).unwrap().reached, 1001);
}

/// Two vertices with large ids are no reason to allocate tens of gigabytes.
#[test]
fn memory_by_ids_that_hardly_exist_is_refused() {
    let graph = Graph::in_memory(GraphOptions::new().keys(KeyKind::Dense)).unwrap();
    graph.put_edge(LabelId::DEFAULT, 0, 4_294_967_294_u64).unwrap();
    let snapshot = graph.snapshot().unwrap();
    assert_eq!(refusal(snapshot.run(PageRank::default())), ErrorKind::Kernel);
    assert_eq!(refusal(snapshot.run(Bfs::new(VertexId::new(0)))), ErrorKind::Kernel);
    assert_eq!(refusal(snapshot.to_csr::<()>(LabelId::DEFAULT, BuildOptions::default())), ErrorKind::Kernel);
}

#[test]
fn a_static_copy_is_of_one_label() {
    let pays = LabelSchema { name: "pays".into(), edges: EdgeSchema::Value(ColumnType::F64) };
    let graph = Graph::in_memory(GraphOptions::new().label_schema(pays)).unwrap();
    let pays = graph.catalog().label_id("pays").unwrap();
    graph.put_edge_with(pays, 1, 2, 2.5).unwrap();
    let snapshot = graph.snapshot().unwrap();
    let csr = snapshot.to_csr::<f64>(pays, BuildOptions::default()).unwrap();
    assert_eq!(csr.neighbors(), [snapshot.vertex_id(2).unwrap().unwrap()]);
}

fn refusal<T: std::fmt::Debug>(result: Result<T, Error>) -> ErrorKind {
    result.unwrap_err().kind()
}
