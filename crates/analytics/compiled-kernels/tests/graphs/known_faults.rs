//! Known faults of stores of this kind, one test each, on every engine.

use crate::engines::{ENGINES, is_count};
use hedgerow::kernels::{Adjacency, Cursor, GraphView};
use hedgerow::kernels::{Kernel, KernelError};
use hedgerow::{
    Column, Direction, EdgeSchema, EngineKind, Field, Graph, GraphOptions, Key, KeyKind, LabelId,
    LabelSchema, ReadGraph, RecordSchema, Snapshot, Topology, Value, ValueType, VertexId, WriteGraph,
};
use rand::{RngExt, SeedableRng, rngs::SmallRng};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

fn graph(engine: EngineKind, keys: KeyKind) -> Graph {
    Graph::in_memory(GraphOptions::new().engine(engine).keys(keys)).unwrap()
}

/// The neighbors of a label by vertex, from one scan over all vertices.
struct ScanAll<W>(LabelId, std::marker::PhantomData<W>);

impl<W: Column> Kernel for ScanAll<W> {
    type Output = BTreeMap<u32, Vec<(u32, W)>>;

    fn run<V: GraphView>(self, view: &V) -> Result<Self::Output, KernelError> {
        let adjacency = view.adjacency::<W>(self.0, Direction::Out)?;
        let mut rows = BTreeMap::<_, Vec<_>>::new();
        let scanned = adjacency.cursor().scan(0..view.vertex_bound(), |vertex, ids, values| {
            let row = rows.entry(vertex.get()).or_default();
            row.extend(ids.iter().map(|id| id.get()).zip(values.iter().copied()));
            ControlFlow::<()>::Continue(())
        });
        let _ = scanned?;
        Ok(rows)
    }
}

fn scan<W: Column>(snapshot: &Snapshot, label: LabelId) -> BTreeMap<u32, Vec<(u32, W)>> {
    snapshot.run(ScanAll(label, std::marker::PhantomData)).unwrap()
}

/// The number of neighbors that a scan returns.
fn scanned_edges(snapshot: &Snapshot) -> u64 {
    scan::<()>(snapshot, LabelId::DEFAULT).values().map(|row| row.len() as u64).sum()
}

// --- a search that runs past the end of a row --------------------------------------------------

/// Sources, which fill three partitions, and destinations: enough for sets of every size.
const SOURCES: u32 = 192;
const DESTINATIONS: u32 = 2_600;

type Rows = BTreeMap<u32, BTreeSet<u32>>;

/// Compares every (source, destination) pair with `rows`.
struct ProbeAll<'r>(&'r Rows);

impl Kernel for ProbeAll<'_> {
    type Output = ();

    fn run<V: GraphView>(self, view: &V) -> Result<(), KernelError> {
        let nothing = BTreeSet::new();
        let adjacency = view.adjacency::<()>(LabelId::DEFAULT, Direction::Out)?;
        let mut cursor = adjacency.cursor();
        for source in 0..SOURCES + 1 {
            let expected = self.0.get(&source).unwrap_or(&nothing);
            let vertex = VertexId::new(source);
            assert_eq!(cursor.degree(vertex)?, expected.len(), "degree of {source}");
            for destination in 0..DESTINATIONS {
                let found = cursor.find(vertex, VertexId::new(destination))?;
                assert_eq!(found.is_some(), expected.contains(&destination), "{source} -> {destination}");
            }
            let (ids, _) = cursor.gather(vertex)?;
            let mut ids: Vec<u32> = ids.iter().map(|id| id.get()).collect();
            if !is_sorted(&adjacency) {
                ids.sort_unstable();
            }
            assert!(ids.iter().eq(expected), "neighbors of {source}");
        }
        Ok(())
    }
}

fn is_sorted<A: Adjacency>(_: &A) -> bool {
    A::SORTED
}

/// Rows of no, few, many and very many neighbors in random order; the first and last row of each
/// partition are included.
fn random_rows(random: &mut SmallRng) -> Rows {
    let degree = |random: &mut SmallRng| match random.random_range(0..40) {
        0 => random.random_range(1_020..1_030),
        1 => random.random_range(1_500..DESTINATIONS),
        2..12 => 0,
        12..24 => random.random_range(1..4),
        24..36 => random.random_range(4..70),
        _ => random.random_range(70..400),
    };
    let row = |source| {
        let degree = degree(random);
        (source, (0..degree).map(|_| random.random_range(0..DESTINATIONS)).collect::<BTreeSet<_>>())
    };
    (0..SOURCES).map(row).collect()
}

