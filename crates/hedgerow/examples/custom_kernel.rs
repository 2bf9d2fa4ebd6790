//! A custom kernel that counts the edges with a counterpart in the other direction.
//!
//! A kernel is generic over views: it is compiled for each engine and for the static copy, and
//! reads their rows directly.
//!
//! `cargo run --release -p hedgerow --example custom_kernel`

use hedgerow::LabelId;
use hedgerow::kernels::{Adjacency, BuildOptions, Cursor, GraphView, Kernel, KernelError};
use hedgerow::prelude::*;
use std::ops::ControlFlow;

/// Counts the edges of a label that have a counterpart. O(edges · log degree).
struct Mutual {
    label: LabelId,
}

impl Kernel for Mutual {
    type Output = u64;

    fn run<V: GraphView>(self, view: &V) -> Result<u64, KernelError> {
        let adjacency = view.adjacency::<()>(self.label, Direction::Out)?;
        // One cursor scans, the other looks up: each remembers the position of its last read.
        let (mut scan, mut look_up) = (adjacency.cursor(), adjacency.cursor());
        let mut mutual = 0;
        let flow = scan.scan(0..view.vertex_bound(), |vertex, neighbors, _| {
            for neighbor in neighbors {
                match look_up.find(*neighbor, vertex) {
                    Ok(found) => mutual += u64::from(found.is_some()),
                    Err(error) => return ControlFlow::Break(error),
                }
            }
            ControlFlow::Continue(())
        });
        match flow? {
            ControlFlow::Continue(()) => Ok(mutual),
            ControlFlow::Break(error) => Err(error.into()),
        }
    }
}

fn main() -> Result<(), hedgerow::Error> {
    let graph = Graph::in_memory(GraphOptions::new().label::<()>("follows"))?;
    let follows = graph.label::<()>("follows")?;
    graph.ingest(follows, &[(1, 2), (2, 1), (2, 3), (3, 4), (4, 3)])?;
    let snapshot = graph.snapshot()?;

    let mutual = snapshot.run(Mutual { label: follows.id() })?;
    println!("{mutual} of {} edges have a counterpart", snapshot.edge_count());

    let copy = snapshot.to_csr::<()>(follows, BuildOptions::default())?;
    // A copy has one label, the first.
    assert_eq!(Mutual { label: LabelId::DEFAULT }.run(&copy)?, mutual);
    Ok(())
}
