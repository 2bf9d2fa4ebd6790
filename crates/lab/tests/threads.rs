//! The scenario of the model checker on threads of the operating system.
#![cfg(not(hedgerow_shuttle))]

#[path = "../../rapid/tests/scenario/mod.rs"]
mod scenario;
mod subject;

use scenario::{join, spawn};
use subject::Graph;

#[test]
fn readers_see_whole_prefixes_beside_writers_and_reclaimers() {
    let graph = Graph::new(3);
    let mut threads = Vec::new();
    for unit in [0, 1, 2, 0] {
        threads.push(spawn(&graph, move |graph| graph.write(unit, 0..3000)));
    }
    for _ in 0..3 {
        threads.push(spawn(&graph, |graph| (0..3000).for_each(|_| graph.open().read(3))));
    }
    threads.push(spawn(&graph, |graph| (0..3000).for_each(|_| graph.reclaim())));
    join(&graph, threads);
}
