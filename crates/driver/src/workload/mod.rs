//! The workloads.

mod batch_insert;
mod buffered_insert;
mod checkpoint;
mod durable_ingest;
mod insert;
pub mod kernels;
mod memory;
mod recovery;
pub mod scan;
mod search;
mod snapshot;
mod synced_commits;
mod update;

use crate::executor::Bench;
use crate::{BenchError, Failure, Settings};

/// A workload. `docs/bench.md` describes each.
#[derive(Debug)]
pub struct Workload {
    /// Its name on the command line and in reports.
    pub name: &'static str,
    /// A description.
    pub description: &'static str,
    /// The metric that represents the workload; more is better if its name begins with
    /// `throughput`.
    pub contract_metric: &'static str,
    /// True if the workload is measured by default, not only by name or in a full run.
    pub is_default: bool,
    /// True if the workload creates stores.
    pub is_on_store: bool,
    /// True if the report has the speed-up of several threads.
    pub scales: bool,
    /// The rough duration of one measurement of an engine, with its preparation, in seconds, on a
    /// graph of this number of adjacency entries.
    pub seconds: fn(&Settings, usize) -> f64,
    /// Measures all engines of a run.
    pub measure: fn(&mut Bench<'_>) -> Result<(), Failure>,
}

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
    &recovery::WORKLOAD,
    &checkpoint::WORKLOAD,
];

impl Workload {
    /// Finds the workload called `name` in `workloads`.
    ///
    /// # Errors
    /// There is no such workload; the error lists all.
    pub fn named(name: &str, workloads: &[&'static Workload]) -> Result<&'static Workload, BenchError> {
        workloads.iter().find(|workload| workload.name == name).copied().ok_or_else(|| {
            BenchError::UnknownWorkload {
                name: name.to_owned(),
                known: workloads.iter().map(|workload| workload.name).collect(),
            }
        })
    }

    /// Returns true if larger values of the contract metric are better.
    pub(crate) fn more_is_better(&self) -> bool {
        self.contract_metric.starts_with("throughput")
    }
}

/// Workloads are equal if their names are.
impl PartialEq for Workload {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Workload {}

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
