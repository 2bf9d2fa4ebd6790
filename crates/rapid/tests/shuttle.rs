//! The concurrency contract under the model checker:
//! `RUSTFLAGS="--cfg hedgerow_shuttle" CARGO_TARGET_DIR=target/shuttle cargo test -p hedgerow-rapid --test shuttle`
#![cfg(hedgerow_shuttle)]

mod scenario;

use scenario::{Graph, join, spawn};

/// Runs a scenario under random schedules, and under schedules with few preemptions.
fn check(scenario: fn()) {
    shuttle::check_random(scenario, 3000);
    shuttle::check_pct(scenario, 3000, 3);
}

/// A head is pushed or replaced while snapshots open, read and close, and a reclamation frees what is dead.
#[test]
fn one_chain_with_a_writer_a_reader_and_a_reclaimer() {
    check(|| {
        let graph = Graph::new(1);
        let threads = vec![
            spawn(&graph, |graph| graph.write(0, 1..=4)),
            spawn(&graph, |graph| (0..2).for_each(|_| graph.read(2))),
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
            threads.push(spawn(&graph, |graph| graph.read(2)));
            threads.push(spawn(&graph, Graph::reclaim));
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
            spawn(&graph, |graph| (0..2).for_each(|_| graph.read(1))),
            spawn(&graph, Graph::reclaim),
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
            spawn(&graph, |graph| graph.read(2)),
            spawn(&graph, Graph::reclaim),
        ];
        join(&graph, threads);
    });
}
