//! The memory that a graph reports, compared with the memory that the allocator handed out.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg(not(hedgerow_shuttle))]

use hedgerow::{
    EdgeSchema, EdgeUpdate, EngineKind, Field, Graph, GraphOptions, Key, KeyKind, LabelId, LabelSchema,
    ReadGraph, RecordSchema, Topology, ValueType, WriteGraph,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicIsize, Ordering};

/// The number of bytes that are allocated now.
static ALLOCATED: AtomicIsize = AtomicIsize::new(0);

struct Counting;

// SAFETY: every call is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller meets the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller meets the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns the bytes that the allocator handed out or engines mapped, without free memory in the
/// pool of `rapid`.
fn in_use() -> isize {
    let pool = hedgerow_rapid::pool_use();
    let all = ALLOCATED.load(Ordering::Relaxed) + hedgerow_in_memory::reclamation::mapped_bytes() as isize;
    all - (pool.region_bytes - pool.used_bytes) as isize
}

/// Returns the excess of allocated bytes over the bytes that the engine counts, in percent of the
/// latter. `rest` are the bytes of the remainder of the graph.
fn excess(graph: &Graph, rest: isize) -> f64 {
    let counted = graph.memory().total_bytes() as f64;
    ((in_use() - rest) as f64 - counted) / counted * 100.0
}

/// One test, so that no other test allocates.
#[test]
fn engines_count_what_they_allocate() {
    records();
    rapid();
    dictionary();
    blocked_reader();
}

