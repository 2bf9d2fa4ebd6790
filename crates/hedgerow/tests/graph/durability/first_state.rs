//! Stores that begin with a whole graph: equal to those of commits, and made as a whole or not at
//! all.

use hedgerow::kernels::csr::CsrBuilder;
use hedgerow::kernels::{BuildOptions, CancelToken, Csr, GraphView};
use hedgerow::prelude::*;
use hedgerow::store::{self, EdgeRecords, FirstState};
use hedgerow::{
    AsOf, CheckpointOptions, CheckpointReport, CommitTimestamp, EdgeSchema, Field, LabelId, LabelSchema,
    ParallelSchema, Record, RecordSchema, Value, ValueType, VertexId,
};
use hedgerow_testing::simulated::{Fault, FaultKind, SimulatedFiles, Survival};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::sync::Arc;

/// An engine whose stores have checkpoints, and one with files of its own.
const ENGINES: [EngineKind; 2] = [EngineKind::Rapid, EngineKind::Lsm];

/// A graph with a self-loop, and a vertex without edges.
const EDGES: [(u64, u64, f64); 5] =
    [(10, 30, 0.5), (20, 10, 1.5), (30, 40, 2.5), (40, 40, 3.5), (20, 40, 4.5)];
const KEYS: [u64; 5] = [10, 20, 30, 40, 50];

fn static_graph(topology: Topology) -> Csr {
    let id = |key: u64| VertexId::new((key / 10 - 1) as u32);
    let edges = EDGES.map(|(source, destination, weight)| (id(source), id(destination), weight));
    Csr::from_valued_edges(KEYS.len() as u32, topology, &edges, BuildOptions::default()).unwrap()
}

fn options(engine: EngineKind, topology: Topology) -> GraphOptions {
    in_memory(topology).engine(engine)
}

fn in_memory(topology: Topology) -> GraphOptions {
    GraphOptions::new().topology(topology).label::<()>("knows").label::<f64>("owes").threads(1).simulated()
}

fn create(files: &SimulatedFiles, engine: EngineKind, topology: Topology) -> Result<CheckpointReport, Error> {
    let graph = static_graph(topology);
    let key = |vertex: VertexId| Key::Number(KEYS[vertex.index()]);
    let (records, properties, input) = (None, None, Some(&b"all"[..]));
    let state = FirstState { graph: &graph, label: LabelId(1), key: &key, records, properties, input };
    let files = Arc::new(files.clone());
    store::create_from_on(files, &options(engine, topology), &state, &CheckpointOptions::new())
}

/// The edges of label "owes" by keys, sorted, from both ends where these are stored.
fn edges_of(graph: &Graph) -> Vec<String> {
    let owes = graph.label::<f64>("owes").unwrap();
    let mut edges = Vec::new();
    for key in KEYS {
        let outgoing = graph.edges::<f64>(owes, key).unwrap();
        edges.extend(outgoing.into_iter().map(|edge| format!("{key} to {edge:?}")));
        if let Ok(incoming) = graph.edges::<f64>(owes.incoming(), key) {
            edges.extend(incoming.into_iter().map(|edge| format!("{key} from {edge:?}")));
        }
    }
    edges.sort();
    edges
}

const TOPOLOGIES: [Topology; 3] = [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected];

/// Runs `check` on each engine with each topology.
fn each(check: impl Fn(EngineKind, Topology)) {
    for engine in ENGINES {
        TOPOLOGIES.into_iter().for_each(|topology| check(engine, topology));
    }
}

