//! Runs the workloads in order.

use crate::bench::Bench;
use crate::report::Report;
use crate::stores::StoreFolder;
use crate::{BenchError, DataSet, Settings, Watch};
use std::time::Instant;

/// Measures every workload on every engine. A run that is stopped after its first figure returns a
/// report with the figures so far, which is not [complete](Report::complete).
///
/// # Errors
/// A workload failed on an engine, two engines disagree, the workloads measure none of the engines,
/// or the run was stopped before it had a figure.
pub fn run(data: &DataSet, settings: &Settings, watch: &Watch<'_>) -> Result<Report, BenchError> {
    let started = Instant::now();
    let mut bench = Bench::new(data, settings, watch)?;
    let mut complete = true;
    for workload in &settings.workloads {
        bench.workload = workload;
        if let Err(failure) = (workload.measure)(&mut bench) {
            complete = false;
            if watch.cancel.is_cancelled() && !bench.samples.all().is_empty() {
                break;
            }
            return Err(bench.failed(failure));
        }
        bench.done += 1;
    }
    if bench.samples.all().is_empty() {
        return Err(settings.nothing_to_measure());
    }
    let store = bench.stores.as_ref().map(StoreFolder::facts);
    Ok(Report { complete, ..Report::new(data, settings, store, &bench.samples, started.elapsed()) })
}
