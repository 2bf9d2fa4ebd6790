//! Neighbors of random vertices, and their neighbors (GraphOne, 7.2: one-hop and two-hop queries).

use hedgerow::kernels::{Adjacency, Cursor, GraphView};
use hedgerow::kernels::{Execution, Kernel, KernelError};
use hedgerow::{Direction, LabelId, VertexId};
use hedgerow_driver::monitor::mean_time;
use hedgerow_driver::{Answer, Bench, Extent, Failure, Settings, Workload, pool};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use std::ops::ControlFlow;

pub(super) static WORKLOAD: Workload = Workload {
    name: "hops",
    description: "neighbors of random vertices, and their neighbors",
    contract_metric: "throughput",
    is_default: true,
    is_on_store: false,
    scales: true,
    seconds: |settings, entries| 2.0 * settings.at_least(entries, 20.0),
    measure,
};

fn measure(bench: &mut Bench<'_>) -> Result<(), Failure> {
    let sources = sources(bench);
    // A vertex may have many neighbors, and each of these as many.
    let two_hops = sources.len() >> 10;
    for threads in bench.settings.threads.clone() {
        let pool = pool(threads)?;
        let execution = Execution { pool: pool.as_ref(), ..Execution::default() };
        for turn in bench.turns_of(threads) {
            bench.begin(turn, "")?;
            let subject = bench.subject(turn.engine)?;
            for (hops, metric) in [(1, "throughput"), (2, "throughput-two")] {
                let sources = if hops == 1 { &sources[..] } else { &sources[..two_hops] };
                let run = || Ok(subject.run(Hops { sources, hops, execution })?);
                run()?;
                let (visited, time) = mean_time(bench.settings.least_time(), run)?;
                bench.record(turn, metric, "edges/s", visited.edges as f64 / time.as_secs_f64());
                let answer =
                    if hops == 1 { "the neighbors one hop away" } else { "the neighbors two hops away" };
                bench.check_answer(answer, Answer::Exact(visited.sum))?;
            }
        }
    }
    Ok(())
}

/// Number of vertices whose neighbors are visited.
fn count(settings: &Settings) -> usize {
    match settings.extent {
        Extent::Quick => 1 << 8,
        Extent::Default | Extent::Full => 1 << 16,
    }
}

/// Sources of random edges, so that each has neighbors.
fn sources(bench: &Bench<'_>) -> Vec<VertexId> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(bench.settings.seed ^ 0x40b5);
    let stream = bench.data.stream();
    (0..count(bench.settings)).map(|_| stream[random.random_range(0..stream.len())].0).collect()
}

/// Visits the neighbors of each source, or the neighbors of its neighbors.
#[derive(Clone, Copy)]
struct Hops<'a> {
    sources: &'a [VertexId],
    /// One or two.
    hops: u32,
    execution: Execution<'a>,
}

/// The number of visited edges, and the sum of the ids at their ends.
#[derive(Clone, Copy, Debug, Default)]
struct Visited {
    edges: u64,
    sum: u64,
}

impl Visited {
    #[inline]
    fn add(&mut self, neighbors: &[VertexId]) {
        self.edges += neighbors.len() as u64;
        self.sum += neighbors.iter().map(|neighbor| u64::from(neighbor.get())).sum::<u64>();
    }

    /// Visits the neighbors of a vertex.
    #[inline]
    fn add_of<C: Cursor>(&mut self, cursor: &mut C, vertex: VertexId) -> Result<(), KernelError> {
        let flow = cursor.neighbors(vertex, |neighbors, _| {
            self.add(neighbors);
            ControlFlow::<()>::Continue(())
        });
        Ok(flow.map(drop)?)
    }
}

impl Kernel for Hops<'_> {
    type Output = Visited;

    fn run<V: GraphView>(self, view: &V) -> Result<Visited, KernelError> {
        let adjacency = view.adjacency::<()>(LabelId::DEFAULT, Direction::Out)?;
        let part = self.sources.len().div_ceil(self.execution.threads()).max(1);
        let parts = self.execution.map_chunks(self.sources.chunks(part).collect(), |sources| {
            let (mut first, mut second, mut visited) =
                (adjacency.cursor(), adjacency.cursor(), Visited::default());
            for source in sources {
                if self.hops == 1 {
                    visited.add_of(&mut first, *source)?;
                } else {
                    let (neighbors, _) = first.gather(*source)?;
                    neighbors.iter().try_for_each(|neighbor| visited.add_of(&mut second, *neighbor))?;
                }
            }
            Ok(visited)
        })?;
        let add =
            |all: Visited, part: &Visited| Visited { edges: all.edges + part.edges, sum: all.sum + part.sum };
        Ok(parts.iter().fold(Visited::default(), add))
    }
}