fn edges_of(rows: &Rows, random: &mut SmallRng) -> Vec<(VertexId, VertexId)> {
    let pairs = rows.iter().flat_map(|(source, row)| row.iter().map(|destination| (*source, *destination)));
    let mut edges: Vec<_> = pairs.map(|(from, to)| (VertexId::new(from), VertexId::new(to))).collect();
    for last in (1..edges.len()).rev() {
        edges.swap(last, random.random_range(0..last + 1));
    }
    edges
}

fn check_rows(snapshot: &Snapshot, rows: &Rows) {
    snapshot.run(ProbeAll(rows)).unwrap();
    let scanned: Rows = scan::<()>(snapshot, LabelId::DEFAULT)
        .into_iter()
        .map(|(source, row)| (source, row.into_iter().map(|(destination, ())| destination).collect()))
        .collect();
    let filled: Rows =
        rows.iter().filter(|(_, row)| !row.is_empty()).map(|(source, row)| (*source, row.clone())).collect();
    assert_eq!(scanned, filled);
}

#[test]
fn a_search_does_not_find_neighbors_of_the_next_vertex() {
    for (seed, engine) in ENGINES.into_iter().enumerate() {
        for batch in [1, 700, usize::MAX] {
            let mut random = SmallRng::seed_from_u64(seed as u64);
            let graph = graph(engine, KeyKind::Dense);
            graph.add_vertex(u64::from(DESTINATIONS)).unwrap();
            let mut rows = random_rows(&mut random);
            let neighbors_of_the_next = rows.values().zip(rows.values().skip(1));
            assert!(neighbors_of_the_next.filter(|(row, next)| !next.is_subset(row)).count() > 50);
            let edges = edges_of(&rows, &mut random);
            let added = edges.chunks(batch.min(edges.len())).map(|some| match some {
                [(source, destination)] => {
                    graph.put_edge(LabelId::DEFAULT, source, destination).unwrap().edges_added
                }
                _ => graph.ingest(LabelId::DEFAULT, some).unwrap().edges_added,
            });
            assert!(is_count(engine, added.sum(), edges.len() as u64));
            let loaded = graph.snapshot().unwrap();
            check_rows(&loaded, &rows);

            // Rows that have shrunk, some to nothing, while a snapshot keeps their old state.
            let before = rows.clone();
            for (source, destination) in
                edges.iter().step_by(2).chain(edges.iter().filter(|(s, _)| s.get() % 5 == 0))
            {
                graph.delete_edge(LabelId::DEFAULT, source, destination).unwrap();
                rows.get_mut(&source.get()).unwrap().remove(&destination.get());
            }
            check_rows(&graph.snapshot().unwrap(), &rows);
            check_rows(&loaded, &before);
        }
    }
}

// --- vertices out of order, and deleted vertices ----------------------------------------------

#[test]
fn a_vertex_that_comes_after_a_larger_one_keeps_both_with_their_edges() {
    for engine in ENGINES {
        for kind in [KeyKind::Dense, KeyKind::Number] {
            let graph = graph(engine, kind);
            assert!(graph.add_vertex(1000).unwrap().changed == Some(true));
            graph.put_edge(LabelId::DEFAULT, 1000, 1001).unwrap();
            let before = graph.snapshot().unwrap();
            assert!(graph.add_vertex(10).unwrap().changed == Some(true));
            graph.put_edge(LabelId::DEFAULT, 10, 1000).unwrap();
            graph.put_edge(LabelId::DEFAULT, 10, 11).unwrap();
            graph.put_edge(LabelId::DEFAULT, 1000, 10).unwrap();
            let snapshot = graph.snapshot().unwrap();
            assert_eq!(snapshot.vertex_count(), 4, "{engine:?} {kind:?}");
            assert!(is_count(engine, snapshot.edge_count(), 4), "{engine:?} {kind:?}");
            let neighbors = |key: u64| -> BTreeSet<Key> {
                snapshot.neighbors(LabelId::DEFAULT, key).unwrap().into_iter().collect()
            };
            assert_eq!(neighbors(10), BTreeSet::from([11.into(), 1000.into()]));
            assert_eq!(neighbors(1000), BTreeSet::from([10.into(), 1001.into()]));
            assert!(graph.add_vertex(1000).unwrap().changed == Some(false));
            assert!(before.vertex_count() == 2 && is_count(engine, before.edge_count(), 1));
            assert!(!before.contains_vertex(10).unwrap());
        }
    }
}

