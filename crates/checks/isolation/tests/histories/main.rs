//! Isolation judged from outside: histories of lists under load, with checkpoints and `kill -9`.
//!
//! The environment variable `CHECKED_HISTORIES` sets the number of histories,
//! `HISTORY_TRANSACTIONS` their length. Each run records other histories ([`Sample::cases`]).

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod checker;
mod history;
mod planted;
mod server;

use checker::judge;
use hedgerow::Durability;
use hedgerow_isolation::Mistake;
use hedgerow_isolation::lists::Transactions;
use hedgerow_testing::sample::Sample;
use history::{Scenario, record, transactions};

/// Number of kinds of transactions, each with the same number of histories.
const KINDS: u64 = 4;

fn histories() -> u64 {
    let all: u64 = std::env::var("CHECKED_HISTORIES").ok().and_then(|count| count.parse().ok()).unwrap_or(60);
    all.div_ceil(KINDS)
}

/// Records histories that `model` must allow. Returns the number of histories that are not
/// serializable.
fn check(kind: Transactions, model: &str) -> u64 {
    let (mut committed, mut failed, mut unknown, mut skewed) = (0, 0, 0, 0);
    let sample = Sample::of_run();
    for number in sample.cases(histories()) {
        let scenario = Scenario::new(kind, number);
        let mut history = record(&scenario, model);
        assert!(history.valid, "{scenario:?} is not {model}:\n{}", history.keep());
        if kind == Transactions::Declared {
            assert_eq!(history.failed, 0, "a declared transaction is never in conflict");
        }
        if kind == Transactions::Snapshot {
            skewed += u64::from(!judge(&history.path(), "serializable").valid);
        }
        committed += history.committed;
        failed += history.failed;
        unknown += history.unknown;
    }
    let all = histories() * transactions();
    println!(
        "{kind:?}, {all} transactions: {committed} committed, {failed} failed, {unknown} unknown, {skewed} histories skewed"
    );
    assert!(2 * committed as u64 > all, "{committed} of {all} transactions committed");
    assert!(unknown > 0, "no transaction was under way when the server was killed");
    skewed
}

#[test]
fn snapshot_transactions_are_snapshot_isolated() {
    let skewed = check(Transactions::Snapshot, "strong-snapshot-isolation");
    assert!(skewed > 0, "transactions overlap, so that some histories are no more than that");
}

#[test]
fn serializable_transactions_are_strictly_serializable() {
    check(Transactions::Serializable, "strict-serializable");
}

#[test]
fn declared_transactions_are_strictly_serializable() {
    check(Transactions::Declared, "strict-serializable");
}

#[test]
fn declared_and_serializable_transactions_are_strictly_serializable_together() {
    check(Transactions::Mixed, "strict-serializable");
}

/// Checks that the checker finds a mistake in at least one of three histories.
fn find(model: &str, scenario: impl Fn(u64) -> Scenario) {
    let found = (1..4).any(|number| !record(&scenario(number), model).valid);
    assert!(found, "{:?} is not {model}", scenario(1));
}

#[test]
fn a_transaction_in_two_parts_is_found() {
    let split = |number| Scenario {
        mistake: Mistake::Split,
        kills: 0,
        ..Scenario::new(Transactions::Snapshot, number)
    };
    find("snapshot-isolation", split);
}

#[test]
fn an_answer_before_the_commit_is_found() {
    let early = |number| Scenario {
        mistake: Mistake::Early,
        kills: 0,
        ..Scenario::new(Transactions::Snapshot, number)
    };
    find("strong-snapshot-isolation", early);
}

#[test]
fn an_answer_that_does_not_wait_for_the_log_is_found_by_a_kill() {
    let durability = Durability::Buffered;
    let buffered =
        |number| Scenario { durability, kills: 3, ..Scenario::new(Transactions::Serializable, number) };
    find("strict-serializable", buffered);
}

#[test]
fn snapshot_transactions_are_found_where_serializable_ones_are_promised() {
    find("serializable", |number| Scenario { kills: 0, ..Scenario::new(Transactions::Snapshot, number) });
}