#[test]
fn the_first_state_is_that_of_the_same_commits() {
    each(|engine, topology| {
        let files = SimulatedFiles::new(1);
        let report = create(&files, engine, topology).unwrap();
        assert_eq!(
            (report.timestamp, report.vertices, report.edges.exact()),
            (CommitTimestamp(1), 5, Some(5))
        );
        let graph = options(engine, topology).open_on(Arc::new(files.clone())).unwrap();
        let committed = Graph::in_memory(in_memory(topology)).unwrap();
        committed.add_vertex(50).unwrap();
        committed.ingest(committed.label::<f64>("owes").unwrap(), &EDGES).unwrap();
        assert_eq!(edges_of(&graph), edges_of(&committed), "{engine:?} {topology:?}");
        assert_eq!(graph.snapshot().unwrap().vertex_count(), 5);
        assert_eq!(graph.input_position().as_deref(), Some(&b"all"[..]));

        // The log goes on after it.
        let owes = graph.label::<f64>("owes").unwrap();
        assert_eq!(graph.put_edge_with(owes, 50, 60, 9.0).unwrap().at, CommitTimestamp(2));
        graph.close().unwrap();
        drop(graph);
        let graph = options(engine, topology).open_on(Arc::new(files.clone())).unwrap();
        assert!(graph.contains_edge(owes, 50, 60).unwrap() && graph.contains_edge(owes, 10, 30).unwrap());
        drop(graph);
        let past = options(engine, topology).as_of(AsOf::Commit(CommitTimestamp(1)));
        let past = past.open_on(Arc::new(files.clone())).unwrap();
        assert_eq!(edges_of(&past), edges_of(&committed));
    });
}

/// The records of a label, the parallel edges of another, and the properties of vertices.
#[test]
fn records_are_those_of_the_same_commits() {
    each(|engine, topology| {
        for is_parallel in [false, true] {
            check_records(engine, topology, is_parallel);
        }
    });
}

fn check_records(engine: EngineKind, topology: Topology, is_parallel: bool) {
    let field = |name: &str, value_type| Field { name: name.into(), value_type, nullable: true };
    let record =
        RecordSchema { fields: vec![field("amount", ValueType::F64), field("note", ValueType::String)] };
    let edges = match is_parallel {
        true => EdgeSchema::Parallel(ParallelSchema { key: "number".into(), record }),
        false => EdgeSchema::Record(record),
    };
    let options = || {
        let label = LabelSchema { name: "pays".into(), edges: edges.clone() };
        let people = RecordSchema { fields: vec![field("age", ValueType::I64)] };
        GraphOptions::new()
            .topology(topology)
            .label_schema(label)
            .vertex_properties(people)
            .threads(1)
            .simulated()
    };
    // Pairs and numbers repeat, numbers don't ascend, and a record is long.
    let rows =
        [(0, 1, 9, 1.5), (1, 2, 3, 2.5), (0, 1, 4, 3.5), (2, 2, 1, 4.5), (1, 0, 4, 5.5), (0, 1, 9, 6.5)];
    let values_of = |amount: f64| vec![Value::F64(amount), "x".repeat(amount as usize * 60).into()];

    let (mut records, mut others) = (EdgeRecords::new(), EdgeRecords::with_capacity(100));
    let push = |records: &mut EdgeRecords, (_, _, number, amount): (u32, u32, u64, f64)| match is_parallel {
        true => records.push_parallel(number, &values_of(amount)),
        false => records.push(&values_of(amount)),
    };
    let mut places: Vec<_> = rows[..2].iter().map(|row| push(&mut records, *row)).collect();
    let later: Vec<_> = rows[2..].iter().map(|row| push(&mut others, *row)).collect();
    let base = records.append(others);
    places.extend(later.into_iter().map(|place| place + base));
    let ends = |(from, to, ..): &(u32, u32, u64, f64)| {
        let (from, to) =
            if topology == Topology::Undirected { (*from.min(to), *from.max(to)) } else { (*from, *to) };
        (VertexId::new(from), VertexId::new(to))
    };
    let ends: Vec<_> = rows.iter().map(ends).collect();
    let builder = CsrBuilder::new(Topology::Directed);
    let mut builder = if is_parallel { builder.with_duplicates() } else { builder };
    builder.add(ends, places);
    let graph = builder.finish(4, 4, BuildOptions::default()).unwrap();
    let key = |vertex: VertexId| Key::Number(vertex.get().into());
    let age = |vertex: VertexId| match vertex.get() {
        3 => Record::default(),
        id => Record::new(vec![Value::I64(i64::from(id) - 1)]),
    };
    let (records, properties) = (Some(&records), Some(&age as &(dyn Fn(VertexId) -> Record + Sync)));
    let state = FirstState { graph: &graph, label: LabelId(0), key: &key, records, properties, input: None };
    let files = SimulatedFiles::new(1);
    let made = store::create_from_on(
        Arc::new(files.clone()),
        &options().engine(engine),
        &state,
        &CheckpointOptions::new(),
    );
    let made = made.unwrap();
    let made_graph = options().engine(engine).open_on(Arc::new(files)).unwrap();

    let committed = Graph::in_memory(options()).unwrap();
    let pays = LabelId(0);
    for key in 0..4_u64 {
        committed.add_vertex(key).unwrap();
    }
    for key in 0..3_u64 {
        committed.set_properties(key, &[("age", Value::I64(key as i64 - 1))]).unwrap();
    }
    for (from, to, number, amount) in rows {
        let (from, to) = (u64::from(from), u64::from(to));
        match is_parallel {
            true => drop(
                committed.put_parallel_edge(pays, from, to, number, Record::new(values_of(amount))).unwrap(),
            ),
            false => drop(committed.put_edge_with(pays, from, to, Record::new(values_of(amount))).unwrap()),
        }
    }
    let all = |graph: &Graph| {
        let snapshot = graph.snapshot().unwrap();
        let of = |key: u64| {
            let edges = match is_parallel {
                true => format!("{:?}", snapshot.parallel_neighbors::<Record>(pays, key, ..).unwrap()),
                false => format!("{:?}", snapshot.edges::<Record>(pays, key).unwrap()),
            };
            (edges, format!("{:?}", snapshot.properties(key).unwrap()))
        };
        (snapshot.edge_count(), (0..4).map(of).collect::<Vec<_>>())
    };
    assert_eq!(all(&made_graph), all(&committed), "{engine:?} {topology:?} {is_parallel}");
    assert_eq!(made.edges, all(&committed).0);
}

