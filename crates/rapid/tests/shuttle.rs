//! The concurrency contract under the model checker:
//! `RUSTFLAGS="--cfg hedgerow_shuttle" CARGO_TARGET_DIR=target/shuttle cargo test -p hedgerow-rapid --test shuttle`
#![cfg(hedgerow_shuttle)]

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

/// A head is pushed or replaced while snapshots open, read and close, and a reclamation frees what is dead.
#[test]
fn one_chain_with_a_writer_a_reader_and_a_reclaimer() {
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

/// Two readers hold different timestamps, between which versions die; two reclamations meet.
#[test]
fn one_chain_with_two_readers_and_two_reclaimers() {
    check(|| {
        let graph = Graph::new(1);
        let mut threads = vec![spawn(&graph, |graph| graph.write(0, 1..=4))];
        for _ in 0..2 {
            threads.push(spawn(&graph, |graph| graph.open().read(2)));
            threads.push(spawn(&graph, |graph| graph.reclaim()));
        }
        join(&graph, threads);
    });
}

/// Two writers of two chains stamp and apply in different orders; a snapshot sees whole prefixes.
#[test]
fn two_chains_with_two_writers() {
    check(|| {
        let graph = Graph::new(2);
        let threads = vec![
            spawn(&graph, |graph| graph.write(0, 1..=2)),
            spawn(&graph, |graph| graph.write(1, 1..=2)),
            spawn(&graph, |graph| (0..2).for_each(|_| graph.open().read(1))),
            spawn(&graph, |graph| graph.reclaim()),
        ];
        join(&graph, threads);
    });
}

/// Two writers of one chain.
#[test]
fn one_chain_with_two_writers() {
    check(|| {
        let graph = Graph::new(1);
        let threads = vec![
            spawn(&graph, |graph| graph.write(0, 10..12)),
            spawn(&graph, |graph| graph.write(0, 20..22)),
            spawn(&graph, |graph| graph.open().read(2)),
            spawn(&graph, |graph| graph.reclaim()),
        ];
        join(&graph, threads);
    });
}

/// A version is filed under the newer of two snapshots that see it, and has to outlive that one.
#[test]
fn garbage_moves_to_an_older_snapshot() {
    check(|| {
        let graph = Graph::new(2);
        graph.write(0, [1]);
        let older = graph.open();
        graph.write(1, [1]);
        let newer = graph.open();
        let threads = vec![
            spawn(&graph, |graph| graph.write(0, [2, 3])),
            spawn(&graph, move |_| older.read(3)),
            spawn(&graph, |graph| {
                drop(newer);
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
                graph.write(0, [2]);
                snapshot.read(2);
            }),
            spawn(&graph, |graph| graph.reclaim()),
        ];
        join(&graph, threads);
    });
}

/// A reader walks over heads that are replaced under it.
#[test]
fn a_walk_over_replaced_heads() {
    check(|| {
        let graph = Graph::new(1);
        graph.write(0, [1]);
        let snapshot = graph.open();
        graph.write(0, [2]);
        let threads =
            vec![spawn(&graph, |graph| graph.write(0, [3, 4])), spawn(&graph, move |_| snapshot.read(2))];
        join(&graph, threads);
    });
}
