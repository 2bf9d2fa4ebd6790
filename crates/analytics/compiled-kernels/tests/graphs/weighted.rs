//! Shortest paths and PageRank by a property of the edges' records, on every engine, with parallel
//! edges and without: as on a static graph with the least weight, or the sum, of each pair.

use crate::engines::ENGINES;
use hedgerow::kernels::{
    BuildOptions, Csr, EdgeWeight, Execution, Kernel, KernelError, PageRank, ParallelWeight, Sssp,
    WeightError,
};
use hedgerow::prelude::*;
use hedgerow::{ColumnType, EdgeSchema, ErrorKind, LabelId, ParallelSchema, ValueType, VertexId};
use hedgerow_compiled_kernels::Target;
use proptest::prelude::*;
use std::collections::BTreeMap;

const TOPOLOGIES: [Topology; 3] = [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected];
/// Edges with a record.
const LENDS: LabelId = LabelId(0);
/// Parallel edges with the same record.
const PAYS: LabelId = LabelId(1);

fn graph(engine: EngineKind, topology: Topology) -> Graph {
    let record = RecordSchema::new()
        .nullable("note", ValueType::String)
        .nullable("amount", ValueType::F64)
        .nullable("count", ValueType::I64)
        .nullable("units", ValueType::U64);
    let pays = ParallelSchema { key: "number".to_owned(), record: record.clone() };
    let schema = |name: &str, edges| LabelSchema { name: name.to_owned(), edges };
    let options = GraphOptions::new().engine(engine).topology(topology);
    let options = options.label_schema(schema("lends", EdgeSchema::Record(record)));
    Graph::in_memory(options.label_schema(schema("pays", EdgeSchema::Parallel(pays)))).unwrap()
}

