//! One vertex with many edges: no operation on it may slow down with its degree.

use hedgerow::kernels::{Adjacency, Cursor, GraphView};
use hedgerow::kernels::{BuildOptions, CancelToken, Csr, Kernel, KernelError};
use hedgerow::{Direction, EngineKind, Graph, LabelId, Topology, VertexId, WriteGraph};
use hedgerow_compiled_kernels::Target;
use hedgerow_driver::expected::seconds;
use hedgerow_driver::monitor::{Latencies, mean_time};
use hedgerow_driver::watch::check;
use hedgerow_driver::{Answer, Bench, Entry, Extent, Failure, Settings, Turn, Workload, load};
use hedgerow_sync::Arc;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

pub(super) static WORKLOAD: Workload = Workload {
    name: "hub",
    description: "one vertex with many edges",
    contract_metric: "insert-latency-max",
    is_default: false,
    is_on_store: false,
    scales: true,
    seconds: |settings, _| 2.0 * seconds(degree(settings) as usize, 1.5),
    measure,
};

/// The vertex with many edges.
const HUB: VertexId = VertexId::new(0);

/// One edge in `SHARE` is put and deleted individually.
const SHARE: usize = 20;

/// Time limit for operations of one kind.
const LIMIT: Duration = Duration::from_secs(30);

/// The degree of the hub.
fn degree(settings: &Settings) -> u32 {
    match settings.extent {
        Extent::Quick => 1 << 14,
        Extent::Default | Extent::Full => 20_000_000,
    }
}

fn measure(bench: &mut Bench<'_>) -> Result<(), Failure> {
    let mut edges: Vec<Entry> =
        (1..=degree(bench.settings)).map(|other| (HUB, VertexId::new(other))).collect();
    edges.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(bench.settings.seed ^ 0x48b));
    for engine in bench.engines() {
        // Every operation is timed individually, so one repetition is enough.
        let turn = Turn { threads: 1, repetition: 0, engine };
        bench.begin(turn, "")?;
        let subject = match engine.kind {
            None => Target::Csr(Arc::new(build(&edges)?)),
            Some(kind) => Target::from(write(bench, turn, kind, &edges)?.snapshot()?),
        };
        let (scanned, time) = mean_time(bench.settings.least_time(), || Ok(subject.run(ScanHub)?))?;
        bench.record(turn, "scan-throughput", "edges/s", scanned.edges as f64 / time.as_secs_f64());
        bench.check_answer("the sum of the hub's neighbors", Answer::Exact(scanned.sum))?;
    }
    Ok(())
}

fn build(edges: &[Entry]) -> Result<Csr, Failure> {
    let bound = edges.len() as u32 + 1;
    let built = Csr::from_edges(bound, Topology::Directed, edges, BuildOptions::default());
    Ok(built.map_err(hedgerow::Error::from)?)
}

/// Fills the hub. The last edges are put one by one; the same number of other edges are deleted one
/// by one and put back.
fn write(bench: &mut Bench<'_>, turn: Turn, kind: EngineKind, edges: &[Entry]) -> Result<Graph, Failure> {
    let cancel = bench.watch.cancel.clone();
    let graph = load::empty_graph(kind, 1, edges.len() as u32 + 1)?;
    let (many, last) = edges.split_at(edges.len() - edges.len() / SHARE);
    load::ingest(&graph, many, 1 << 16, &cancel)?;

    let (put, latencies) = time_each(last, &cancel, |(source, destination)| {
        graph.put_edge(LabelId::DEFAULT, source, destination)?;
        Ok(())
    })?;
    record(bench, turn, "insert", &latencies);
    load::ingest(&graph, &last[put..], 1 << 16, &cancel)?;

    let some = &many[..last.len()];
    let (deleted, latencies) = time_each(some, &cancel, |(source, destination)| {
        graph.delete_edge(LabelId::DEFAULT, source, destination)?;
        Ok(())
    })?;
    record(bench, turn, "delete", &latencies);
    load::ingest(&graph, &some[..deleted], 1 << 16, &cancel)?;
    Ok(graph)
}

/// Operates on each edge until the time limit; returns the number of operations and their
/// latencies.
fn time_each(
    edges: &[Entry],
    cancel: &CancelToken,
    operate: impl Fn(Entry) -> Result<(), Failure>,
) -> Result<(usize, Timed), Failure> {
    let (began, mut latencies) = (Instant::now(), Latencies::new());
    let mut last = began;
    for (position, edge) in edges.iter().enumerate() {
        operate(*edge)?;
        let now = Instant::now();
        latencies.record(now - last);
        last = now;
        if now - began > LIMIT {
            return Ok((position + 1, Timed { latencies, rate: rate(position + 1, now - began) }));
        }
        check(cancel)?;
    }
    Ok((edges.len(), Timed { latencies, rate: rate(edges.len(), last - began) }))
}

/// The times of some operations.
struct Timed {
    latencies: Latencies,
    rate: f64,
}

fn rate(operations: usize, elapsed: Duration) -> f64 {
    operations as f64 / elapsed.as_secs_f64()
}

fn record(bench: &mut Bench<'_>, turn: Turn, operation: &str, timed: &Timed) {
    bench.record(turn, format!("{operation}-throughput"), "edges/s", timed.rate);
    for (metric, value) in timed.latencies.percentiles() {
        bench.record(turn, format!("{operation}-{metric}"), "ns", value);
    }
}

/// Sums the neighbors of the hub.
#[derive(Clone, Copy)]
struct ScanHub;

struct Scanned {
    edges: u64,
    sum: u64,
}

impl Kernel for ScanHub {
    type Output = Scanned;

    fn run<V: GraphView>(self, view: &V) -> Result<Scanned, KernelError> {
        let adjacency = view.adjacency::<()>(LabelId::DEFAULT, Direction::Out)?;
        let mut scanned = Scanned { edges: 0, sum: 0 };
        let read = adjacency.cursor().neighbors(HUB, |neighbors, _| {
            scanned.edges += neighbors.len() as u64;
            scanned.sum += neighbors.iter().map(|neighbor| u64::from(neighbor.get())).sum::<u64>();
            ControlFlow::<()>::Continue(())
        });
        Ok(read.map(|_| scanned)?)
    }
}
