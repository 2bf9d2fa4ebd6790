//! LinkBench: clients of a social graph, which add, update, delete and read nodes and links, count
//! links and list the newest ones.
//!
//! The graph is in memory, or in a store whose commits are waited for or not. `linkbench` also has
//! other shares of writes, a held snapshot, graphs whose garbage is freed by a thread or not at
//! all, and a checkpoint concurrent with the clients. `linkbench-tao` is another mix, in which
//! almost all requests are reads.

mod compaction;
mod in_memory;
mod in_stores;

use crate::link_bench::{
    self, BaseGraph, Content, LinkStore, Measured, Mix, Request, Requests, Served, options,
};
use hedgerow::kernels::{BuildOptions, CancelToken, Csr};
use hedgerow::{EngineKind, Graph, Topology};
use hedgerow_driver::expected::seconds;
use hedgerow_driver::{Bench, Entry, Extent, Failure, Settings, Turn, Workload};
use std::thread;
use std::time::Duration;

pub(super) static LINK_BENCH: Workload = Workload {
    name: "linkbench",
    description: "clients of a social graph: LinkBench with its own mix of requests",
    contract_metric: "throughput",
    is_default: false,
    is_on_store: true,
    scales: true,
    seconds: seconds_of_turn,
    measure,
};

pub(super) static LINK_BENCH_TAO: Workload = Workload {
    name: "linkbench-tao",
    description: "LinkBench with the mix of caches: almost all requests are reads",
    contract_metric: "throughput",
    is_default: false,
    is_on_store: true,
    scales: true,
    seconds: seconds_of_turn,
    measure: measure_tao,
};

/// Numbers of concurrent clients.
const CLIENTS: [usize; 4] = [1, 2, 8, 64];

/// Number of clients of measurements with one number only.
const FEW: usize = 2;

/// Number of links of a short list.
const SHORT_LIST: usize = 10;

const ITS_MIX: &str = "the mix of the workload";
const BY_TIME: &str = "the newest by time";

/// The requests that all engines get.
struct Setup<'s> {
    workload: &'static Workload,
    entries: &'s [Entry],
    base: BaseGraph<'s>,
    content: &'s Content,
    mix: Mix,
    seed: u64,
    /// The time that clients run.
    time: Duration,
    cancel: &'s CancelToken,
}

/// Time that clients run in each of the many parts.
fn client_time(settings: &Settings) -> Duration {
    super::mix(settings) / 40
}

/// Maximum number of links in the graph.
fn most_links(settings: &Settings) -> usize {
    match settings.extent {
        Extent::Quick | Extent::Default => 1 << 22,
        Extent::Full => usize::MAX,
    }
}

fn seconds_of_turn(settings: &Settings, entries: usize) -> f64 {
    20.0 * client_time(settings).as_secs_f64() + 2.0 * seconds(entries.min(most_links(settings)), 0.5)
}

/// Measured together with `linkbench`, if that was requested.
fn measure_tao(bench: &mut Bench<'_>) -> Result<(), Failure> {
    if bench.settings.workloads.contains(&&LINK_BENCH) { Ok(()) } else { measure(bench) }
}

/// Measures both workloads together, because loading takes long: `linkbench` in full,
/// `linkbench-tao` only with its mix.
fn measure(bench: &mut Bench<'_>) -> Result<(), Failure> {
    let (data, settings, cancel) = (bench.data, bench.settings, bench.watch.cancel.clone());
    let entries = &data.stream()[..data.stream().len().min(most_links(settings))];
    let csr = Csr::from_edges(data.vertices(), Topology::Directed, entries, BuildOptions::default());
    let csr = csr.map_err(hedgerow::Error::from)?;
    let base = BaseGraph::new(csr.offsets(), csr.neighbors()).expect("a static graph has rows");
    let content = Content::new(settings.seed);
    let setup = |(workload, mix): (&'static Workload, Mix)| Setup {
        workload,
        entries,
        base,
        content: &content,
        mix,
        seed: settings.seed,
        time: client_time(settings),
        cancel: &cancel,
    };
    let mixes = [(&LINK_BENCH, Mix::default()), (&LINK_BENCH_TAO, Mix::tao())];
    let asked = mixes.into_iter().filter(|(workload, _)| settings.workloads.contains(workload));
    let setups: Vec<Setup<'_>> = asked.map(setup).collect();
    in_memory::measure(bench, &setups)?;
    in_stores::measure(bench, &setups)
}

