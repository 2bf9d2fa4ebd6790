//! A graph at its memory limit refuses to grow, keeps its state, can be shrunk, grown and reopened.
//! On every engine.

use crate::oracle::{ENGINES, counts_later};
use hedgerow::{
    CheckpointOptions, Durability, EdgeSchema, EdgeUpdate, EngineKind, Error, ErrorKind, Field, Graph,
    GraphOptions, Key, KeyKind, LabelId, LabelSchema, ParallelSchema, ReadGraph, RecordSchema, Snapshot,
    Topology, Value, ValueType, WriteGraph,
};
use hedgerow_testing::simulated::SimulatedFiles;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Returns all topologies for `rapid` and `tel`, one for other engines.
fn topologies(engine: EngineKind) -> &'static [Topology] {
    match engine {
        EngineKind::Rapid | EngineKind::Tel => {
            &[Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected]
        }
        _ => &[Topology::Undirected],
    }
}

/// The memory limit. Directories of three labels take up to half of it.
const LIMIT: usize = 3 << 20;

fn limited(engine: EngineKind, keys: KeyKind) -> Graph {
    Graph::in_memory(GraphOptions::new().engine(engine).keys(keys).memory_limit(LIMIT)).unwrap()
}

/// Checks that the error has a kind, and names the limit, the held and needed bytes, and a remedy.
fn check_error(error: &Error, engine: EngineKind) {
    assert_eq!(error.kind(), ErrorKind::Capacity, "{engine:?}: {error}");
    let exceeded = error.memory_limit().expect("the limit is one of memory");
    assert_eq!(exceeded.limit, LIMIT);
    assert!(exceeded.needed > 0 && exceeded.held + exceeded.needed > LIMIT, "{engine:?}: {exceeded:?}");
    let text = error.to_string();
    for part in [exceeded.limit.to_string(), exceeded.held.to_string(), exceeded.needed.to_string()] {
        assert!(text.contains(&part), "{text}");
    }
    assert!(text.contains("raise the memory limit"), "{text}");
}

/// Returns the complete state in a snapshot.
fn state(graph: &Graph) -> (Option<u64>, BTreeSet<Key>, BTreeSet<(Key, Key)>) {
    fn read(snapshot: &Snapshot) -> (Option<u64>, BTreeSet<Key>, BTreeSet<(Key, Key)>) {
        let mut vertices = BTreeSet::new();
        snapshot.for_each_vertex(|_, key| assert!(vertices.insert(key))).unwrap();
        let of = |key: &Key| {
            snapshot
                .neighbors(LabelId::DEFAULT, key)
                .unwrap()
                .into_iter()
                .map(|to| (key.clone(), to))
                .collect::<Vec<_>>()
        };
        let edges = vertices.iter().flat_map(of).collect();
        // Bounds change without commits.
        let count = snapshot.edge_count().exact().filter(|_| !counts_later(snapshot.engine()));
        (count, vertices, edges)
    }
    read(&graph.snapshot().unwrap())
}

/// Commits until a commit is refused; returns the number of commits made.
fn fill(engine: EngineKind, mut commit: impl FnMut(u64) -> Result<(), Error>) -> u64 {
    for number in 0..1_000_000 {
        if let Err(error) = commit(number) {
            check_error(&error, engine);
            return number;
        }
    }
    panic!("{engine:?}: the limit was never exceeded");
}

/// Checks that a refused commit has changed nothing, is refused again, and succeeds after a
/// deletion and a reclamation.
fn check_refused(
    engine: EngineKind,
    graph: &Graph,
    mut refused: impl FnMut() -> Result<(), Error>,
    delete: impl FnOnce(),
) {
    assert!(graph.memory().total_bytes() > LIMIT / 2, "{engine:?}: {:?}", graph.memory());
    let before = state(graph);
    let timestamp = graph.snapshot().unwrap().timestamp();
    check_error(&refused().unwrap_err(), engine);
    assert_eq!(state(graph), before, "{engine:?}");
    assert_eq!(graph.snapshot().unwrap().timestamp(), timestamp);
    delete();
    assert!(!graph.reclaim().unwrap().more);
    refused().unwrap_or_else(|error| panic!("{engine:?}: after deletions: {error}"));
    assert_ne!(state(graph), before);
}