/// Opening has several chunks of edges, several parts of owners, and vertices with very many
/// neighbors to put in order.
#[test]
fn a_store_of_many_chunks_has_the_rows_of_the_graph() {
    const VERTICES: u32 = 9000;
    let mut random = StdRng::seed_from_u64(1);
    let mut edges: Vec<_> = (0..200_000_u32)
        .map(|number| {
            let [one, other] = [0, 1].map(|_| random.random_range(0..VERTICES));
            let hubs = [5, 4095, 4096, VERTICES - 1];
            let one = if number % 4 == 0 { hubs[number as usize / 4 % 4] } else { one };
            (VertexId::new(one), VertexId::new(other), f64::from(number))
        })
        .collect();
    // Equal edges would have the last of their values, from whatever end.
    edges.sort_by_key(|(one, other, _)| (one.min(other).get(), one.max(other).get()));
    edges.dedup_by_key(|(one, other, _)| (one.min(other).get(), one.max(other).get()));
    each(|engine, topology| {
        let graph = Csr::from_valued_edges(VERTICES, topology, &edges, BuildOptions::default()).unwrap();
        let key = |vertex: VertexId| Key::Number(vertex.get().into());
        let (records, properties, input) = (None, None, None);
        let state = FirstState { graph: &graph, label: LabelId(1), key: &key, records, properties, input };
        let files = Arc::new(SimulatedFiles::new(1));
        let options = options(engine, topology);
        store::create_from_on(files.clone(), &options, &state, &CheckpointOptions::new()).unwrap();
        let opened = options.open_on(files).unwrap();
        let snapshot = opened.snapshot().unwrap();
        let copy = snapshot.to_csr::<f64>(LabelId(1), BuildOptions::default()).unwrap();
        for direction in topology.directions() {
            let rows = |csr: &Csr| {
                let adjacency = csr.adjacency::<f64>(LabelId::DEFAULT, *direction).unwrap();
                (adjacency.offsets().to_vec(), adjacency.neighbors().to_vec(), adjacency.values().to_vec())
            };
            assert!(rows(&copy) == rows(&graph), "{engine:?} {topology:?} {direction:?}");
        }
    });
}

