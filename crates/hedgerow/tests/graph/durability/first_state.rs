//! Stores that begin with a whole graph: equal to those of commits, and made as a whole or not at
//! all.

use hedgerow::kernels::{BuildOptions, Csr};
use hedgerow::prelude::*;
use hedgerow::store::{self, FirstState};
use hedgerow::{AsOf, CheckpointOptions, CheckpointReport, CommitTimestamp, LabelId, VertexId};
use hedgerow_testing::simulated::{Fault, FaultKind, SimulatedFiles, Survival};
use std::sync::Arc;

/// A graph with a self-loop, and a vertex without edges.
const EDGES: [(u64, u64, f64); 5] =
    [(10, 30, 0.5), (20, 10, 1.5), (30, 40, 2.5), (40, 40, 3.5), (20, 40, 4.5)];
const KEYS: [u64; 5] = [10, 20, 30, 40, 50];

fn static_graph(topology: Topology) -> Csr {
    let id = |key: u64| VertexId::new((key / 10 - 1) as u32);
    let edges = EDGES.map(|(source, destination, weight)| (id(source), id(destination), weight));
    Csr::from_valued_edges(KEYS.len() as u32, topology, &edges, BuildOptions::default()).unwrap()
}

fn options(topology: Topology) -> GraphOptions {
    GraphOptions::new().topology(topology).label::<()>("knows").label::<f64>("owes").threads(1).simulated()
}

fn create(files: &SimulatedFiles, topology: Topology) -> Result<CheckpointReport, Error> {
    let graph = static_graph(topology);
    let key = |vertex: VertexId| Key::Number(KEYS[vertex.index()]);
    let state = FirstState { graph: &graph, label: LabelId(1), key: &key, input: Some(b"all") };
    let files = Arc::new(files.clone());
    store::create_from_on(files, &options(topology), &state, &CheckpointOptions::new())
}

/// The edges of label "owes" by keys, sorted.
fn edges_of(graph: &Graph) -> Vec<String> {
    let owes = graph.label::<f64>("owes").unwrap();
    let edges = |key: u64| graph.edges::<f64>(owes, key).unwrap().into_iter().map(move |edge| (key, edge));
    let mut edges: Vec<_> = KEYS.into_iter().flat_map(edges).map(|edge| format!("{edge:?}")).collect();
    edges.sort();
    edges
}

#[test]
fn the_first_state_is_that_of_the_same_commits() {
    for topology in [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected] {
        let files = SimulatedFiles::new(1);
        let report = create(&files, topology).unwrap();
        assert_eq!(
            (report.timestamp, report.vertices, report.edges.exact()),
            (CommitTimestamp(1), 5, Some(5))
        );
        let graph = options(topology).open_on(Arc::new(files.clone())).unwrap();
        let committed = Graph::in_memory(options(topology)).unwrap();
        committed.add_vertex(50).unwrap();
        committed.ingest(committed.label::<f64>("owes").unwrap(), &EDGES).unwrap();
        assert_eq!(edges_of(&graph), edges_of(&committed), "{topology:?}");
        assert_eq!(graph.snapshot().unwrap().vertex_count(), 5);
        assert_eq!(graph.input_position().as_deref(), Some(&b"all"[..]));

        // The log goes on after it.
        let owes = graph.label::<f64>("owes").unwrap();
        assert_eq!(graph.put_edge_with(owes, 50, 60, 9.0).unwrap().at, CommitTimestamp(2));
        graph.close().unwrap();
        drop(graph);
        let graph = options(topology).open_on(Arc::new(files.clone())).unwrap();
        assert!(graph.contains_edge(owes, 50, 60).unwrap() && graph.contains_edge(owes, 10, 30).unwrap());
        drop(graph);
        let past = options(topology).as_of(AsOf::Commit(CommitTimestamp(1)));
        let past = past.open_on(Arc::new(files.clone())).unwrap();
        assert_eq!(edges_of(&past), edges_of(&committed));
    }
}

/// After a crash or a failure there is no store, an empty one, or all of it.
fn check(files: &SimulatedFiles, is_made: bool) {
    match options(Topology::Undirected).open_on(Arc::new(files.clone())) {
        Ok(graph) => {
            let edges = graph.snapshot().unwrap().edge_count().exact();
            assert!(edges == Some(5) || !is_made && edges == Some(0), "{edges:?} edges");
            graph.put_edge_with(graph.label::<f64>("owes").unwrap(), 1, 2, 3.0).unwrap();
        }
        Err(error) => {
            assert!(!is_made && error.kind() == ErrorKind::NotFound, "{error}");
            create(files, Topology::Undirected).unwrap();
            check(files, true);
        }
    }
}

#[test]
fn a_loss_of_power_leaves_all_or_nothing() {
    let files = SimulatedFiles::new(1);
    files.keep_crash_images();
    create(&files, Topology::Undirected).unwrap();
    let images = files.take_crash_images();
    assert!(images.len() > 10, "{} operations", images.len());
    for image in images {
        for survival in Survival::ALL {
            check(&image.after_crash(survival, image.operation()), false);
        }
    }
    for survival in Survival::ALL {
        check(&files.after_crash(survival, 7), true);
    }
}

#[test]
fn a_failure_leaves_all_or_nothing() {
    for kind in FaultKind::ALL {
        let mut failed = 0;
        for at in 1.. {
            let files = SimulatedFiles::new(1);
            files.inject(Fault { at, kind, sticky: false });
            let made = create(&files, Topology::Undirected);
            if files.faults_met() == 0 {
                break;
            }
            failed += usize::from(made.is_err());
            files.heal();
            // The power may go before what was removed is gone for good.
            for survival in Survival::ALL {
                check(&files.after_crash(survival, at), made.is_ok());
            }
            check(&files, made.is_ok());
        }
        assert!(kind == FaultKind::Short || failed > 5, "{failed} failures of {kind:?}");
    }
}

#[test]
fn a_graph_that_does_not_fit_is_refused() {
    let graph = static_graph(Topology::Directed);
    let key = |_: VertexId| Key::Number(7);
    let state = FirstState { graph: &graph, label: LabelId(1), key: &key, input: None };
    let folder = tempfile::tempdir().unwrap();
    let create = |name: &str, options: &GraphOptions, state: &FirstState<'_>| {
        let made = store::create_from(folder.path().join(name), options, state, &CheckpointOptions::new());
        made.unwrap_err().kind()
    };
    let options = options(Topology::Directed);
    let no_label = FirstState { label: LabelId(2), ..state };
    assert_eq!(create("label", &options, &no_label), ErrorKind::InvalidInput);
    let no_values = FirstState { label: LabelId(0), ..state };
    assert_eq!(create("values", &options, &no_values), ErrorKind::InvalidInput);
    assert_eq!(create("texts", &options.clone().keys(KeyKind::String), &state), ErrorKind::Storage);
    assert_eq!(create("files", &options.clone().engine(EngineKind::Lsm), &state), ErrorKind::Unsupported);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "only the last step makes files");
    Graph::create(folder.path().join("there"), options.clone()).unwrap().close().unwrap();
    assert_eq!(create("there", &options, &state), ErrorKind::Exists);
}
