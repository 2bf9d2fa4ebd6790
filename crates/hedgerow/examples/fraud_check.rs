//! Payments on edges, checked and committed in one transaction.
//!
//! An account may not pay another account that has paid it, directly or through at most two others,
//! within the same minute: money that comes back that fast is worth a look. The check and the
//! payment are one serializable transaction, so two payments that only together close a cycle
//! cannot both pass.
//!
//! `cargo run --release -p hedgerow --example fraud_check`

use hedgerow::Isolation;
use hedgerow::prelude::*;
use std::time::{Duration, SystemTime};

const MINUTE: Duration = Duration::from_secs(60);

/// The newest payment from one account to another.
#[derive(Properties)]
struct Payment {
    amount: f64,
    time: SystemTime,
}

fn main() -> Result<(), Error> {
    let options = GraphOptions::new().topology(Topology::DirectedWithReverse).label::<Payment>("pays");
    let graph = Graph::in_memory(options)?;
    let pays = graph.label::<Payment>("pays")?;

    let start = SystemTime::now();
    for (seconds, (from, to)) in (0..).zip([(1, 2), (2, 3), (3, 1), (3, 4)]) {
        let payment = Payment { amount: 99.5, time: start + Duration::from_secs(seconds) };
        match pay(&graph, pays, (from, to), &payment)? {
            true => println!("{from} pays {to}"),
            false => println!("{from} may not pay {to}: the money would come back"),
        }
    }
    assert!(!graph.contains_edge(pays, 3, 1)?);

    let mut total = 0.0;
    for edge in graph.snapshot()?.all_edges(pays)? {
        total += edge?.data.amount;
    }
    println!("{total} was paid");
    Ok(())
}

/// Commits a payment unless it closes a cycle. Returns true if it was committed.
fn pay(graph: &Graph, pays: Label<Payment>, ends: (u64, u64), payment: &Payment) -> Result<bool, Error> {
    let (from, to) = ends;
    let Payment { amount, time } = *payment;
    graph.transact_with(Isolation::Serializable, |transaction| {
        if comes_back(transaction, pays, &to.into(), &from.into(), time, 3)? {
            return Ok(false);
        }
        transaction.put_edge_with(pays, from, to, Payment { amount, time })?;
        Ok(true)
    })
}

/// Returns true if a chain of at most `steps` payments within the last minute leads from one
/// account to another.
fn comes_back(
    graph: &impl ReadGraph,
    pays: Label<Payment>,
    from: &Key,
    to: &Key,
    time: SystemTime,
    steps: usize,
) -> Result<bool, Error> {
    if steps == 0 {
        return Ok(false);
    }
    for (next, payment) in graph.edges(pays, from)? {
        let is_recent = time.duration_since(payment.time).is_ok_and(|age| age <= MINUTE);
        if is_recent && (next == *to || comes_back(graph, pays, &next, to, time, steps - 1)?) {
            return Ok(true);
        }
    }
    Ok(false)
}
