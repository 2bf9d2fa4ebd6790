//! Rings of payments, found as they close.
//!
//! Money that comes back to its sender within an hour, over at most four payments, is worth a look.
//! The program follows the payments of a graph, concurrently with the writer, and keeps those of
//! the last hour in a sliding window. The hour is that of the payments, which come a little out of
//! order.
//!
//! `cargo run --release -p hedgerow --example fraud_rings`

use hedgerow::prelude::*;
use hedgerow::{ChangedEdge, Span, SubscribeOptions, Window};
use std::collections::HashMap;
use std::thread;
use std::time::{Duration, SystemTime};

const HOUR: Duration = Duration::from_secs(3600);
const LONGEST_RING: usize = 4;
const ACCOUNTS: u64 = 10_000;
const PAYMENTS: u64 = 50_000;

/// The accounts of a ring that the writer hides among its payments.
const RING: [u64; 3] = [17, 4, 23];

#[derive(Properties)]
struct Payment {
    amount: f64,
    time: SystemTime,
}

fn main() -> Result<(), Error> {
    // Payments between the same two accounts are parallel edges.
    let graph = Graph::in_memory(GraphOptions::new().parallel_label::<Payment>("pays", "number"))?;
    let pays = graph.label::<Payment>("pays")?;
    let last_hour = Span::time_of(HOUR, move |edge| Ok(edge.data(pays)?.map(|payment| payment.time)));
    // One commit after the other, so that each payment meets those of the hour before it.
    let options = SubscribeOptions::new().label(pays).at_once(1);
    let window = graph.subscribe(&options)?.sliding(last_hour);

    let rings = thread::scope(|scope| {
        let writer = scope.spawn(|| write(&graph, pays));
        let rings = watch(window, PAYMENTS + RING.len() as u64);
        writer.join().expect("the writer panicked").and(rings)
    })?;
    for ring in &rings {
        println!("{}", ring.iter().map(Key::to_string).collect::<Vec<_>>().join(" -> "));
    }
    println!("{} rings", rings.len());
    assert!(rings.contains(&[RING[0], RING[1], RING[2], RING[0]].map(Key::from).to_vec()));
    Ok(())
}

/// Returns the rings that the next payments close.
fn watch(mut window: Window, payments: u64) -> Result<Vec<Vec<Key>>, Error> {
    let mut recent = HashMap::<Key, Vec<Key>>::new();
    let (mut rings, mut entered) = (Vec::new(), 0);
    let ends = |edge: ChangedEdge<'_>| (edge.source().to_key(), edge.destination().to_key());
    while entered + window.late() < payments {
        window.advance_within(Duration::from_secs(1))?;
        for (from, to) in window.left().map(ends) {
            let receivers = recent.entry(from).or_default();
            receivers.iter().position(|receiver| *receiver == to).map(|place| receivers.swap_remove(place));
        }
        for (from, to) in window.entered().map(ends) {
            let mut chain = vec![from.clone(), to.clone()];
            close(&recent, &mut chain, &mut rings);
            recent.entry(from).or_default().push(to);
            entered += 1;
        }
    }
    Ok(rings)
}

/// Collects the chains of recent payments that go on to the account where the chain began.
fn close(recent: &HashMap<Key, Vec<Key>>, chain: &mut Vec<Key>, rings: &mut Vec<Vec<Key>>) {
    let receivers = recent.get(&chain[chain.len() - 1]).into_iter().flatten();
    for receiver in receivers {
        let comes_back = *receiver == chain[0];
        chain.push(receiver.clone());
        if comes_back {
            rings.push(chain.clone());
        } else if chain.len() <= LONGEST_RING && !chain[..chain.len() - 1].contains(receiver) {
            close(recent, chain, rings);
        }
        chain.pop();
    }
}

/// Commits payments between random accounts, and a ring among them.
fn write(graph: &Graph, pays: Label<Payment>) -> Result<(), Error> {
    let start = SystemTime::now();
    let pay = |number: u64, from: u64, to: u64, seconds: u64| {
        let payment = Payment { amount: 99.5, time: start + Duration::from_secs(seconds) };
        graph.put_parallel_edge(pays, from, to, number, payment).map(drop)
    };
    let mut random = 1_u64;
    for number in 0..PAYMENTS {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let late = random >> 54;
        pay(number, (random >> 33) % ACCOUNTS, (random >> 13) % ACCOUNTS, 2000 + 2 * number - late)?;
        let step = (number % 500) as usize;
        if number / 500 == 7 && step < RING.len() {
            pay(
                PAYMENTS + number,
                RING[(step + 1) % RING.len()],
                RING[(step + 2) % RING.len()],
                2000 + 2 * number,
            )?;
        }
    }
    Ok(())
}
