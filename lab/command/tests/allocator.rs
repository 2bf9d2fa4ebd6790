//! The memory that research engines count, compared with the allocated bytes.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use hedgerow::{EngineKind, Graph, GraphOptions, KeyKind, LabelId, WriteGraph};
use hedgerow_lab_engines::ADJACENCY_LIST;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicIsize, Ordering};

/// Bytes that are allocated now.
static ALLOCATED: AtomicIsize = AtomicIsize::new(0);

struct Counting;

// SAFETY: the system's allocator does everything.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn in_use() -> isize {
    ALLOCATED.load(Ordering::Relaxed)
}

/// Returns the allocated bytes beyond those that the engine counts, in percent of these. `rest` is
/// the memory of the remainder of the graph.
fn excess(graph: &Graph, rest: isize) -> f64 {
    let counted = graph.memory().total_bytes() as f64;
    ((in_use() - rest) as f64 - counted) / counted * 100.0
}

#[test]
fn adjacency_lists_count_what_they_allocate() {
    let before = in_use();
    let options = GraphOptions::new().engine(EngineKind::Erased(&ADJACENCY_LIST));
    let graph = Graph::in_memory(options.keys(KeyKind::Dense).threads(1)).unwrap();
    let rest = in_use() - graph.memory().total_bytes() as isize;
    let edges = |step: u64| (0..200_000u64).map(move |edge| (edge * 7919 % 4096, edge * step % 4093));
    for (source, destination) in edges(31) {
        graph.put_edge(LabelId::DEFAULT, source, destination).unwrap();
    }
    assert!(excess(&graph, rest).abs() < 0.1, "loaded: {} %", excess(&graph, rest));

    let snapshot = graph.snapshot().unwrap();
    for (source, destination) in edges(31).step_by(3) {
        graph.delete_edge(LabelId::DEFAULT, source, destination).unwrap();
    }
    for (source, destination) in edges(37) {
        graph.put_edge(LabelId::DEFAULT, source, destination).unwrap();
    }
    // Each version is counted with the note that files it; the list of notes has spare capacity for
    // the same number again.
    let notes = graph.memory().retained_bytes as f64 / graph.memory().total_bytes() as f64 * 100.0;
    let pinned = excess(&graph, rest);
    assert!((-0.1..notes).contains(&pinned), "with a snapshot: {pinned} %");

    drop(snapshot);
    assert!(!graph.reclaim().unwrap().more);
    assert!(excess(&graph, rest).abs() < 0.1, "reclaimed: {} %", excess(&graph, rest));
    drop(graph);
    // The thread keeps a little memory for the next graph.
    assert!(in_use() - before < 1 << 12);
}