#[test]
fn single_edges_beyond_the_limit_are_refused() {
    for (engine, keys) in ENGINES
        .map(|engine| (engine, KeyKind::Dense))
        .into_iter()
        .chain([(EngineKind::Rapid, KeyKind::Number)])
    {
        let graph = limited(engine, keys);
        let edge = |number: u64| (number % 512, 600 + number / 8);
        let put = |number| graph.put_edge(LabelId::DEFAULT, edge(number).0, edge(number).1).map(drop);
        let made = fill(engine, put);
        check_refused(
            engine,
            &graph,
            || put(made),
            || {
                for number in 0..made / 2 {
                    let deleted = graph.delete_edge(LabelId::DEFAULT, edge(number).0, edge(number).1);
                    assert_eq!(deleted.unwrap().changed, Some(true));
                }
                for vertex in 0..64u64 {
                    assert!(graph.delete_vertex(vertex).unwrap().changed == Some(true));
                }
            },
        );
    }
}

#[test]
fn batches_beyond_the_limit_are_refused() {
    for engine in ENGINES {
        let graph = limited(engine, KeyKind::Number);
        let all: Vec<(u64, u64)> = (0..500_000).map(|edge| (edge % 1000, edge)).collect();
        check_error(&graph.ingest(LabelId::DEFAULT, &all).unwrap_err(), engine);
        assert_eq!(graph.snapshot().unwrap().vertex_count(), 0);
        graph.ingest(LabelId::DEFAULT, &all[..1000]).unwrap();
        assert_eq!(graph.snapshot().unwrap().vertex_bound(), 1000, "the refused commit's ids are used again");

        let batch = |number: u64| {
            let edges: Vec<_> = (0..500).map(|source| (source * 2, 1000 + number)).collect();
            graph.ingest(LabelId::DEFAULT, &edges).map(drop)
        };
        let made = fill(engine, batch);
        check_refused(
            engine,
            &graph,
            || batch(made),
            || {
                let vertices = |transaction: &hedgerow::WriteTxn| {
                    (0..900u64).try_for_each(|vertex| transaction.delete_vertex(vertex))
                };
                graph.transact(vertices).unwrap();
            },
        );
    }
}

#[test]
fn vertices_beyond_the_limit_are_refused() {
    for engine in ENGINES {
        let name = Field { name: "name".to_owned(), value_type: ValueType::String, nullable: true };
        let options = GraphOptions::new().engine(engine).keys(KeyKind::Dense).memory_limit(LIMIT);
        let options = options.vertex_properties(RecordSchema { fields: vec![name] });
        let graph = Graph::in_memory(options).unwrap();
        // Vertices without properties take little more than the directory, which is kept for later
        // vertices.
        let add = |number: u64| {
            graph.transact(|transaction| {
                (number * 10..(number + 1) * 10).try_for_each(|vertex| {
                    let name = Value::String(format!("{vertex:100}").into());
                    transaction.set_properties(vertex, &[("name", name)])
                })
            })
        };
        let made = fill(engine, add);
        check_refused(
            engine,
            &graph,
            || add(made),
            || {
                for number in 0..made / 2 {
                    let delete = |transaction: &hedgerow::WriteTxn| {
                        (number * 100..(number + 1) * 100)
                            .try_for_each(|vertex| transaction.delete_vertex(vertex))
                    };
                    graph.transact(delete).unwrap();
                }
            },
        );
    }
}

#[test]
fn what_closed_snapshots_kept_does_not_count_against_the_limit() {
    for engine in ENGINES {
        let graph = limited(engine, KeyKind::Dense);
        let mut snapshots = Vec::new();
        let edge = |number: u64| (number % 128, 600 + number / 128);
        let put = |number| graph.put_edge(LabelId::DEFAULT, edge(number).0, edge(number).1).map(drop);
        fill(engine, |number| {
            put(number)?;
            snapshots.push(graph.snapshot()?);
            // The snapshots read the deleted versions in every engine.
            graph.delete_edge(LabelId::DEFAULT, edge(number).0, edge(number).1)?;
            put(number)
        });
        let retained = graph.memory().retained_bytes;
        assert!(retained > LIMIT / 8, "{engine:?}: {:?}", graph.memory());
        drop(snapshots);
        // Each commit reclaims a little.
        (1..64u64).for_each(|other| {
            assert!(graph.put_edge(LabelId::DEFAULT, 0, other).unwrap().changed != Some(false));
        });
        let left = graph.memory().retained_bytes;
        assert!(left < retained / 2, "{engine:?}: {left} of {retained}");
    }
}