#[test]
fn a_vertex_that_is_deleted_is_gone_for_new_readers_only_and_its_id_serves_again() {
    for engine in ENGINES {
        for kind in [KeyKind::Dense, KeyKind::Number, KeyKind::String] {
            for topology in [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected] {
                check_deleted_vertex(engine, kind, topology);
            }
        }
    }
}

fn check_deleted_vertex(engine: EngineKind, kind: KeyKind, topology: Topology) {
    let options = GraphOptions::new().engine(engine).keys(kind).topology(topology);
    let graph = Graph::in_memory(options).unwrap();
    let key = |number: u64| match kind {
        KeyKind::String => Key::Text(format!("vertex {number}").into()),
        _ => Key::Number(number),
    };
    let spokes = 1..2_000u64;
    graph
        .ingest(LabelId::DEFAULT, &spokes.clone().map(|spoke| (key(0), key(spoke))).collect::<Vec<_>>())
        .unwrap();
    graph.put_edge(LabelId::DEFAULT, key(5), key(0)).unwrap();
    let old = graph.snapshot().unwrap();
    let old_id = old.vertex_id(key(0)).unwrap().unwrap();
    let old_edges = old.edge_count();

    assert!(graph.delete_vertex(key(0)).unwrap().changed == Some(true));
    assert!(graph.delete_vertex(key(0)).unwrap().changed == Some(false));
    let without = graph.snapshot().unwrap();
    assert!(without.vertex_count() == 1_999 && is_count(engine, without.edge_count(), 0));
    assert!(!without.contains_vertex(key(0)).unwrap());
    assert!(without.neighbors(LabelId::DEFAULT, key(5)).unwrap().is_empty());
    assert_eq!(scanned_edges(&without), 0);

    // Puts other edges again, while the old snapshot reads the former vertex. Dense keys are ids,
    // so the id is the same; other keys reuse the id when it is no longer read.
    graph.put_edge(LabelId::DEFAULT, key(0), key(7)).unwrap();
    let again = graph.snapshot().unwrap();
    let id = again.vertex_id(key(0)).unwrap().unwrap();
    assert_eq!(id == old_id, kind == KeyKind::Dense, "{kind:?}");
    assert_eq!(again.neighbors(LabelId::DEFAULT, key(0)).unwrap(), [key(7)]);
    assert_eq!(old.vertex_id(key(0)).unwrap(), Some(old_id));
    assert_eq!(old.key(old_id).unwrap(), Some(key(0)));
    assert_eq!((old.vertex_count(), old.edge_count()), (2_000, old_edges));
    assert_eq!(old.neighbors(LabelId::DEFAULT, key(0)).unwrap().len(), 1_999);
    assert!(old.contains_edge(LabelId::DEFAULT, key(5), key(0)).unwrap());

    let bound = again.vertex_bound();
    drop((old, without, again));
    graph.reclaim().unwrap();
    graph.put_edge(LabelId::DEFAULT, key(9_999), key(7)).unwrap();
    let snapshot = graph.snapshot().unwrap();
    if kind != KeyKind::Dense {
        assert_eq!(snapshot.vertex_id(key(9_999)).unwrap(), Some(old_id), "{kind:?}");
        assert_eq!(snapshot.vertex_bound(), bound);
    }
    assert_eq!(snapshot.neighbors(LabelId::DEFAULT, key(9_999)).unwrap(), [key(7)]);
    assert_eq!(snapshot.neighbors(LabelId::DEFAULT, key(0)).unwrap(), [key(7)]);
}

// --- more snapshots than a table has slots -----------------------------------------------------

#[test]
fn any_number_of_snapshots_are_read_at_once_each_at_its_own_timestamp() {
    for engine in ENGINES {
        for count in [33, 34, 1_000] {
            check_snapshots_at_once(engine, count);
        }
    }
}

