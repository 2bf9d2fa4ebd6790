//! Workloads that measure mechanisms and papers rather than what a user does.

mod archiving;
mod edge_log;
mod hops;
mod hub;
mod interleaved;
mod link_bench;
pub mod mix_time;
mod mixed;

use hedgerow_driver::{WORKLOADS, Workload};

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

#[cfg(test)]
mod tests;
