//! A graph at its memory limit refuses to grow, stays what it was, and can be shrunk and grown again. On every engine.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod oracle;

use hedgerow::{
    EdgeSchema, EdgeUpdate, EngineKind, Error, ErrorKind, Field, Graph, GraphOptions, Key, KeyKind, LabelId,
    LabelSchema, RecordSchema, Snapshot, Value, ValueType,
};
use oracle::ENGINES;
use std::collections::BTreeSet;

/// Directories take a third to a half of it.
const LIMIT: usize = 640 << 10;

fn limited(engine: EngineKind, keys: KeyKind) -> Graph {
    Graph::in_memory(GraphOptions::new().engine(engine).keys(keys).memory_limit(LIMIT)).unwrap()
}

/// The error has a type, and says limit, held, needed and what to do.
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

/// All that a snapshot shows.
fn state(graph: &Graph) -> (u64, BTreeSet<Key>, BTreeSet<(Key, Key)>) {
    fn read(snapshot: &Snapshot) -> (u64, BTreeSet<Key>, BTreeSet<(Key, Key)>) {
        let mut vertices = BTreeSet::new();
        snapshot.for_each_vertex(|_, key| assert!(vertices.insert(key)));
        let of = |key: &Key| {
            snapshot.neighbours(key).unwrap().into_iter().map(|to| (key.clone(), to)).collect::<Vec<_>>()
        };
        let edges = vertices.iter().flat_map(of).collect();
        (snapshot.edge_count(), vertices, edges)
    }
    read(&graph.snapshot().unwrap())
}

/// Commits until one is refused; returns how many were made.
fn fill(engine: EngineKind, mut commit: impl FnMut(u64) -> Result<(), Error>) -> u64 {
    for number in 0..1_000_000 {
        if let Err(error) = commit(number) {
            check_error(&error, engine);
            return number;
        }
    }
    panic!("{engine:?}: the limit was never exceeded");
}

/// What was refused has changed nothing, is refused again, and succeeds when something was deleted and reclaimed.
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
    assert!(!graph.reclaim().more);
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
        let put = |number| graph.put_edge(edge(number).0, edge(number).1).map(drop);
        let made = fill(engine, put);
        check_refused(
            engine,
            &graph,
            || put(made),
            || {
                for number in 0..made / 2 {
                    assert!(graph.delete_edge(edge(number).0, edge(number).1).unwrap());
                }
                for vertex in 0..64u64 {
                    assert!(graph.delete_vertex(vertex).unwrap());
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
        check_error(&graph.ingest(&all).unwrap_err(), engine);
        assert_eq!(graph.snapshot().unwrap().vertex_count(), 0);
        graph.ingest(&all[..1000]).unwrap();
        assert_eq!(graph.snapshot().unwrap().vertex_bound(), 1000, "the refused commit's ids are used again");

        let batch = |number: u64| {
            let edges: Vec<_> = (0..500).map(|source| (source * 2, 1000 + number)).collect();
            graph.ingest(&edges).map(drop)
        };
        let made = fill(engine, batch);
        check_refused(
            engine,
            &graph,
            || batch(made),
            || {
                let vertices = |transaction: &mut hedgerow::WriteTxn| {
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
        // Bare ones take little more than the directory, which is kept for those to come.
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
                    let delete = |transaction: &mut hedgerow::WriteTxn| {
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
        let put = |number| graph.put_edge(edge(number).0, edge(number).1).map(drop);
        fill(engine, |number| {
            put(number)?;
            snapshots.push(graph.snapshot()?);
            // Whatever an engine keeps versions of, the snapshots see these.
            graph.delete_edge(edge(number).0, edge(number).1)?;
            put(number)
        });
        let retained = graph.memory().retained_bytes;
        assert!(retained > LIMIT / 8, "{engine:?}: {:?}", graph.memory());
        drop(snapshots);
        // Each reclaims a little.
        (1..64u64).for_each(|other| assert!(graph.put_edge(0, other).unwrap().changed));
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
        let graph = Graph::in_memory(options.label(LabelSchema { name: "pays".to_owned(), edges })).unwrap();
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
                    assert!(graph.delete_edge_of(LabelId::DEFAULT, source, destination).unwrap());
                }
            },
        );
    }
}
