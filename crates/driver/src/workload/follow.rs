//! Components that are kept up to date, compared with the kernel that computes them again.

use crate::bench::{Bench, Turn};
use crate::data_set::Entry;
use crate::expected::seconds;
use crate::monitor::{Latencies, mean_time};
use crate::watch::check;
use crate::{Failure, Workload, load};
use hedgerow::kernels::{Components, Execution, Wcc};
use hedgerow::{Graph, Kept, LabelId, Topology, VertexId, WriteGraph};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use std::time::Instant;

pub(super) static WORKLOAD: Workload = Workload {
    name: "follow",
    description: "components kept up to date while edges are put and deleted",
    contract_metric: "time-1000",
    is_default: false,
    is_on_store: true,
    scales: false,
    seconds: |_, entries| seconds(entries, 2.0) + 10.0,
    measure,
};

const AGAIN: &str = "the kernel on a new snapshot";

/// Changes between two looks at the components.
const BATCH: usize = 1000;

fn measure(bench: &mut Bench<'_>) -> Result<(), Failure> {
    let edges: Vec<_> = bench.data.stream().iter().filter(|edge| edge.0 < edge.1).copied().collect();
    for (turn, kind) in bench.turns_with_stores() {
        bench.begin(turn, "")?;
        let options = load::options(kind, 1).topology(Topology::Undirected);
        let store = kind.owns_files().then(|| bench.new_store()).transpose()?;
        let graph = match &store {
            Some(store) => load::stored_graph(store, &options, bench.data.vertices())?,
            None => load::with_vertices(options, bench.data.vertices())?,
        };
        load::ingest(&graph, &edges, load::LOAD_BATCH, &bench.watch.cancel)?;
        load::reclaim_all(&graph)?;
        follow(bench, turn, &graph, &edges)?;
    }
    Ok(())
}

fn follow(bench: &mut Bench<'_>, turn: Turn, graph: &Graph, edges: &[Entry]) -> Result<(), Failure> {
    let execution = Execution::default();
    let kernel = || Ok(graph.snapshot()?.run(Wcc { execution, ..Wcc::default() })?);
    let (_, again) = mean_time(bench.settings.least_time(), kernel)?;
    let again = (AGAIN, again.as_secs_f64());
    let mut components = graph.keep(Components::default(), execution)?;
    let mut writer = Writer::new(bench, graph, edges);
    let (batches, single) = bench.settings.followed_changes();

    let of_batches =
        latencies(bench, &mut components, batches, || (0..BATCH).try_for_each(|_| writer.change()))?;
    bench.record_against(turn, "time-1000", "s", of_batches.median() * 1e-9, again);
    let of_changes = latencies(bench, &mut components, single, || writer.change())?;
    bench.record_latencies(turn, &of_changes);
    Ok(())
}

/// The times to bring the components up to date, each after some changes.
fn latencies(
    bench: &Bench<'_>,
    components: &mut Kept<'_, Components>,
    times: usize,
    mut change: impl FnMut() -> Result<(), Failure>,
) -> Result<Latencies, Failure> {
    let mut latencies = Latencies::new();
    for _ in 0..times {
        check(&bench.watch.cancel)?;
        change()?;
        let started = Instant::now();
        components.refresh()?;
        latencies.record(started.elapsed());
    }
    let expected = components.snapshot().run(Wcc::default())?.components;
    if components.result().labels() != expected {
        let what = "the components that were kept up to date".to_owned();
        let (found, expected) = (components.result().count().to_string(), "those of the kernel".to_owned());
        return Err(Failure::WrongResult { what, found, expected });
    }
    Ok(latencies)
}

/// Deletes a random edge and puts one between random vertices, in turns.
struct Writer<'g> {
    graph: &'g Graph,
    edges: Vec<Entry>,
    vertices: u32,
    random: Xoshiro256PlusPlus,
    deletes: bool,
}

impl<'g> Writer<'g> {
    fn new(bench: &Bench<'_>, graph: &'g Graph, edges: &[Entry]) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(bench.settings.seed ^ 0xf0110);
        Writer { graph, edges: edges.to_vec(), vertices: bench.data.vertices(), random, deletes: false }
    }

    fn change(&mut self) -> Result<(), Failure> {
        self.deletes = !self.deletes && !self.edges.is_empty();
        if self.deletes {
            let position = self.random.random_range(0..self.edges.len());
            let (one, other) = self.edges.swap_remove(position);
            self.graph.delete_edge(LabelId::DEFAULT, one, other)?;
        } else {
            let [one, other] = [(); 2].map(|()| VertexId::new(self.random.random_range(0..self.vertices)));
            self.graph.put_edge(LabelId::DEFAULT, one, other)?;
            self.edges.push((one, other));
        }
        Ok(())
    }
}