/// After a crash or a failure there is no store, an empty one, or all of it.
fn check(files: &SimulatedFiles, engine: EngineKind, is_made: bool) {
    match options(engine, Topology::Undirected).open_on(Arc::new(files.clone())) {
        Ok(graph) => {
            let edges = graph.snapshot().unwrap().edge_count().exact();
            assert!(edges == Some(5) || !is_made && edges == Some(0), "{edges:?} edges");
            graph.put_edge_with(graph.label::<f64>("owes").unwrap(), 1, 2, 3.0).unwrap();
        }
        Err(error) => {
            assert!(!is_made && error.kind() == ErrorKind::NotFound, "{error}");
            create(files, engine, Topology::Undirected).unwrap();
            check(files, engine, true);
        }
    }
}

#[test]
fn a_loss_of_power_leaves_all_or_nothing() {
    for engine in ENGINES {
        let files = SimulatedFiles::new(1);
        files.keep_crash_images();
        create(&files, engine, Topology::Undirected).unwrap();
        let images = files.take_crash_images();
        assert!(images.len() > 10, "{} operations", images.len());
        for image in images {
            for survival in Survival::ALL {
                check(&image.after_crash(survival, image.operation()), engine, false);
            }
        }
        for survival in Survival::ALL {
            check(&files.after_crash(survival, 7), engine, true);
        }
    }
}

#[test]
fn a_failure_leaves_all_or_nothing() {
    let kinds = ENGINES.into_iter().flat_map(|engine| FaultKind::ALL.map(|kind| (engine, kind)));
    for (engine, kind) in kinds {
        let mut failed = 0;
        for at in 1.. {
            let files = SimulatedFiles::new(1);
            files.inject(Fault { at, kind, sticky: false });
            let made = create(&files, engine, Topology::Undirected);
            if files.faults_met() == 0 {
                break;
            }
            failed += usize::from(made.is_err());
            files.heal();
            // The power may go before what was removed is gone for good.
            for survival in Survival::ALL {
                check(&files.after_crash(survival, at), engine, made.is_ok());
            }
            check(&files, engine, made.is_ok());
        }
        assert!(kind == FaultKind::Short || failed > 5, "{failed} failures of {kind:?}");
    }
}

#[test]
fn a_cancelled_first_state_leaves_no_store() {
    let graph = static_graph(Topology::Undirected);
    let key = |vertex: VertexId| Key::Number(KEYS[vertex.index()]);
    let (records, properties, input) = (None, None, None);
    let state = FirstState { graph: &graph, label: LabelId(1), key: &key, records, properties, input };
    let cancelled = CancelToken::new();
    cancelled.cancel();
    for engine in ENGINES {
        let (files, options) = (SimulatedFiles::new(1), options(engine, Topology::Undirected));
        let checkpoint = CheckpointOptions::new().cancelled_by(&cancelled);
        let made = store::create_from_on(Arc::new(files.clone()), &options, &state, &checkpoint);
        assert_eq!(made.unwrap_err().kind(), ErrorKind::Cancelled, "{engine:?}");
        check(&files, engine, false);
    }
}

#[test]
fn a_graph_that_does_not_fit_is_refused() {
    let graph = static_graph(Topology::Directed);
    let key = |_: VertexId| Key::Number(7);
    let (records, properties, input) = (None, None, None);
    let state = FirstState { graph: &graph, label: LabelId(1), key: &key, records, properties, input };
    let folder = tempfile::tempdir().unwrap();
    let create = |name: &str, options: &GraphOptions, state: &FirstState<'_>| {
        let made = store::create_from(folder.path().join(name), options, state, &CheckpointOptions::new());
        made.unwrap_err().kind()
    };
    let options = in_memory(Topology::Directed);
    let no_label = FirstState { label: LabelId(2), ..state };
    assert_eq!(create("label", &options, &no_label), ErrorKind::InvalidInput);
    let no_values = FirstState { label: LabelId(0), ..state };
    assert_eq!(create("values", &options, &no_values), ErrorKind::InvalidInput);
    assert_eq!(create("texts", &options.clone().keys(KeyKind::String), &state), ErrorKind::Storage);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "only the last step makes files");
    Graph::create(folder.path().join("there"), options.clone()).unwrap().close().unwrap();
    assert_eq!(create("there", &options, &state), ErrorKind::Exists);
}
