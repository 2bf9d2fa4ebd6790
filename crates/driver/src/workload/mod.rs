//! The workloads.

mod batch_insert;
mod buffered_insert;
mod checkpoint;
mod durable_ingest;
mod follow;
mod insert;
pub mod kernels;
mod load;
mod memory;
mod recovery;
pub mod scan;
mod search;
mod snapshot;
mod streams;
mod synced_commits;
mod update;

use crate::{Engine, Extent, Settings, Workload};

/// The workloads of the library, in the order in which they run: resident memory is measured while
/// the process is fresh, and workloads that change the loaded graph come last.
pub const WORKLOADS: &[&Workload] = &[
    &memory::WORKLOAD,
    &insert::WORKLOAD,
    &batch_insert::WORKLOAD,
    &search::WORKLOAD,
    &scan::ORDERED,
    &scan::RANDOM,
    &snapshot::WORKLOAD,
    &kernels::PAGERANK,
    &kernels::BFS,
    &kernels::SSSP,
    &kernels::WCC,
    &kernels::TRIANGLES,
    &kernels::BETWEENNESS,
    &update::WORKLOAD,
    &synced_commits::WORKLOAD,
    &buffered_insert::WORKLOAD,
    &durable_ingest::WORKLOAD,
    &load::WORKLOAD,
    &recovery::WORKLOAD,
    &checkpoint::WORKLOAD,
    &streams::WORKLOAD,
    &follow::WORKLOAD,
];

impl Settings {
    /// The default run: the default workloads, one thread, three repetitions.
    #[must_use]
    pub fn new() -> Self {
        Settings {
            engines: vec![Engine::CSR],
            workloads: WORKLOADS.iter().copied().filter(|workload| workload.is_default).collect(),
            threads: vec![1],
            repetitions: 3,
            seed: 1,
            extent: Extent::Default,
            store: None,
        }
    }

    /// Everything in full.
    #[must_use]
    pub fn full() -> Self {
        Settings { workloads: WORKLOADS.to_vec(), extent: Extent::Full, ..Settings::new() }
    }

    /// Everything briefly.
    #[must_use]
    pub fn quick() -> Self {
        Settings { repetitions: 2, extent: Extent::Quick, ..Settings::new() }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workload_is_found_by_its_name_and_an_unknown_one_gets_the_list() {
        for (position, workload) in WORKLOADS.iter().enumerate() {
            assert_eq!(Workload::named(workload.name, WORKLOADS).unwrap(), *workload);
            assert!(!WORKLOADS[..position].contains(workload), "{}", workload.name);
        }
        let error = Workload::named("delete", WORKLOADS).unwrap_err().to_string();
        assert!(error.contains("delete") && error.contains("scan-ordered, scan-random"), "{error}");
    }
}
