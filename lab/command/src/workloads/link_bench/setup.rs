//! The requests that all engines get, and the clients that send them.

use crate::link_bench::{
    self, BaseGraph, Content, LinkStore, Measured, Mix, Request, Requests, Served, options,
};
use hedgerow::kernels::CancelToken;
use hedgerow::{EngineKind, Graph};
use hedgerow_driver::{Bench, Entry, Failure, Turn, Workload};
use std::thread;
use std::time::Duration;

/// Numbers of concurrent clients.
pub(super) const CLIENTS: [usize; 4] = [1, 2, 8, 64];

/// Number of clients of measurements with one number only.
pub(super) const FEW: usize = 2;

/// Number of links of a short list.
const SHORT_LIST: usize = 10;

pub(super) const ITS_MIX: &str = "the mix of the workload";
const BY_TIME: &str = "the newest by time";

/// The baseline of memory.
pub(super) const AFRESH: &str = "a new graph with the same in it";

/// The requests that all engines get.
pub(super) struct Setup<'s> {
    pub(super) workload: &'static Workload,
    /// True if more than the mix is measured.
    pub(super) is_whole: bool,
    pub(super) entries: &'s [Entry],
    pub(super) base: BaseGraph<'s>,
    pub(super) content: &'s Content,
    pub(super) mix: Mix,
    pub(super) seed: u64,
    /// The time that clients run.
    pub(super) time: Duration,
    pub(super) cancel: &'s CancelToken,
}

impl Setup<'_> {
    /// Fills an empty graph.
    pub(super) fn load(&self, graph: Graph) -> Result<LinkStore, Failure> {
        LinkStore::load(graph, self.base.nodes(), self.entries, self.content, self.cancel)
    }

    /// Bytes of a new graph with all nodes and links of this one.
    pub(super) fn bytes_afresh(&self, store: &LinkStore, kind: EngineKind) -> Result<f64, Failure> {
        let afresh = store.afresh(Graph::in_memory(options(kind))?, self.cancel)?;
        Ok(bytes(&afresh))
    }

    /// Runs clients with `mix` until the closure `beside` returns.
    pub(super) fn ask_beside<T>(
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
    pub(super) fn ask(&self, store: &mut LinkStore, mix: &Mix, clients: usize) -> Result<Measured, Failure> {
        Ok(self.ask_beside(store, mix, clients, |_| self.wait())?.0)
    }

    /// The rate at which clients make and time requests without serving them.
    pub(super) fn unserved_rate(&self, clients: usize) -> Result<f64, Failure> {
        let requests = self.requests(&self.mix, 0..clients as u64);
        let serve = |request: &Request<'_>| {
            std::hint::black_box(request);
            Ok(Served::default())
        };
        Ok(link_bench::run(requests, serve, self.cancel, || self.wait())?.0.rate())
    }

    /// Runs the mix with short lists: long lists take most of the time if few nodes have most
    /// links.
    pub(super) fn ask_for_short_lists(
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
    pub(super) fn ask_for_lists_by_commit(
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
pub(super) fn record_latencies(bench: &mut Bench<'_>, turn: Turn, ending: &str, measured: &Measured) {
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

/// Bytes of a graph, garbage included.
pub(super) fn bytes(store: &LinkStore) -> f64 {
    store.graph().memory().total_bytes() as f64
}
