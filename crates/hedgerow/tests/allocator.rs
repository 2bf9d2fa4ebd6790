//! What a graph says that it holds, against what the allocator gave it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg(not(hedgerow_shuttle))]

use hedgerow::{EngineKind, Graph, GraphOptions, KeyKind};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicIsize, Ordering};

/// Bytes that are allocated now.
static ALLOCATED: AtomicIsize = AtomicIsize::new(0);

struct Counting;

// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What the allocator gave beyond what the engine counts, in percent of that. `rest` is what the
/// remainder of the graph takes.
fn excess(graph: &Graph, rest: isize) -> f64 {
    let counted = graph.memory().total_bytes() as f64;
    let allocated = (ALLOCATED.load(Ordering::Relaxed) - rest) as f64;
    (allocated - counted) / counted * 100.0
}

/// Of an engine that frees at once. `rapid` leaves what it unlinks to the epoch for a while, and
/// then no moment tells exactly.
///
/// One test, so that nobody else allocates.
#[test]
fn adjacency_lists_count_what_they_allocate() {
    let before = ALLOCATED.load(Ordering::Relaxed);
    let options = GraphOptions::new().engine(EngineKind::AdjacencyList).keys(KeyKind::Dense).threads(1);
    let graph = Graph::in_memory(options).unwrap();
    let rest = ALLOCATED.load(Ordering::Relaxed) - graph.memory().total_bytes() as isize;
    let edges = |step: u64| (0..200_000u64).map(move |edge| (edge * 7919 % 4096, edge * step % 4093));
    for (source, destination) in edges(31) {
        graph.put_edge(source, destination).unwrap();
    }
    assert!(excess(&graph, rest).abs() < 0.1, "loaded: {} %", excess(&graph, rest));

    let snapshot = graph.snapshot().unwrap();
    for (source, destination) in edges(31).step_by(3) {
        graph.delete_edge(source, destination).unwrap();
    }
    for (source, destination) in edges(37) {
        graph.put_edge(source, destination).unwrap();
    }
    // Each version is counted with the note that files it; the list of notes has room for as many again.
    let notes = graph.memory().retained_bytes as f64 / graph.memory().total_bytes() as f64 * 100.0;
    let pinned = excess(&graph, rest);
    assert!((-0.1..notes).contains(&pinned), "with a snapshot: {pinned} %");

    drop(snapshot);
    assert!(!graph.reclaim().more);
    assert!(excess(&graph, rest).abs() < 0.1, "reclaimed: {} %", excess(&graph, rest));
    drop(graph);
    // A little is kept by the thread, for the next graph.
    assert!(ALLOCATED.load(Ordering::Relaxed) - before < 1 << 12);
}
