//! Converts samples to rows.

use crate::samples::{Samples, Series};
use crate::statistics::{Summary, ratio};
use crate::{Engine, Workload};
use serde::Serialize;

/// One figure of one engine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The graph.
    pub dataset: String,
    /// The workload.
    pub workload: &'static str,
    /// The engine.
    pub engine: &'static str,
    /// The number of threads.
    pub threads: usize,
    /// The name of the figure within the workload.
    pub metric: String,
    /// Its unit.
    pub unit: &'static str,
    /// The median of the repetitions.
    pub median: f64,
    /// The minimum of the repetitions.
    pub min: f64,
    /// The maximum of the repetitions.
    pub max: f64,
    /// The median over the median of the static CSR for the same metric; `None` where CSR has no
    /// such operation.
    pub ratio_to_csr: Option<f64>,
    /// The median over the median of `baseline`, where CSR has no such operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// The name of the baseline of `ratio`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<&'static str>,
    /// True if this figure represents the workload.
    pub contract: bool,
}

/// The rows of all figures, workload by workload.
pub(super) fn of(dataset: &str, workloads: &[&'static Workload], samples: &Samples) -> Vec<Row> {
    let mut rows = Vec::new();
    for workload in workloads {
        let series = samples.all().iter().filter(|series| series.figure.workload == workload.name);
        for series in series {
            rows.extend(row(dataset, workload, samples, series));
            rows.extend(speed_up(dataset, workload, samples, series));
        }
    }
    rows
}

fn row(dataset: &str, workload: &Workload, samples: &Samples, series: &Series) -> Option<Row> {
    let figure = &series.figure;
    let summary = Summary::of(&series.values)?;
    let reference = csr_median(samples, series);
    let baseline = series.baseline.as_ref();
    let against = baseline.and_then(|baseline| Summary::of(&baseline.values));
    Some(Row {
        dataset: dataset.to_owned(),
        workload: workload.name,
        engine: figure.engine,
        threads: figure.threads,
        metric: figure.metric.clone(),
        unit: figure.unit,
        median: summary.median,
        min: summary.min,
        max: summary.max,
        ratio_to_csr: reference.and_then(|reference| ratio(summary.median, reference)),
        ratio: against.and_then(|against| ratio(summary.median, against.median)),
        baseline: baseline.map(|baseline| baseline.what),
        contract: figure.metric == workload.contract_metric,
    })
}

/// The static graph's median with this number of threads, or with one thread if it is only measured
/// with one.
fn csr_median(samples: &Samples, series: &Series) -> Option<f64> {
    let figure = &series.figure;
    let find = |threads| samples.find(figure.workload, Engine::CSR.name, threads, &figure.metric);
    let reference = find(figure.threads).or_else(|| find(1))?;
    Summary::of(&reference.values).map(|summary| summary.median)
}

/// The speed-up of several threads over one, as a separate row.
fn speed_up(dataset: &str, workload: &Workload, samples: &Samples, series: &Series) -> Option<Row> {
    let figure = &series.figure;
    let scales = workload.scales && figure.metric == workload.contract_metric;
    if figure.threads == 1 || !scales {
        return None;
    }
    let alone = samples.find(workload.name, figure.engine, 1, &figure.metric)?;
    let (several, one) = (Summary::of(&series.values)?.median, Summary::of(&alone.values)?.median);
    let speed_up = if workload.more_is_better() { ratio(several, one) } else { ratio(one, several) }?;
    Some(Row {
        metric: "speed-up".to_owned(),
        unit: "x",
        median: speed_up,
        min: speed_up,
        max: speed_up,
        ratio_to_csr: None,
        ratio: Some(speed_up),
        baseline: Some("the same with 1 thread"),
        contract: false,
        ..row(dataset, workload, samples, series)?
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WORKLOADS;
    use crate::samples::Figure;

    fn figure(engine: &'static str, threads: usize, metric: &str) -> Figure {
        Figure { workload: "insert", engine, threads, metric: metric.to_owned(), unit: "edges/s" }
    }

    fn push(samples: &mut Samples, figure: &Figure, values: &[f64]) {
        values.iter().for_each(|value| samples.push(figure.clone(), *value));
    }

    #[test]
    fn ratios_are_those_of_medians() {
        let mut samples = Samples::default();
        push(&mut samples, &figure("csr", 1, "throughput"), &[10.0, 30.0, 20.0]);
        push(&mut samples, &figure("rapid", 1, "throughput"), &[1.0, 9.0, 5.0]);
        push(&mut samples, &figure("rapid", 1, "latency-p50"), &[7.0]);
        let rows = of("graph", WORKLOADS, &samples);
        assert_eq!(rows.len(), 3);
        assert_eq!((rows[0].ratio_to_csr, rows[1].ratio_to_csr), (Some(1.0), Some(0.25)));
        assert_eq!((rows[1].median, rows[1].min, rows[1].max), (5.0, 1.0, 9.0));
        assert!(rows[0].contract && rows[1].contract && !rows[2].contract);
        assert_eq!((rows[2].ratio_to_csr, rows[2].ratio, rows[2].baseline), (None, None, None));
    }

    #[test]
    fn several_threads_are_set_against_what_csr_does_with_one_and_against_one_thread() {
        let mut samples = Samples::default();
        push(&mut samples, &figure("csr", 1, "throughput"), &[20.0]);
        push(&mut samples, &figure("rapid", 1, "throughput"), &[5.0]);
        push(&mut samples, &figure("rapid", 2, "throughput"), &[8.0]);
        let rows = of("graph", WORKLOADS, &samples);
        assert_eq!(rows[2].ratio_to_csr, Some(0.4));
        let speed_up = &rows[3];
        assert_eq!((&*speed_up.metric, speed_up.median, speed_up.ratio), ("speed-up", 1.6, Some(1.6)));
        assert_eq!((speed_up.contract, speed_up.ratio_to_csr), (false, None));
    }

    #[test]
    fn a_baseline_gives_a_ratio_where_csr_gives_none() {
        let mut samples = Samples::default();
        let time = Figure { workload: "snapshot", unit: "ns", ..figure("rapid", 1, "time") };
        samples.push_against(time.clone(), 3.0, "apart", 2.0);
        samples.push_against(time, 3.0, "apart", 2.0);
        let rows = of("graph", WORKLOADS, &samples);
        assert_eq!((rows[0].ratio, rows[0].baseline, rows[0].ratio_to_csr), (Some(1.5), Some("apart"), None));
        assert!(rows[0].contract);
    }
}