#[test]
fn records_beyond_the_limit_are_refused() {
    for engine in ENGINES {
        let note = Field { name: "note".to_owned(), value_type: ValueType::String, nullable: true };
        let edges = EdgeSchema::Record(RecordSchema { fields: vec![note] });
        let options = GraphOptions::new().engine(engine).keys(KeyKind::Dense).memory_limit(LIMIT);
        let graph =
            Graph::in_memory(options.label_schema(LabelSchema { name: "pays".to_owned(), edges })).unwrap();
        let long = "x".repeat(1000);
        let put = |number: u64| {
            let update = EdgeUpdate::put().set("note", &*long);
            graph.update_edge(LabelId::DEFAULT, number % 8, 8 + number / 8, &update).map(drop)
        };
        let made = fill(engine, put);
        check_refused(
            engine,
            &graph,
            || put(made),
            || {
                for number in 0..made / 2 {
                    let (source, destination) = (number % 8, 8 + number / 8);
                    assert!(
                        graph.delete_edge(LabelId::DEFAULT, source, destination).unwrap().changed
                            == Some(true)
                    );
                }
            },
        );
    }
}

/// Plain edges, edges with records, and parallel edges with records.
fn labels() -> [LabelSchema; 3] {
    let note = Field { name: "note".to_owned(), value_type: ValueType::String, nullable: true };
    let record = RecordSchema { fields: vec![note] };
    let parallel = ParallelSchema { key: "number".to_owned(), record: record.clone() };
    [
        LabelSchema { name: "knows".to_owned(), edges: EdgeSchema::Topology },
        LabelSchema { name: "pays".to_owned(), edges: EdgeSchema::Record(record) },
        LabelSchema { name: "calls".to_owned(), edges: EdgeSchema::Parallel(parallel) },
    ]
}

const PAYS: LabelId = LabelId(1);
const CALLS: LabelId = LabelId(2);

fn with_labels(engine: EngineKind, topology: Topology, keys: KeyKind) -> GraphOptions {
    let options = GraphOptions::new().engine(engine).topology(topology).keys(keys).memory_limit(LIMIT);
    labels().into_iter().fold(options, GraphOptions::label_schema)
}

fn key(kind: KeyKind, number: u64) -> Key {
    match kind {
        KeyKind::String => Key::Text(format!("vertex {number}").into()),
        _ => Key::Number(number),
    }
}

/// Puts edges of all labels to and from a hub, and between others, until nothing fits any more.
fn fill_around_hub(engine: EngineKind, graph: &Graph, keys: KeyKind) -> u64 {
    let note = EdgeUpdate::put().set("note", "a note");
    let put = |number: u64| {
        let (hub, one, other) = (key(keys, 0), key(keys, 1 + number), key(keys, 1 + number * 7 % 499));
        graph.put_edge(LabelId::DEFAULT, hub.clone(), one.clone())?;
        graph.put_edge(LabelId::DEFAULT, one.clone(), hub.clone())?;
        graph.update_edge(PAYS, hub.clone(), one.clone(), &note)?;
        graph.update_parallel_edge(CALLS, hub.clone(), other.clone(), number, &note)?;
        graph.put_edge(LabelId::DEFAULT, one, other).map(drop)
    };
    let made = fill(engine, put);
    assert!(made >= 100, "{engine:?}: {made}");
    // Fills the last bytes.
    fill(engine, |number| {
        graph.put_edge(LabelId::DEFAULT, key(keys, 1 + number % 499), key(keys, 1 + number / 499)).map(drop)
    });
    made
}

#[test]
fn whatever_exists_can_be_deleted_at_the_limit() {
    for (engine, keys) in
        ENGINES.into_iter().zip([KeyKind::Number, KeyKind::String, KeyKind::Dense].into_iter().cycle())
    {
        for topology in topologies(engine).iter().copied() {
            let graph = Graph::in_memory(with_labels(engine, topology, keys)).unwrap();
            let made = fill_around_hub(engine, &graph, keys);
            let full = graph.memory().total_bytes();
            // The snapshot retains replaced versions, so the memory of the graph grows.
            let snapshot = graph.snapshot().unwrap();
            let of_hub = |number: u64| (key(keys, 0), key(keys, 1 + number));
            for number in 0..made / 4 {
                let (hub, other) = of_hub(number);
                let deleted = graph.delete_edge(LabelId::DEFAULT, hub.clone(), other.clone()).unwrap();
                assert_eq!(deleted.changed, Some(true), "{engine:?}, {topology:?}");
                graph.update_edge(PAYS, hub.clone(), other, &EdgeUpdate::delete()).unwrap();
                let called = key(keys, 1 + number * 7 % 499);
                let deleted = graph.update_parallel_edge(CALLS, hub, called, number, &EdgeUpdate::delete());
                assert_eq!(deleted.unwrap().written.edges_removed, 1, "{engine:?}");
            }
            let stream: Vec<_> = (made / 4..made / 2).map(of_hub).collect();
            assert!(
                graph.delete_each(LabelId::DEFAULT, &stream).unwrap().edges_removed.at_most() > 0,
                "{engine:?}"
            );
            graph
                .transact(|transaction| {
                    (1..20).try_for_each(|number| transaction.delete_vertex(key(keys, number)))
                })
                .unwrap();
            let declared = [key(keys, 20), key(keys, 0)];
            graph
                .transact_declared(&declared, |transaction| {
                    transaction.delete_edge(LabelId::DEFAULT, key(keys, 20), key(keys, 0))
                })
                .unwrap();
            assert!(graph.delete_vertex(key(keys, 0)).unwrap().changed == Some(true), "{engine:?}");
            assert!(graph.memory().total_bytes() < 4 * full, "{engine:?}: {:?} after {full}", graph.memory());
            drop(snapshot);
            assert!(!graph.reclaim().unwrap().more);
            let left = graph.memory().total_bytes();
            assert!(left < full, "{engine:?}, {topology:?}: {left} of {full} bytes are left");
            graph.put_edge(LabelId::DEFAULT, key(keys, 1), key(keys, 0)).unwrap();
        }
    }
}