fn record(weight: u32) -> [(&'static str, Value); 4] {
    let units = Value::U64(weight.into());
    let count = Value::I64(weight.into());
    [
        ("note", "n".repeat(weight as usize % 40).into()),
        ("amount", (f64::from(weight) / 4.0).into()),
        ("count", count),
        ("units", units),
    ]
}

/// The weights of the edges from one vertex to another, by their numbers.
type Edges = BTreeMap<(u64, u64), BTreeMap<u64, u32>>;

/// Two vertices, a number, and a weight to put an edge with; `None` deletes it.
type Step = (u64, u64, u64, Option<u32>);

/// Takes the steps in both labels.
fn take(graph: &Graph, steps: &[Step]) {
    for (from, to, number, weight) in steps.iter().copied() {
        let update = match weight {
            None => EdgeUpdate::delete(),
            Some(weight) => {
                record(weight).into_iter().fold(EdgeUpdate::put(), |put, (name, value)| put.set(name, value))
            }
        };
        graph.update_edge(LENDS, from, to, &update).unwrap();
        graph.update_parallel_edge(PAYS, from, to, number, &update).unwrap();
    }
}

/// The edges of both labels after these steps.
fn edges_after(steps: &[Step], undirected: bool) -> [Edges; 2] {
    let [mut lends, mut pays] = [Edges::new(), Edges::new()];
    for (from, to, number, weight) in steps.iter().copied() {
        let pair = if undirected { (from.min(to), from.max(to)) } else { (from, to) };
        match weight {
            None => {
                lends.remove(&pair);
                pays.entry(pair).or_default().remove(&number);
            }
            Some(weight) => {
                lends.insert(pair, [(0, weight)].into());
                pays.entry(pair).or_default().insert(number, weight);
            }
        }
    }
    pays.retain(|_, edges| !edges.is_empty());
    [lends, pays]
}

fn check(snapshot: &Snapshot, label: LabelId, edges: &Edges, execution: Execution<'_>, what: &str) {
    let id = |key: u64| snapshot.vertex_id(key).unwrap().unwrap();
    let (topology, bound) = (snapshot.topology(), snapshot.vertex_bound());
    let reduced = |unit: f64, reduce: fn(f64, f64) -> f64| {
        let edges = edges.iter().map(|((from, to), weights)| {
            let weights = weights.values().map(|weight| f64::from(*weight) * unit);
            (id(*from), id(*to), weights.reduce(reduce).unwrap())
        });
        let edges: Vec<_> = edges.collect();
        Csr::from_valued_edges(bound, topology, &edges, BuildOptions::default()).unwrap()
    };
    let vertices = (0..bound).map(VertexId::new);
    let Some(source) = vertices.clone().find(|vertex| snapshot.key(*vertex).unwrap().is_some()) else {
        return;
    };
    let absent: Vec<_> = vertices.filter(|vertex| snapshot.key(*vertex).unwrap().is_none()).collect();
    let shares = [(source, 3.0)];
    for (property, unit) in [("amount", 0.25), ("count", 1.0), ("units", 1.0)] {
        let weight = snapshot.edge_weight(label, property).unwrap();
        let least = reduced(unit, f64::min).without_vertices(absent.iter().copied()).unwrap();
        let search = Sssp::<f64> { parents: true, execution, ..Sssp::new(source) };
        let expected = search.run(&least).unwrap();
        let found = snapshot.run(search.label(label).weight(weight)).unwrap();
        assert_eq!((&found.distances, &found.parents), (&expected.distances, &expected.parents), "{what}");
        let copy = snapshot.to_weighted_csr(label, weight, ParallelWeight::Least, execution.build_options());
        assert_eq!(search.run(&copy.unwrap()).unwrap().distances, expected.distances, "{what}");
        let sums =
            reduced(unit, |sum, weight| sum + weight).without_vertices(absent.iter().copied()).unwrap();
        for kernel in [PageRank::default(), PageRank::default().personalized(&shares)] {
            let kernel = PageRank { execution, ..kernel };
            let expected = kernel.weight(EdgeWeight::Value(ColumnType::F64)).run(&sums).unwrap().ranks;
            let target = Target::from(snapshot.clone());
            let found = target.compute(kernel.label(label).weight(weight)).unwrap().ranks;
            for (found, expected) in found.iter().zip(&expected) {
                assert!((found - expected).abs() < 1e-12, "{what}: {found}, not {expected}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    #[test]
    fn properties_of_edges_are_their_weights(
        steps in prop::collection::vec(
            (0..9_u64, 0..9_u64, 0..4_u64, prop::option::weighted(0.9, 0..50_u32)), 1..60),
        topology in prop::sample::select(&TOPOLOGIES),
    ) {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        for engine in ENGINES {
            let graph = graph(engine, topology);
            let (before, after) = steps.split_at(steps.len() / 2);
            take(&graph, before);
            let old = graph.snapshot().unwrap();
            take(&graph, after);
            let [old_edges, edges] =
                [before, &steps].map(|steps| edges_after(steps, topology.is_undirected()));
            for (label, place) in [(LENDS, 0), (PAYS, 1)] {
                let what = format!("{engine:?}, label {label:?}");
                check(&old, label, &old_edges[place], Execution::default(), &what);
                let execution = Execution::default().on(&pool);
                check(&graph.snapshot().unwrap(), label, &edges[place], execution, &what);
            }
        }
    }
}

#[test]
fn values_of_every_type_are_weights() {
    fn check<T: hedgerow::EdgeType + Copy + Sync>(weights: [T; 2]) {
        for engine in ENGINES {
            let graph = Graph::in_memory(GraphOptions::new().engine(engine).label::<T>("edge")).unwrap();
            let edge = graph.label::<T>("edge").unwrap();
            graph.ingest(edge, &[(1, 2, weights[0]), (2, 3, weights[1])]).unwrap();
            let snapshot = graph.snapshot().unwrap();
            let weight = snapshot.edge_weight(edge, None).unwrap();
            let found = snapshot.run(Sssp::new(VertexId::new(0)).weight(weight)).unwrap();
            assert_eq!(found.distances, [0.0, 2.0, 5.0], "{engine:?}");
            let ranks = snapshot.run(PageRank::default().weight(weight)).unwrap().ranks;
            assert!((ranks.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }
    check([2_u32, 3]);
    check([2_u64, 3]);
    check([2_i64, 3]);
    check([2_f32, 3.0]);
    check([2_f64, 3.0]);
}

#[test]
fn an_edge_without_a_valid_weight_is_named_by_its_keys() {
    for engine in ENGINES {
        for (amount, fault) in [
            (Value::Null, "the edge from 7 to 9 has no weight"),
            (Value::F64(-0.5), "the edge from 7 to 9 has the weight -0.5, but weights must be 0 or more"),
            (Value::F64(f64::NAN), "the edge from 7 to 9 has the weight NaN"),
        ] {
            let graph = graph(engine, Topology::Directed);
            for label in [LENDS, PAYS] {
                let put = |from: u64, to: u64, number, amount: Value| {
                    let put = EdgeUpdate::put().set("amount", amount);
                    match label {
                        LENDS => graph.update_edge(label, from, to, &put),
                        _ => graph.update_parallel_edge(label, from, to, number, &put),
                    }
                    .unwrap()
                };
                put(3, 7, 1, 5.0.into());
                put(7, 9, 1, 9.0.into());
                // The least and the sum of the parallel edges would be valid.
                put(7, 9, 2, amount.clone());
                let snapshot = graph.snapshot().unwrap();
                let weight = snapshot.edge_weight(label, "amount").unwrap();
                let ids = [7, 9].map(|key| snapshot.vertex_id(key).unwrap().unwrap());
                let build = BuildOptions::default();
                for error in [
                    snapshot.run(Sssp::new(ids[1]).label(label).weight(weight)).unwrap_err(),
                    snapshot.run(PageRank::default().label(label).weight(weight)).unwrap_err(),
                    snapshot.to_weighted_csr(label, weight, ParallelWeight::Sum, build).unwrap_err(),
                ] {
                    assert!(error.to_string().starts_with(fault), "{engine:?}: {error}");
                    assert_eq!(error.kind(), ErrorKind::Kernel);
                    let Some(KernelError::Weight(WeightError { source, destination, .. })) = error.kernel()
                    else {
                        panic!("{error}")
                    };
                    assert_eq!([*source, *destination], ids);
                }
            }
        }
    }
}

#[test]
fn only_numbers_are_weights() {
    let snapshot = graph(EngineKind::Rapid, Topology::Directed).snapshot().unwrap();
    for (property, named) in [("note", "not a number"), ("price", "\"price\"")] {
        let error = snapshot.edge_weight(PAYS, property).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.to_string().contains(named) && error.to_string().contains("\"pays\""), "{error}");
    }
    assert!(snapshot.edge_weight(PAYS, None).unwrap_err().to_string().contains("no values"));
    assert!(snapshot.edge_weight(LabelId(7), "amount").is_err());
}
