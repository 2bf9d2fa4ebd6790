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
mod setup;

use super::mix_time;
use crate::link_bench::{BaseGraph, Content, Mix};
use hedgerow::Topology;
use hedgerow::kernels::{BuildOptions, Csr};
use hedgerow_driver::expected::seconds;
use hedgerow_driver::{Bench, Extent, Failure, Settings, Workload};
use setup::Setup;
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

/// Time that clients run in each of the many parts.
fn client_time(settings: &Settings) -> Duration {
    mix_time::of(settings) / 40
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
        is_whole: *workload == LINK_BENCH,
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
