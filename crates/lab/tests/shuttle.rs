//! The concurrency contract of the adjacency lists under the model checker:
//! `RUSTFLAGS="--cfg hedgerow_shuttle" CARGO_TARGET_DIR=target/shuttle cargo test -p hedgerow-lab --test shuttle`
#![cfg(hedgerow_shuttle)]

#[path = "../../rapid/tests/scenario/mod.rs"]
mod scenario;
mod subject;

use scenario::{join, spawn};
use subject::Graph;

/// Runs a scenario under random schedules, and under schedules with few preemptions.
fn check(scenario: fn()) {
    let iterations = std::env::var("SHUTTLE_ITERATIONS").ok().and_then(|count| count.parse().ok());
    let iterations: usize = iterations.unwrap_or(3000);
    shuttle::check_random(scenario, iterations);
    shuttle::check_pct(scenario, iterations, 3);
}

/// An edge is put, deleted and put again while snapshots read it and a reclamation frees what is dead.
#[test]
fn one_edge_with_a_writer_a_reader_and_a_reclaimer() {
    check(|| {
        let graph = Graph::new(1);
        let threads = vec![
            spawn(&graph, |graph| graph.write(0, 1..=4)),
            spawn(&graph, |graph| (0..2).for_each(|_| graph.open().read(2))),
            spawn(&graph, |graph| (0..2).for_each(|_| graph.reclaim())),
        ];
        join(&graph, threads);
    });
}

/// Two writers of one vertex and two readers that hold different timestamps.
#[test]
fn one_edge_with_two_writers_and_two_readers() {
    check(|| {
        let graph = Graph::new(1);
        let mut threads = vec![
            spawn(&graph, |graph| graph.write(0, 10..12)),
            spawn(&graph, |graph| graph.write(0, 20..22)),
        ];
        for _ in 0..2 {
            threads.push(spawn(&graph, |graph| graph.open().read(2)));
            threads.push(spawn(&graph, |graph| graph.reclaim()));
        }
        join(&graph, threads);
    });
}

/// Two writers of two vertices stamp and apply in different orders; a snapshot sees whole prefixes.
#[test]
fn two_edges_with_two_writers() {
    check(|| {
        let graph = Graph::new(2);
        let threads = vec![
            spawn(&graph, |graph| graph.write(0, 1..=3)),
            spawn(&graph, |graph| graph.write(1, 1..=3)),
            spawn(&graph, |graph| (0..2).for_each(|_| graph.open().read(1))),
            spawn(&graph, |graph| graph.reclaim()),
        ];
        join(&graph, threads);
    });
}

/// A deletion that one snapshot sees lies between two states that others see.
#[test]
fn a_deletion_between_two_snapshots() {
    check(|| {
        let graph = Graph::new(1);
        graph.write(0, [1]);
        let before = graph.open();
        graph.write(0, [3]);
        let deleted = graph.open();
        let threads = vec![
            spawn(&graph, |graph| graph.write(0, [4, 6])),
            spawn(&graph, move |_| deleted.read(2)),
            spawn(&graph, |graph| {
                drop(before);
                graph.reclaim();
            }),
        ];
        join(&graph, threads);
    });
}

/// A snapshot opens, and what it sees is superseded, after a reclamation has asked who reads.
#[test]
fn a_reclamation_may_know_less_than_there_is() {
    check(|| {
        let graph = Graph::new(1);
        graph.write(0, [1]);
        let threads = vec![
            spawn(&graph, |graph| {
                let snapshot = graph.open();
                graph.write(0, [3]);
                snapshot.read(2);
            }),
            spawn(&graph, |graph| graph.reclaim()),
        ];
        join(&graph, threads);
    });
}