/// Every commit puts an edge and deletes another one; concurrent threads read one state each.
fn check_snapshots_at_once(engine: EngineKind, count: u64) {
    let graph = graph(engine, KeyKind::Dense);
    let first: Vec<(u64, u64)> = (0..count).map(|edge| (edge % 70, 100 + edge)).collect();
    graph.ingest(LabelId::DEFAULT, &first).unwrap();
    let commit = |number: u64| {
        let change = |transaction: &hedgerow::WriteTxn| {
            transaction.put_edge(LabelId::DEFAULT, number % 70, 2_000 + number)?;
            transaction.delete_edge(LabelId::DEFAULT, number % 70, 100 + number)
        };
        graph.transact(change).unwrap();
    };
    let all_open = Barrier::new(count as usize + 1);
    thread::scope(|scope| {
        for number in 0..count {
            commit(number);
            let snapshot = graph.snapshot().unwrap();
            let all_open = &all_open;
            scope.spawn(move || {
                all_open.wait();
                assert!(is_count(engine, snapshot.edge_count(), count));
                for (from, to) in [(0, number), (number, number + 1), (number + 1, count)] {
                    for other in
                        [from, to.saturating_sub(1)].into_iter().filter(|other| (from..to).contains(other))
                    {
                        let (put, deleted) = ((other % 70, 2_000 + other), (other % 70, 100 + other));
                        assert_eq!(
                            snapshot.contains_edge(LabelId::DEFAULT, put.0, put.1).unwrap(),
                            other <= number
                        );
                        assert_eq!(
                            snapshot.contains_edge(LabelId::DEFAULT, deleted.0, deleted.1).unwrap(),
                            other > number
                        );
                    }
                }
                let row = |vertex: u64| (vertex..count).step_by(70);
                let expected: Vec<Key> = row(number % 70)
                    .filter(|other| *other > number)
                    .map(|other| 100 + other)
                    .chain(row(number % 70).filter(|other| *other <= number).map(|other| 2_000 + other))
                    .map(Key::Number)
                    .collect();
                assert_eq!(snapshot.neighbors(LabelId::DEFAULT, number % 70).unwrap(), expected);
            });
        }
        let open = graph.snapshots();
        assert_eq!(open.len() as u64, count);
        assert!(open.is_sorted_by(|one, next| one.timestamp < next.timestamp));
        all_open.wait();
        // Concurrently with the readers.
        for number in 0..100 {
            graph.put_edge(LabelId::DEFAULT, number % 70, 5_000 + number).unwrap();
        }
    });
    assert!(!graph.reclaim().unwrap().more);
    assert_eq!(graph.memory().retained_bytes, 0);
}

// --- values that are read back wrong ------------------------------------------------------------

/// A column type, with values at its limits.
trait Extremes: Column + hedgerow::EdgeData + std::fmt::Debug {
    const VALUES: &'static [Self];
}