#[test]
fn a_store_can_be_opened_under_the_limit_that_it_worked_under() {
    for engine in ENGINES {
        for topology in topologies(engine).iter().copied() {
            for is_simulated in [true, false] {
                // Simulations apply small batches.
                if !is_simulated && topology != Topology::Undirected {
                    continue;
                }
                let options = with_labels(engine, topology, KeyKind::Number).durability(Durability::None);
                let options = if is_simulated { options.simulated() } else { options };
                let files = SimulatedFiles::new(7);
                let graph = options.create_on(Arc::new(files.clone())).unwrap();
                fill_around_hub(engine, &graph, KeyKind::Number);
                for round in 1..4u64 {
                    (0..200).for_each(|number| assert!(graph.delete_vertex(number * round).is_ok()));
                    fill(engine, |number| {
                        graph.put_edge(LabelId::DEFAULT, number * 31 % 997, number * round).map(drop)
                    });
                }
                let before = state(&graph);
                drop(graph);
                let graph = options.open_on(Arc::new(files.clone()));
                let graph =
                    graph.unwrap_or_else(|error| panic!("{engine:?}, {topology:?}, from the log: {error}"));
                assert_eq!(state(&graph), before);
                graph.checkpoint(&CheckpointOptions::new()).unwrap();
                drop(graph);
                let graph = options.open_on(Arc::new(files));
                let graph = graph
                    .unwrap_or_else(|error| panic!("{engine:?}, {topology:?}, from a checkpoint: {error}"));
                assert_eq!(state(&graph), before);
                assert!(graph.memory().total_bytes() < 2 * LIMIT, "{engine:?}: {:?}", graph.memory());
                assert!(graph.delete_vertex(1u64).is_ok());
            }
        }
    }
}

#[test]
fn keys_count_against_the_limit() {
    let graph = limited(EngineKind::Rapid, KeyKind::String);
    let long = |number: u64| format!("{number:1000}");
    let made = fill(EngineKind::Rapid, |number| {
        graph.put_edge(LabelId::DEFAULT, long(number), long(number / 2)).map(drop)
    });
    assert!(made < LIMIT as u64 / 1000, "{made} keys of 1,000 bytes");
    let kept = graph.memory();
    assert!(kept.total_bytes() > LIMIT / 2 && kept.total_bytes() <= LIMIT, "{kept:?}");
    // Refused commits have not grown the dictionary by much.
    let many: Vec<_> = (0..100_000).map(|number| (long(1_000_000 + number), long(number % 2))).collect();
    check_error(&graph.ingest(LabelId::DEFAULT, &many).unwrap_err(), EngineKind::Rapid);
    let left = graph.memory().total_bytes();
    assert!(left < kept.total_bytes() + LIMIT / 16, "{left} bytes, {kept:?} before");
    // Deleted keys make room.
    (0..made / 2)
        .for_each(|number| assert!(graph.delete_vertex(long(number)).unwrap().changed == Some(true)));
    graph.reclaim().unwrap();
    let left = graph.memory().total_bytes();
    assert!(left < kept.total_bytes() * 2 / 3, "{left} bytes, {kept:?} before");
    (0..made / 4).for_each(|number| {
        assert!(
            graph.put_edge(LabelId::DEFAULT, long(made + number), long(made)).unwrap().changed != Some(false)
        );
    });
}
