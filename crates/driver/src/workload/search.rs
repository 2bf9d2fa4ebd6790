//! Random look-ups of edges, of which some exist.

use crate::answers::Answer;
use crate::bench::{Bench, pool};
use crate::data_set::Entry;
use crate::engines::Engine;
use crate::expected::seconds;
use crate::monitor::{Latencies, mean_time, operate_on_each};
use crate::{Failure, Workload};
use hedgerow::kernels::{Adjacency, Cursor, GraphView};
use hedgerow::kernels::{CancelToken, Execution, Kernel, KernelError};
use hedgerow::{Direction, LabelId, VertexId};
use hedgerow_model::search::{self, Spread};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

pub(super) static WORKLOAD: Workload = Workload {
    name: "search",
    description: "edges that exist and edges that do not, looked up at random",
    contract_metric: "throughput",
    is_default: true,
    is_on_store: false,
    scales: true,
    seconds: |settings, _| 2.0 * seconds(settings.probes(), 1.0),
    measure,
};

/// Metric of the throughput compared with that of CSR when its rows are searched by guesses. Other
/// engines search in their own way.
const GUESSING: &str = "throughput-guessing";

fn measure(bench: &mut Bench<'_>) -> Result<(), Failure> {
    let probes = probes(bench);
    let cancel = bench.watch.cancel.clone();
    for threads in bench.settings.threads.clone() {
        let pool = pool(threads)?;
        let execution = Execution { pool: pool.as_ref(), ..Execution::default() };
        for turn in bench.turns_of(threads) {
            bench.begin(turn, "")?;
            let subject = bench.subject(turn.engine)?;
            let search = Search { probes: &probes, execution, cancel: &cancel };
            if turn.repetition == 0 {
                subject.run(search)?;
            }
            let (found, time) = mean_time(bench.settings.least_time(), || Ok(subject.run(search)?))?;
            bench.record(turn, "throughput", "lookups/s", probes.len() as f64 / time.as_secs_f64());
            bench.record_latencies(turn, &found.latencies);
            bench.check_answer("the number of edges found", Answer::Exact(found.edges))?;
            let time = match turn.engine == Engine::CSR {
                true => {
                    let search = GuessingSearch { probes: &probes, execution };
                    let (edges, time) = mean_time(bench.settings.least_time(), || Ok(subject.run(search)?))?;
                    bench.check_answer("the number of edges found", Answer::Exact(edges))?;
                    time
                }
                false => time,
            };
            bench.record(turn, GUESSING, "lookups/s", probes.len() as f64 / time.as_secs_f64());
        }
    }
    Ok(())
}

/// Edges to look up: half are entries of the stream, half go from sources of entries to random
/// vertices.
fn probes(bench: &Bench<'_>) -> Vec<Entry> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(bench.settings.seed ^ 0x5ea7c4);
    let (stream, vertices) = (bench.data.stream(), bench.data.vertices());
    let mut probe = |position| {
        let (source, destination) = stream[random.random_range(0..stream.len())];
        let anywhere = VertexId::new(random.random_range(0..vertices));
        (source, if position % 2 == 0 { destination } else { anywhere })
    };
    (0..bench.settings.probes()).map(&mut probe).collect()
}

/// Looks up every probe.
#[derive(Clone, Copy)]
struct Search<'a> {
    probes: &'a [Entry],
    execution: Execution<'a>,
    cancel: &'a CancelToken,
}

/// Looks up every probe in the rows of a static graph, guessing the position of each id.
#[derive(Clone, Copy)]
struct GuessingSearch<'a> {
    probes: &'a [Entry],
    execution: Execution<'a>,
}

impl Kernel for GuessingSearch<'_> {
    type Output = u64;

    fn run<V: GraphView>(self, view: &V) -> Result<u64, KernelError> {
        let adjacency = view.adjacency::<()>(LabelId::DEFAULT, Direction::Out)?;
        let spread = Spread::up_to(VertexId::new(view.vertex_bound().saturating_sub(1)));
        let part = self.probes.len().div_ceil(self.execution.threads()).max(1);
        let parts = self.execution.map_chunks(self.probes.chunks(part).collect(), |probes| {
            let mut cursor = adjacency.cursor();
            let mut edges = 0;
            for (source, destination) in probes {
                let (row, _) = cursor.gather(*source)?;
                edges += u64::from(search::position(row, spread, *destination).is_some());
            }
            Ok(edges)
        })?;
        Ok(parts.iter().sum())
    }
}

struct Found {
    edges: u64,
    latencies: Latencies,
}

impl Kernel for Search<'_> {
    type Output = Found;

    fn run<V: GraphView>(self, view: &V) -> Result<Found, KernelError> {
        let adjacency = view.adjacency::<()>(LabelId::DEFAULT, Direction::Out)?;
        let part = self.probes.len().div_ceil(self.execution.threads()).max(1);
        let parts = self.execution.map_chunks(self.probes.chunks(part).collect(), |probes| {
            let (mut cursor, mut edges, mut latencies) = (adjacency.cursor(), 0, Latencies::new());
            let searched =
                operate_on_each(probes, &mut latencies, self.cancel, None, |(source, destination)| {
                    let found = cursor.find(source, destination).map_err(KernelError::from);
                    edges += u64::from(found.map_err(hedgerow::Error::from)?.is_some());
                    Ok(())
                });
            match searched {
                Ok(_) => Ok(Found { edges, latencies }),
                Err(_) => Err(KernelError::Cancelled),
            }
        })?;
        let mut all = Found { edges: 0, latencies: Latencies::new() };
        for part in &parts {
            all.edges += part.edges;
            all.latencies.merge(&part.latencies);
        }
        Ok(all)
    }
}
