//! Sums the ids of all neighbors of all vertices, in the order of the vertices or in random order.

use crate::answers::Answer;
use crate::bench::{Bench, pool};
use crate::monitor::mean_time;
use crate::{Failure, Workload};
use hedgerow::kernels::{Adjacency, Cursor, GraphView};
use hedgerow::kernels::{Execution, Kernel, KernelError};
use hedgerow::{Direction, LabelId, VertexId};
use hedgerow_compiled_kernels::Target;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;
use std::ops::{ControlFlow, Range};
use std::time::Duration;

/// A description of the answer of a scan.
pub const SUM: &str = "the sum of all neighbors";

pub(super) static ORDERED: Workload = Workload {
    name: "scan-ordered",
    description: "all neighbors of all vertices, in the order of the vertices",
    contract_metric: "throughput",
    is_default: true,
    is_on_store: false,
    scales: true,
    seconds: |settings, entries| settings.at_least(entries, 50.0),
    measure: measure_ordered,
};

pub(super) static RANDOM: Workload = Workload {
    name: "scan-random",
    description: "all neighbors of all vertices, in random order",
    contract_metric: "throughput",
    is_default: true,
    is_on_store: false,
    scales: true,
    seconds: |settings, entries| settings.at_least(entries, 50.0),
    measure: measure_random,
};

fn measure_ordered(bench: &mut Bench<'_>) -> Result<(), Failure> {
    measure(bench, None)
}

fn measure_random(bench: &mut Bench<'_>) -> Result<(), Failure> {
    let mut order: Vec<VertexId> = (0..bench.data.vertices()).map(VertexId::new).collect();
    order.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(bench.settings.seed ^ 0x000b_de50));
    measure(bench, Some(&order))
}

fn measure(bench: &mut Bench<'_>, order: Option<&[VertexId]>) -> Result<(), Failure> {
    let (edges, least) = (bench.data.stream().len() as f64, bench.settings.least_time());
    for threads in bench.settings.threads.clone() {
        let pool = pool(threads)?;
        let execution = Execution { pool: pool.as_ref(), ..Execution::default() };
        for turn in bench.turns_of(threads) {
            bench.begin(turn, "")?;
            let subject = bench.subject(turn.engine)?;
            let (sum, time) = time_of(&subject, order, execution, least)?;
            bench.record(turn, "throughput", "edges/s", edges / time.as_secs_f64());
            bench.check_answer(SUM, Answer::Exact(sum))?;
        }
    }
    Ok(())
}

/// The sum and the mean time of a scan, repeated until it has taken `least` altogether.
///
/// # Errors
/// Errors of the scan.
pub fn time_of(
    subject: &Target,
    order: Option<&[VertexId]>,
    execution: Execution<'_>,
    least: Duration,
) -> Result<(u64, Duration), Failure> {
    let run = || Ok(subject.run(Scan { order, execution })?);
    run()?;
    mean_time(least, run)
}

/// Sums the neighbors of all vertices.
struct Scan<'a> {
    /// The order of the vertices; `None` for the order of ids.
    order: Option<&'a [VertexId]>,
    execution: Execution<'a>,
}

impl Kernel for Scan<'_> {
    type Output = u64;

    fn run<V: GraphView>(self, view: &V) -> Result<u64, KernelError> {
        let adjacency = view.adjacency::<()>(LabelId::DEFAULT, Direction::Out)?;
        let threads = self.execution.threads();
        let sums = match self.order {
            None => {
                let cuts = adjacency.cuts(threads)?;
                self.execution.map_chunks(cuts, |range| sum_range(&adjacency, range))
            }
            Some(order) => {
                let parts = order.chunks(order.len().div_ceil(threads).max(1)).collect();
                self.execution.map_chunks(parts, |part| sum_each(&adjacency, part))
            }
        };
        Ok(sums?.iter().sum())
    }
}

/// The sum over a range of vertices.
fn sum_range(adjacency: &impl Adjacency, range: Range<u32>) -> Result<u64, KernelError> {
    let mut total = 0;
    let scanned = adjacency.cursor().scan(range, |_, neighbors, _| {
        total += sum(neighbors);
        ControlFlow::<()>::Continue(())
    });
    Ok(scanned.map(|_| total)?)
}

/// The sum over some vertices, one after the other.
fn sum_each(adjacency: &impl Adjacency, vertices: &[VertexId]) -> Result<u64, KernelError> {
    let (mut total, mut cursor) = (0, adjacency.cursor());
    for vertex in vertices {
        let scanned = cursor.neighbors(*vertex, |neighbors, _| {
            total += sum(neighbors);
            ControlFlow::<()>::Continue(())
        });
        scanned.map(drop)?;
    }
    Ok(total)
}

/// The sum of some ids.
#[must_use]
#[inline]
pub fn sum(neighbors: &[VertexId]) -> u64 {
    neighbors.iter().map(|neighbor| u64::from(neighbor.get())).sum()
}
