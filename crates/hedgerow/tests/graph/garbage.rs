//! The work to free superseded versions, on every engine: n log n steps for n versions of one unit,
//! and a bounded amount in each call. Counted, not timed.

use crate::engines::EXAMPLE;
use crate::oracle::ENGINES;
use hedgerow::EngineKind;
use hedgerow::prelude::*;
use hedgerow_in_memory::reclamation::account::measure_compared;

const VERSIONS: usize = 3000;

/// Versions that the collector visits per freed version: bisections, and shared walks.
const STEPS_PER_VERSION: u64 = 64;

/// The most bytes that a call frees after a commit of one change.
const MOST_BYTES: usize = 2 << 20;

/// A unit that is changed again and again.
#[derive(Clone, Copy, Debug)]
enum Unit {
    Edge,
    Vertex,
}

/// The properties of a vertex or an edge.
#[derive(Properties)]
struct Says {
    text: Option<String>,
}

fn says(text: String) -> Says {
    Says { text: Some(text) }
}

fn graph(engine: EngineKind) -> (Graph, Label<Says>) {
    let options = GraphOptions::new().engine(engine).label::<Says>("says").vertices::<Says>();
    let graph = Graph::in_memory(options).unwrap();
    let label = graph.label("says").unwrap();
    (graph, label)
}

/// Changes the unit, each time under a snapshot of its own.
fn versions(graph: &Graph, label: Label<Says>, unit: Unit, text: &str) -> Vec<Snapshot> {
    let version = |number: usize| {
        let says = says(format!("{text}{number}"));
        match unit {
            Unit::Edge => graph.put_edge_with(label, 1, 2, says).unwrap(),
            Unit::Vertex => graph.put_vertex(1, &says).unwrap(),
        };
        graph.snapshot().unwrap()
    };
    (0..VERSIONS).map(version).collect()
}

/// Orders snapshots for dropping.
type Order = fn(Vec<Snapshot>) -> Vec<Snapshot>;

fn orders() -> [(&'static str, Order); 3] {
    fn reversed(mut open: Vec<Snapshot>) -> Vec<Snapshot> {
        open.reverse();
        open
    }
    fn every_second_first(open: Vec<Snapshot>) -> Vec<Snapshot> {
        let (even, odd): (Vec<_>, Vec<_>) =
            open.into_iter().enumerate().partition(|(number, _)| number % 2 == 0);
        even.into_iter().chain(odd).map(|(_, snapshot)| snapshot).collect()
    }
    [("oldest first", |open| open), ("newest first", reversed), ("every second first", every_second_first)]
}

#[test]
fn the_versions_of_one_unit_are_freed_in_n_log_n_steps() {
    for engine in ENGINES {
        for unit in [Unit::Edge, Unit::Vertex] {
            for (order, in_order) in orders() {
                let (graph, label) = graph(engine);
                let mut open = in_order(versions(&graph, label, unit, ""));
                let ((), steps) = measure_compared(|| {
                    while !open.is_empty() {
                        open.drain(..VERSIONS / 50);
                        graph.put_edge_with(label, 3, 4, says(open.len().to_string())).unwrap();
                    }
                    graph.reclaim().unwrap();
                });
                assert_eq!(graph.memory().retained_bytes, 0, "{engine} {unit:?} {order}");
                let most = VERSIONS as u64 * STEPS_PER_VERSION;
                assert!(steps <= most, "{engine} {unit:?} {order}: {steps} steps for {VERSIONS} versions");
            }
        }
    }
}

#[test]
fn the_last_snapshot_leaves_what_is_more_than_a_step_to_later_calls() {
    let long = "x".repeat(2000);
    // The example drops everything in one step.
    for engine in ENGINES.into_iter().filter(|engine| *engine != EXAMPLE) {
        for unit in [Unit::Edge, Unit::Vertex] {
            let (graph, label) = graph(engine);
            let open = versions(&graph, label, unit, &long);
            let retained = || graph.memory().retained_bytes;
            let before = retained();
            assert!(before > 2 * MOST_BYTES, "{engine} {unit:?}: {before}");
            drop(open);
            let mut left = retained();
            assert!(before - left <= MOST_BYTES, "{engine} {unit:?}: {left} of {before} are left");
            let mut calls = 0;
            while retained() >= 1 << 20 {
                graph.put_edge_with(label, 3, 4, says(left.to_string())).unwrap();
                drop(graph.snapshot().unwrap());
                assert!(
                    retained() < left && left - retained() <= 2 * MOST_BYTES,
                    "{engine} {unit:?}: of {left}"
                );
                left = retained();
                calls += 1;
            }
            assert!(calls <= before >> 20, "{engine} {unit:?}: {calls} calls for {before} bytes");
            graph.reclaim().unwrap();
            assert_eq!(retained(), 0, "{engine} {unit:?}");
        }
    }
}