impl Setup<'_> {
    /// Returns true if more than the mix is measured.
    fn is_whole(&self) -> bool {
        *self.workload == LINK_BENCH
    }

    /// Fills an empty graph.
    fn load(&self, graph: Graph) -> Result<LinkStore, Failure> {
        LinkStore::load(graph, self.base.nodes(), self.entries, self.content, self.cancel)
    }

    /// Bytes of a new graph with all nodes and links of this one.
    fn bytes_afresh(&self, store: &LinkStore, kind: EngineKind) -> Result<f64, Failure> {
        let afresh = store.afresh(Graph::in_memory(options(kind))?, self.cancel)?;
        Ok(in_memory::bytes(&afresh))
    }

    /// Runs clients with `mix` until the closure `beside` returns.
    fn ask_beside<T>(
        &self,
        store: &mut LinkStore,
        mix: &Mix,
        clients: usize,
        beside: impl FnOnce(&Graph) -> Result<T, Failure>,
    ) -> Result<(Measured, T), Failure> {
        let requests = self.requests(mix, store.new_clients(clients));
        let serve = |request: &Request<'_>| store.serve(request);
        let (measured, result) = link_bench::run(requests, serve, self.cancel, || beside(store.graph()))?;
        store.count(measured.served)?;
        Ok((measured, result))
    }

    /// Runs clients with `mix` for the configured time.
    fn ask(&self, store: &mut LinkStore, mix: &Mix, clients: usize) -> Result<Measured, Failure> {
        Ok(self.ask_beside(store, mix, clients, |_| self.wait())?.0)
    }

    /// The rate at which clients make and time requests without serving them.
    fn unserved_rate(&self, clients: usize) -> Result<f64, Failure> {
        let requests = self.requests(&self.mix, 0..clients as u64);
        let serve = |request: &Request<'_>| {
            std::hint::black_box(request);
            Ok(Served::default())
        };
        Ok(link_bench::run(requests, serve, self.cancel, || self.wait())?.0.rate())
    }

    /// Runs the mix with short lists: long lists take most of the time if few nodes have most
    /// links.
    fn ask_for_short_lists(
        &self,
        bench: &mut Bench<'_>,
        turn: Turn,
        store: &mut LinkStore,
        ending: &str,
    ) -> Result<(), Failure> {
        bench.begin(turn, &format!(", short lists{ending}"))?;
        let measured = self.ask(store, &self.mix.with_list_limit(SHORT_LIST), turn.threads)?;
        let baseline = (ITS_MIX, bench.recorded_now(turn, &format!("throughput{ending}")));
        let ending = format!("-newest-{SHORT_LIST}{ending}");
        bench.record_against(turn, &format!("throughput{ending}"), "requests/s", measured.rate(), baseline);
        record_latencies(bench, turn, &ending, &measured);
        Ok(())
    }

    /// Runs short lists in memory on an engine that keeps commit order: they contain the links put
    /// last.
    fn ask_for_lists_by_commit(
        &self,
        bench: &mut Bench<'_>,
        turn: Turn,
        store: &mut LinkStore,
    ) -> Result<(), Failure> {
        bench.begin(turn, ", short lists by commit")?;
        store.list_by_commit(true);
        let measured = self.ask(store, &self.mix.with_list_limit(SHORT_LIST), turn.threads);
        store.list_by_commit(false);
        let measured = measured?;
        let by_time = format!("throughput-newest-{SHORT_LIST}");
        let baseline = (BY_TIME, bench.recorded_now(turn, &by_time));
        bench.record_against(turn, &format!("{by_time}-by-commit"), "requests/s", measured.rate(), baseline);
        record_latencies(bench, turn, &format!("-newest-{SHORT_LIST}-by-commit"), &measured);
        Ok(())
    }

    fn requests(&self, mix: &Mix, clients: std::ops::Range<u64>) -> Vec<Requests<'_>> {
        clients.map(|client| Requests::new(self.base, self.content, mix, self.seed, client)).collect()
    }

    fn wait(&self) -> Result<(), Failure> {
        thread::sleep(self.time);
        Ok(())
    }
}

/// Records the latencies of clients, with metrics that end in `ending`.
fn record_latencies(bench: &mut Bench<'_>, turn: Turn, ending: &str, measured: &Measured) {
    let (all, reads, writes) = (&measured.latencies(), &measured.reads, &measured.writes);
    for (side, latencies) in [("", all), ("read-", reads), ("write-", writes)] {
        // Among few requests of a mix there may be no write.
        if latencies.count() == 0 {
            continue;
        }
        bench.record(turn, format!("{side}latency-mean{ending}"), "ns", latencies.mean());
        for (metric, value) in latencies.percentiles() {
            bench.record(turn, format!("{side}{metric}{ending}"), "ns", value);
        }
    }
}
