//! Activity concurrent with the judged transactions: other writers, and checkpoints.

use crate::give_up;
use crate::lists::representation::FIRST_LIST;
use hedgerow::{CheckpointOptions, Error, ErrorKind, Graph, LabelId, WriteGraph};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use std::thread;
use std::time::Duration;

/// Number of vertices that other writers change; they share partitions and locks with the lists.
const VERTICES: u64 = 400;

const _: () = assert!(VERTICES <= FIRST_LIST, "other writers do not write to lists");

/// Writes and makes checkpoints in the background, until the graph is closed or the process ends.
pub fn disturb(graph: &Graph, seed: u64) {
    repeat(graph, seed, Duration::from_millis(3), write);
    repeat(graph, seed + 1, Duration::from_millis(80), |graph, _| {
        graph.checkpoint(&CheckpointOptions::new()).map(drop)
    });
}

/// Repeats an action in the background, with random pauses up to `pause`.
fn repeat(
    graph: &Graph,
    seed: u64,
    pause: Duration,
    mut work: impl FnMut(&Graph, &mut SmallRng) -> Result<(), Error> + Send + 'static,
) {
    let graph = graph.clone();
    let mut random = SmallRng::seed_from_u64(seed);
    thread::spawn(move || {
        loop {
            thread::sleep(pause.mul_f64(random.random()));
            match work(&graph, &mut random) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::Closed => return,
                Err(error) => give_up("beside the transactions", &error),
            }
        }
    });
}

fn write(graph: &Graph, random: &mut SmallRng) -> Result<(), Error> {
    let mut vertex = || random.random_range(0..VERTICES);
    let (source, destination) = (vertex(), vertex());
    match vertex() % 16 {
        0 => graph.delete_vertex(source).map(drop),
        1..4 => graph.delete_edge(LabelId::DEFAULT, source, destination).map(drop),
        4..6 => {
            let edges: Vec<(u64, u64, i64)> = (0..100).map(|value| (vertex(), vertex(), value)).collect();
            graph.ingest(LabelId::DEFAULT, &edges).map(drop)
        }
        _ => graph.put_edge_with(LabelId::DEFAULT, source, destination, 1i64).map(drop),
    }
}
