//! Workloads that measure mechanisms and papers rather than what a user does.

mod archiving;
mod edge_log;
mod hops;
mod hub;
mod interleaved;
mod link_bench;
mod mixed;

use hedgerow_driver::{Extent, Settings, WORKLOADS, Workload};
use std::sync::OnceLock;
use std::time::Duration;

/// The requested time of a mix of readers and writers.
static MIX: OnceLock<Duration> = OnceLock::new();

/// The workloads of `hedgerow bench` and those of the laboratory, in the order in which they run.
pub fn all() -> Vec<&'static Workload> {
    // Readers come before the workloads that change the loaded graph.
    let readers = WORKLOADS.iter().take_while(|workload| workload.name != "update").count();
    let (readers, others) = WORKLOADS.split_at(readers);
    let own: &[&Workload] = &[
        &mixed::WRITER,
        &mixed::READER,
        &interleaved::WORKLOAD,
        &hub::WORKLOAD,
        &archiving::ARCHIVING,
        &archiving::UNARCHIVED,
        &edge_log::WORKLOAD,
        &link_bench::LINK_BENCH,
        &link_bench::LINK_BENCH_TAO,
    ];
    [readers, &[&hops::WORKLOAD], others, own].concat()
}

/// Sets the time of mixes, instead of a time by the extent of the run. Later calls have no effect.
pub fn set_mix(time: Duration) {
    MIX.get_or_init(|| time);
}

/// Time of one mix of readers and writers; LinkBench runs for a fortieth of it with each number of
/// clients.
fn mix(settings: &Settings) -> Duration {
    MIX.get().copied().unwrap_or(match settings.extent {
        Extent::Quick => Duration::from_millis(50),
        Extent::Default => Duration::from_secs(10),
        Extent::Full => Duration::from_secs(60),
    })
}

#[cfg(test)]
mod tests;