macro_rules! extremes {
    ($($column:ty: $values:expr),*) => { $(impl Extremes for $column { const VALUES: &'static [Self] = &$values; })* };
}

extremes! {
    u32: [0, 1, 7, 0x8000_0000, u32::MAX],
    u64: [0, 1, 7, 1 << 32, u64::MAX],
    i64: [0, -1, 7, i64::MIN, i64::MAX],
    f32: [0.0, -0.0, 1.5, f32::MIN_POSITIVE, f32::NEG_INFINITY, f32::NAN],
    f64: [0.0, -0.0, 1.5, f64::MIN_POSITIVE, f64::INFINITY, f64::NAN]
}

#[test]
fn edge_values_are_read_as_they_were_written() {
    for engine in ENGINES {
        for topology in [Topology::Directed, Topology::Undirected] {
            check_values::<u32>(engine, topology);
            check_values::<u64>(engine, topology);
            check_values::<i64>(engine, topology);
            check_values::<f32>(engine, topology);
            check_values::<f64>(engine, topology);
        }
    }
}

/// Values by edge, as bits: a NaN is not equal to itself.
type Values = BTreeMap<(u32, u32), u64>;

fn check_values<W: Extremes>(engine: EngineKind, topology: Topology) {
    let label = LabelSchema { name: "pays".to_owned(), edges: EdgeSchema::Value(W::TYPE) };
    let options =
        GraphOptions::new().engine(engine).keys(KeyKind::Dense).topology(topology).label_schema(label);
    let graph = Graph::in_memory(options).unwrap();
    let write = |state: &mut Values, source: VertexId, destination: VertexId, value: Option<W>| {
        let (source, destination) = (source.get(), destination.get());
        let mut ends = vec![(source, destination)];
        if topology.is_undirected() {
            ends.push((destination, source));
        }
        for end in ends {
            match value {
                Some(value) => state.insert(end, value.to_bits().0),
                None => state.remove(&end),
            };
        }
    };
    let value = |number: u32| W::VALUES[number as usize % W::VALUES.len()];

    // A large set, small ones around it, and rows over the border of a partition.
    let mut state = Values::new();
    let batch: Vec<(VertexId, VertexId, W)> = (0..1_300)
        .map(|number| (62, 100 + number))
        .chain((0..150).map(|number| (60 + number % 7, 64 + number * 31 % 400)))
        .zip(0..)
        .map(|((source, destination), number)| {
            (VertexId::new(source), VertexId::new(destination), value(number))
        })
        .collect();
    graph.ingest(LabelId::DEFAULT, &batch).unwrap();
    for (source, destination, value) in &batch {
        write(&mut state, *source, *destination, Some(*value));
    }
    check_state::<W>(&graph.snapshot().unwrap(), &state);

    let (old, old_state) = (graph.snapshot().unwrap(), state.clone());
    for (number, (source, destination, _)) in (1..).zip(batch.iter().step_by(3)) {
        graph.put_edge_with(LabelId::DEFAULT, source, destination, value(number)).unwrap();
        write(&mut state, *source, *destination, Some(value(number)));
    }
    for (source, destination, _) in batch.iter().step_by(7) {
        graph.delete_edge(LabelId::DEFAULT, source, destination).unwrap();
        write(&mut state, *source, *destination, None);
    }
    for (number, (source, destination, _)) in (2..).zip(batch.iter().step_by(14)) {
        graph.put_edge_with(LabelId::DEFAULT, source, destination, value(number)).unwrap();
        write(&mut state, *source, *destination, Some(value(number)));
    }
    check_state::<W>(&graph.snapshot().unwrap(), &state);
    check_state::<W>(&old, &old_state);
}

/// Reads by point, by a scan, and by rows.
fn check_state<W: Extremes>(snapshot: &Snapshot, state: &Values) {
    let label = LabelId::DEFAULT;
    for ((source, destination), bits) in state {
        let value = snapshot.get_edge::<W>(label, u64::from(*source), u64::from(*destination)).unwrap();
        assert_eq!(value.map(|value| value.to_bits().0), Some(*bits), "{source} -> {destination}");
    }
    let flat = |rows: BTreeMap<u32, Vec<(u32, W)>>| -> Values {
        let row = |(source, row): (u32, Vec<(u32, W)>)| {
            row.into_iter().map(move |(destination, value)| ((source, destination), value.to_bits().0))
        };
        rows.into_iter().flat_map(row).collect()
    };
    assert_eq!(&flat(scan::<W>(snapshot, label)), state, "by a scan");
    let mut by_rows = Values::new();
    snapshot
        .for_each_vertex(|id, key| {
            for (neighbor, value) in snapshot.edges::<W>((label, Direction::Out), key).unwrap() {
                let neighbor = snapshot.vertex_id(neighbor).unwrap().unwrap();
                by_rows.insert((id.get(), neighbor.get()), value.to_bits().0);
            }
        })
        .unwrap();
    assert_eq!(&by_rows, state, "by rows");
}

#[test]
fn vertex_properties_are_read_as_they_were_written() {
    let field = |name: &str, value_type| Field { name: name.to_owned(), value_type, nullable: true };
    for engine in ENGINES {
        let fields = vec![field("age", ValueType::I64), field("name", ValueType::String)];
        let options = GraphOptions::new().engine(engine).vertex_properties(RecordSchema { fields });
        let graph = Graph::in_memory(options).unwrap();
        let age = |vertex: u64, round: i64| Value::I64(vertex as i64 * 1000 - round);
        let name = |vertex: u64, round: i64| Value::String(format!("{vertex} in round {round}").into());
        let read = |snapshot: &Snapshot, vertex: u64| {
            snapshot.properties(vertex).unwrap().map(|record| record.values().to_vec())
        };
        let mut snapshots = Vec::new();
        for round in 0..3 {
            for vertex in 0..200 {
                graph.set_properties(vertex, &[("age", age(vertex, round))]).unwrap();
                if vertex % 3 == 0 {
                    graph.set_properties(vertex, &[("name", name(vertex, round))]).unwrap();
                }
                graph.put_edge(LabelId::DEFAULT, vertex, (vertex + 1) % 200).unwrap();
            }
            snapshots.push((round, graph.snapshot().unwrap()));
        }
        graph.set_properties(6, &[("age", Value::Null)]).unwrap();
        assert!(graph.delete_vertex(9).unwrap().changed == Some(true));
        graph.add_vertex(9).unwrap();
        let newest = graph.snapshot().unwrap();
        assert_eq!(read(&newest, 6), Some(vec![Value::Null, name(6, 2)]));
        assert_eq!(
            read(&newest, 9),
            Some(vec![Value::Null, Value::Null]),
            "a new vertex, not the former one"
        );
        assert_eq!(read(&newest, 200), None);
        for (round, snapshot) in &snapshots {
            for vertex in 0..200 {
                let named = if vertex % 3 == 0 { name(vertex, *round) } else { Value::Null };
                assert_eq!(
                    read(snapshot, vertex),
                    Some(vec![age(vertex, *round), named]),
                    "{vertex} in {round}"
                );
            }
        }
    }
}

// --- readers that lose edges while writers run -------------------------------------------------

#[test]
fn readers_never_see_fewer_edges_than_their_snapshot_holds() {
    ENGINES.into_iter().for_each(check_readers_lose_nothing);
}

/// Writers put edges that stay, and put and delete others, so that rows grow, shrink and move;
/// readers count.
fn check_readers_lose_nothing(engine: EngineKind) {
    const WRITERS: u64 = 2;
    const EDGES: u64 = 3_000;
    let graph = graph(engine, KeyKind::Dense);
    for vertex in 0..=4_000u64 {
        graph.add_vertex(vertex).unwrap();
    }
    // Half of the edges belong to one vertex, the others to two partitions.
    let edge = |writer: u64, number: u64| match number % 2 {
        0 => (64, number * WRITERS % 4_000 + writer),
        _ => (number * 7 % 128, number % 400 * WRITERS + writer),
    };
    let (done, stayed) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        let (graph, done, stayed) = (&graph, &done, &stayed);
        let write = move |writer| {
            for number in 0..EDGES {
                let (source, destination) = edge(writer, number);
                if graph.put_edge(LabelId::DEFAULT, source, destination).unwrap().edges_added == 1 {
                    stayed.fetch_add(1, Ordering::SeqCst);
                }
                let passing = (number % 130, 900 + number % 3_000);
                graph.put_edge(LabelId::DEFAULT, passing.0, passing.1).unwrap();
                if passing.0 != 64 {
                    graph.delete_edge(LabelId::DEFAULT, passing.0, passing.1).unwrap();
                }
            }
        };
        let read = move || {
            let first = graph.snapshot().unwrap();
            let first_edges = scanned_edges(&first);
            while !done.load(Ordering::SeqCst) {
                let returned = stayed.load(Ordering::SeqCst);
                let snapshot = graph.snapshot().unwrap();
                assert!(
                    snapshot.edge_count().at_most() >= returned,
                    "{} of {returned} edges",
                    snapshot.edge_count().at_most()
                );
                for _ in 0..3 {
                    assert!(is_count(engine, snapshot.edge_count(), scanned_edges(&snapshot)));
                    assert_eq!(scanned_edges(&first), first_edges);
                }
            }
        };
        let readers: Vec<_> = (0..2).map(|_| scope.spawn(read)).collect();
        let writers: Vec<_> = (0..WRITERS).map(|writer| scope.spawn(move || write(writer))).collect();
        let written: Vec<_> = writers.into_iter().map(thread::ScopedJoinHandle::join).collect();
        done.store(true, Ordering::SeqCst);
        written
            .into_iter()
            .chain(readers.into_iter().map(thread::ScopedJoinHandle::join))
            .for_each(Result::unwrap);
    });
    assert!(!graph.reclaim().unwrap().more);
    assert_eq!(graph.memory().retained_bytes, 0);
}