/// Keys of every kind are counted, and no longer once the graph has deleted them.
fn dictionary() {
    for (kind, bytes) in [(KeyKind::Number, 0), (KeyKind::String, 8), (KeyKind::String, 200)] {
        let graph = Graph::in_memory(GraphOptions::new().keys(kind).threads(1)).unwrap();
        let rest = in_use() - graph.memory().total_bytes() as isize;
        let key = |number: u64| match kind {
            KeyKind::String => Key::Text(format!("{number:bytes$}").into()),
            _ => Key::Number(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
        };
        let mut next = 0;
        for vertices in [1_000, 8_000, 15_000, 30_000, 60_000] {
            while next < vertices {
                graph.add_vertex(key(next)).unwrap();
                next += 1;
            }
            let excess = excess(&graph, rest);
            assert!((-30.0..5.0).contains(&excess), "{vertices} keys of {bytes} bytes: {excess} %");
        }
        (0..next).for_each(|number| assert!(graph.delete_vertex(key(number)).unwrap().changed == Some(true)));
        graph.reclaim().unwrap();
        let left = graph.memory().index_bytes;
        // The remains are the slots of ids, each with a key and a timestamp, and the list of free
        // ids.
        let slots = next as usize * 3 * size_of::<u64>();
        assert!(left < slots, "{left} bytes are counted of {next} keys that are gone");
    }
}

/// Records are counted, kept for snapshots, and gone with the graph.
fn records() {
    let before = in_use();
    let note = Field { name: "note".to_owned(), value_type: ValueType::String, nullable: true };
    let edges = EdgeSchema::Record(RecordSchema { fields: vec![note] });
    let options = GraphOptions::new().keys(KeyKind::Dense).threads(1).topology(Topology::Undirected);
    let graph =
        Graph::in_memory(options.label_schema(LabelSchema { name: "pays".to_owned(), edges })).unwrap();
    let rest = in_use() - graph.memory().total_bytes() as isize;
    let put = |round: usize| {
        for edge in 0..20_000u64 {
            let note = "x".repeat((edge as usize + round) % 90);
            let update = EdgeUpdate::put().set("note", &*note);
            graph.update_edge(LabelId::DEFAULT, edge * 7919 % 512, edge * 31 % 509, &update).unwrap();
        }
    };
    put(0);
    assert!(excess(&graph, rest).abs() < 1.0, "loaded: {} %", excess(&graph, rest));
    let snapshot = graph.snapshot().unwrap();
    put(1);
    let once = graph.memory().total_bytes();
    (2..6).for_each(put);
    let again = graph.memory().total_bytes();
    assert!(again < once + once / 100, "one snapshot keeps one record of each edge: {once}, then {again}");
    drop(snapshot);
    reclaim_all(&graph);
    assert_eq!(graph.memory().retained_bytes, 0);
    assert!(excess(&graph, rest).abs() < 1.0, "reclaimed: {} %", excess(&graph, rest));
    drop(graph);
    let left = in_use() - before;
    assert!(left < UNCOUNTED, "{left} bytes are left of a graph that is gone");
}

/// Reclaims all garbage that no snapshot sees.
fn reclaim_all(graph: &Graph) {
    assert!(!graph.reclaim().unwrap().more);
}

/// Bound on allocations that are not counted: reader slots, the queues of epoch and sequencer, and
/// the list of superseded versions.
const UNCOUNTED: isize = 16 << 10;

/// Checks that counted bytes and free bytes in the pool match the allocated bytes.
fn check(graph: &Graph, rest: isize, when: &str) {
    let (counted, allocated) = (graph.memory().total_bytes() as isize, in_use() - rest);
    assert!(
        (counted - allocated).abs() <= UNCOUNTED,
        "{when}: {counted} bytes counted, {allocated} allocated"
    );
}

/// The vertices that are updated: 64 partitions with small rows, and a large set in each fourth.
const SOURCES: u64 = 4096;

fn rapid() {
    let before = in_use();
    let options = GraphOptions::new().engine(EngineKind::Rapid).keys(KeyKind::Dense).threads(1);
    let graph = Graph::in_memory(options).unwrap();
    let rest = in_use() - graph.memory().total_bytes() as isize;
    let load = |graph: &Graph| {
        for edge in 0..1_000_000u64 {
            graph.put_edge(LabelId::DEFAULT, edge * 7919 % SOURCES, edge * 31 % 4093).unwrap();
        }
        for edge in 0..40_000u64 {
            graph.put_edge(LabelId::DEFAULT, edge % 16 * 256, edge * 7 % 8191).unwrap();
        }
    };
    load(&graph);
    check(&graph, rest, "loaded");
    let loaded = graph.memory().total_bytes();

    // Many updates of the same rows under one snapshot copy each partition once.
    let snapshot = graph.snapshot().unwrap();
    let update = |round: u64| {
        for edge in (0..1_000_000u64).step_by(7) {
            let (source, destination) = (edge * 7919 % SOURCES, edge * 31 % 4093);
            match round % 2 {
                0 => assert!(
                    graph.delete_edge(LabelId::DEFAULT, source, destination).unwrap().changed == Some(true)
                ),
                _ => assert!(
                    graph.put_edge(LabelId::DEFAULT, source, destination).unwrap().changed != Some(false)
                ),
            }
        }
        (graph.memory().total_bytes(), in_use() - rest)
    };
    update(0);
    let first = update(1);
    let last = (2..12).fold(first, |_, round| update(round));
    assert!(last.0 <= 2 * loaded + loaded / 4, "{last:?} bytes, {loaded} without the snapshot");
    for (first, last) in [(first.0 as isize, last.0 as isize), (first.1, last.1)] {
        assert!(last < first + first / 100, "{first} bytes after two rounds of updates, {last} after twelve");
    }
    check(&graph, rest, "with a snapshot");

    drop(snapshot);
    reclaim_all(&graph);
    assert_eq!(graph.memory().retained_bytes, 0);
    check(&graph, rest, "reclaimed");
    assert!(graph.memory().total_bytes() < loaded + loaded / 8, "{:?}, {loaded} before", graph.memory());
    let pool = hedgerow_rapid::pool_use();
    assert_eq!(graph.memory().reserved_bytes, pool.free_bytes());
    assert!(pool.used_bytes <= graph.memory().total_bytes());
    // Checked builds do not use the pool.
    assert!(pool.free_bytes() > 0 || pool.region_bytes == 0);

    // A snapshot is opened and closed every few updates, and retains nothing afterwards.
    for edge in 0..20_000u64 {
        let snapshot = graph.snapshot().unwrap();
        let deleted = graph.delete_edge(LabelId::DEFAULT, edge * 7919 % SOURCES, edge * 31 % 4093).unwrap();
        assert!(
            deleted.changed == Some(false)
                || snapshot.contains_edge(LabelId::DEFAULT, edge * 7919 % SOURCES, edge * 31 % 4093).unwrap()
        );
    }
    reclaim_all(&graph);
    assert_eq!(graph.memory().retained_bytes, 0);
    check(&graph, rest, "after many snapshots");

    drop(graph);
    assert!(in_use() - before < 1 << 14, "{} bytes are left", in_use() - before);
    assert_eq!(hedgerow_rapid::pool_use().used_bytes, 0);
}

/// While a reader stays inside a callback of another graph, rewriting a hub again and again takes
/// no more memory, and its graph frees everything.
fn blocked_reader() {
    for &engine in EngineKind::ALL.iter().filter(|engine| !engine.owns_files()) {
        let graph = || {
            let options = GraphOptions::new().engine(engine).keys(KeyKind::Dense).threads(1);
            let graph = Graph::in_memory(options).unwrap();
            graph.ingest(LabelId::DEFAULT, &[(2_u64, 3_u64)]).unwrap();
            graph
        };
        let read = graph();
        let hub: Vec<(u64, u64)> = (0..20_000).map(|spoke| (1, 100 + spoke)).collect();
        let snapshot = read.snapshot().unwrap();
        let before = in_use();
        let flow = snapshot.visit_neighbors(LabelId::DEFAULT, 2_u64, |_| {
            let written = graph();
            let rest = in_use() - written.memory().total_bytes() as isize;
            let rewrite = |times: usize| {
                for _ in 0..times {
                    written.ingest(LabelId::DEFAULT, &hub).unwrap();
                    written.delete_each(LabelId::DEFAULT, &hub[..15_000]).unwrap();
                    written.reclaim().unwrap();
                }
                in_use() - rest
            };
            let first = rewrite(10);
            let last = rewrite(60);
            assert!(
                last < first + first / 4,
                "{engine:?}: {first} bytes after ten times, {last} after seventy"
            );
            ControlFlow::Break(())
        });
        assert!(flow.unwrap().is_break());
        let left = in_use() - before;
        assert!(left < UNCOUNTED, "{engine:?}: {left} bytes are left of a graph that is gone");
    }
}
