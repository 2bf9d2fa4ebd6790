//! `kill -9` of a process under load, verified by the acknowledgements that it wrote.
//!
//! The environment variable `KILL_ROUNDS` sets the number of rounds; there are at least 20.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod killed;

use hedgerow::{Durability, Topology};
use hedgerow_isolation::Mistake;
use hedgerow_isolation::load::{Acknowledged, Promise, Round, Violation};
use killed::Killed;

/// Number of rounds on one store.
const ROUNDS_PER_STORE: u64 = 20;

const TOPOLOGIES: [Topology; 3] = [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected];

fn rounds() -> u64 {
    std::env::var("KILL_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(100).max(20)
}

/// Number of rounds without a sync per commit.
fn buffered_rounds() -> u64 {
    rounds() * 2 / 5
}

/// Kills a process under load `rounds` times, and verifies the store each time. The next process
/// continues on the same store.
fn kill(durability: Durability, promise: Promise, rounds: u64) -> Round {
    let mut total = Round::default();
    for number in 0..rounds.div_ceil(ROUNDS_PER_STORE) {
        let topology = TOPOLOGIES[number as usize % 3];
        let mut killed = Killed::new(number, topology, durability, Mistake::Nothing);
        for round in 0..ROUNDS_PER_STORE.min(rounds - number * ROUNDS_PER_STORE) {
            let round = killed.round(promise).unwrap_or_else(|violation| {
                panic!("store {number}, round {round}: {violation}; the store is kept in {}", killed.keep())
            });
            total.found += round.found;
            total.acknowledged += round.acknowledged;
            total.lost += round.lost;
            total.from_checkpoint += round.from_checkpoint;
        }
    }
    println!("{rounds} kills, {durability:?}: {total:?}");
    // Some commits per round, even though some processes are killed before their first commit.
    assert!(total.acknowledged > 10 * rounds, "hardly anything was committed: {total:?}");
    assert!(total.from_checkpoint > 0, "no process made a checkpoint: {total:?}");
    total
}

/// Under `Sync`, no acknowledged commit is lost, and the store has a prefix of the commits, each
/// whole.
#[test]
fn what_was_acknowledged_survives_a_kill() {
    let total = kill(Durability::Sync, Promise::EveryCommit, rounds() - buffered_rounds());
    assert_eq!(total.lost, 0);
}

/// Under `Buffered`, the newest commits may be lost, but none before a flush, a checkpoint or a
/// commit that requested more durability.
#[test]
fn what_was_flushed_survives_a_kill_without_sync() {
    let total = kill(Durability::Buffered, Promise::WhatIsDurable, buffered_rounds());
    assert!(total.lost > 0, "what waits in memory is lost, or this does not kill where it should: {total:?}");
}

/// Returns the violation that a mistake causes within 20 rounds.
fn find(durability: Durability, mistake: Mistake) -> Violation {
    let mut killed = Killed::new(7, Topology::Directed, durability, mistake);
    let found = (0..20).find_map(|_| killed.round(Promise::EveryCommit).err());
    found.expect("a planted mistake is found")
}

#[test]
fn a_commit_in_two_parts_is_found() {
    let found = find(Durability::Sync, Mistake::Split);
    assert!(matches!(found, Violation::NoSuchState { .. } | Violation::Count { .. }), "{found}");
}

#[test]
fn an_acknowledgement_before_the_commit_is_found() {
    let found = find(Durability::Sync, Mistake::Early);
    assert!(matches!(found, Violation::NoSuchState { .. }), "{found}");
}

#[test]
fn an_acknowledgement_that_does_not_wait_for_the_log_is_found() {
    let found = find(Durability::Buffered, Mistake::Nothing);
    assert!(matches!(found, Violation::Lost { .. }), "{found}");
}

/// Acknowledgements contain the order of commits in the ledger. A wrong order is found.
#[test]
fn another_order_than_the_acknowledged_one_is_found() {
    let mut killed = Killed::new(8, Topology::Directed, Durability::Sync, Mistake::Nothing);
    let found = (0..20).find_map(|_| {
        let told = killed.kill();
        let graph = killed.open()?;
        let mut verifier = killed.verifier.clone();
        killed.verifier.verify(&graph, &told, Promise::EveryCommit).unwrap();
        let mut wrong = told;
        let chained = wrong.iter_mut().rev().find_map(|told| match told {
            Acknowledged::Committed { chained: Some(position), .. } => Some(position),
            _ => None,
        });
        *chained? -= 1;
        verifier.verify(&graph, &wrong, Promise::EveryCommit).err()
    });
    assert!(matches!(found, Some(Violation::Ledger(_))), "{found:?}");
}
