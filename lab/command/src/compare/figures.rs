//! Figures, their medians and ratios to Hedgerow's, as a table and as JSON.

use crate::compare::measure::Plan;
use crate::compare::stores::REFERENCE;
use anyhow::Result;
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

/// Identifies a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Figure {
    /// The workload.
    pub workload: &'static str,
    /// The store, or the disk alone.
    pub store: &'static str,
    /// The number of threads.
    pub threads: usize,
    /// The metric.
    pub metric: &'static str,
    /// Its unit.
    pub unit: &'static str,
}

/// Figures as measured, in the order of their first measurement.
#[derive(Debug, Default)]
pub struct Figures(Vec<(Figure, Vec<f64>)>);

impl Figures {
    /// Records a value of a figure.
    pub fn push(&mut self, figure: Figure, value: f64) {
        match self.0.iter_mut().find(|(other, _)| *other == figure) {
            Some((_, values)) => values.push(value),
            None => self.0.push((figure, vec![value])),
        }
    }

    /// Sorts by workload, in the order of first measurement; figures that differ only in the store
    /// are adjacent.
    fn in_order(mut self) -> Vec<(Figure, Vec<f64>)> {
        let figures: Vec<Figure> = self.0.iter().map(|(figure, _)| *figure).collect();
        self.0.sort_by_key(|(figure, _)| {
            let workload = figures.iter().position(|other| other.workload == figure.workload);
            let is_metric =
                |other: &Figure| (other.workload, other.metric) == (figure.workload, figure.metric);
            (workload, figure.threads, figures.iter().position(is_metric))
        });
        self.0
    }

    /// Records the rate of an operation, and percentiles of its latencies.
    pub fn push_waits(&mut self, figure: Figure, mut latencies: Vec<Duration>, elapsed: Duration) {
        self.push(figure, latencies.len() as f64 / elapsed.as_secs_f64());
        latencies.sort_unstable();
        for (metric, share) in [("latency-p50", 0.5), ("latency-p99", 0.99), ("latency-p99.9", 0.999)] {
            let at = (latencies.len() as f64 * share) as usize;
            if let Some(latency) = latencies.get(at) {
                self.push(Figure { metric, unit: "s", ..figure }, latency.as_secs_f64());
            }
        }
    }
}

/// A figure of a store with its median, minimum and maximum.
#[derive(Debug, Serialize)]
pub struct Row {
    /// The graph.
    pub dataset: String,
    /// Identifies the figure.
    #[serde(flatten)]
    pub figure: Figure,
    /// The median of the repetitions.
    pub median: f64,
    /// The minimum of the repetitions.
    pub min: f64,
    /// The maximum of the repetitions.
    pub max: f64,
    /// The median over Hedgerow's with the same number of threads.
    pub ratio_to_hedgerow: Option<f64>,
}

/// The report of a run.
#[derive(Debug, Serialize)]
pub struct Report {
    command: Vec<String>,
    directory: String,
    cores: usize,
    dataset: String,
    vertices: u32,
    edges: usize,
    repetitions: u32,
    /// Each store and its setup.
    stores: Vec<(&'static str, &'static str)>,
    results: Vec<Row>,
}

impl Report {
    /// A report of these figures.
    pub fn new(plan: &Plan<'_>, directory: &Path, figures: Figures) -> Self {
        let medians: Vec<(Figure, f64)> =
            figures.0.iter().map(|(figure, values)| (*figure, summary(values).1)).collect();
        let row = |(figure, values): (Figure, Vec<f64>)| {
            let (min, median, max) = summary(&values);
            let of_hedgerow = Figure { store: REFERENCE, ..figure };
            let reference = medians.iter().find(|(other, _)| *other == of_hedgerow);
            let ratio = reference.map(|(_, reference)| median / reference);
            let ratio_to_hedgerow = ratio.filter(|ratio| ratio.is_finite());
            Row { dataset: plan.graph.name.clone(), figure, median, min, max, ratio_to_hedgerow }
        };
        Report {
            command: std::env::args().collect(),
            directory: directory.display().to_string(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            dataset: plan.graph.name.clone(),
            vertices: plan.graph.vertices,
            edges: plan.graph.stream.len(),
            repetitions: plan.repetitions,
            stores: plan.kinds.iter().map(|kind| (kind.name, kind.setup)).collect(),
            results: figures.in_order().into_iter().map(row).collect(),
        }
    }

    /// The report as one JSON object.
    pub fn to_json(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// The report as a table.
    pub fn to_table(&self) -> String {
        let mut table = String::new();
        let mut line = |text: String| {
            // Writing to a string cannot fail.
            let _ = writeln!(table, "{}", text.trim_end());
        };
        line(format!("{}: {} vertices, {} edges", self.dataset, self.vertices, self.edges));
        line(format!(
            "{:16} {:14} {:10} {:>7} {:>13} {:>13} {:>13}  {:9} {:>11}",
            "workload", "metric", "store", "threads", "median", "min", "max", "unit", "to hedgerow"
        ));
        let mut before = "";
        for Row { figure, median, min, max, ratio_to_hedgerow, .. } in &self.results {
            let Figure { workload, store, threads, metric, unit } = *figure;
            if workload != before {
                line(String::new());
            }
            before = workload;
            let ratio = ratio_to_hedgerow.map(|ratio| format!("{ratio:.3}")).unwrap_or_default();
            let numbers = [median, min, max].map(|value| quantity(*value)).join(" ");
            line(format!(
                "{workload:16} {metric:14} {store:10} {threads:>7} {numbers}  {unit:9} {ratio:>11}"
            ));
        }
        table
    }
}

fn quantity(value: f64) -> String {
    match value {
        100.0.. => format!("{value:>13.0}"),
        0.01.. => format!("{value:>13.3}"),
        _ => format!("{value:>13.6}"),
    }
}

/// The minimum, the median and the maximum of some values; the median of an even number is the mean
/// of the two in the middle.
pub fn summary(values: &[f64]) -> (f64, f64, f64) {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    let at = |position: usize| sorted.get(position).copied().unwrap_or(f64::NAN);
    (at(0), f64::midpoint(at(last / 2), at(last.div_ceil(2))), at(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_the_same_figure_are_side_by_side() {
        let mut figures = Figures::default();
        let figure = |store, workload, metric| Figure { workload, store, threads: 1, metric, unit: "s" };
        for store in ["one", "other"] {
            for (workload, metric) in [("open", "time"), ("open", "bytes"), ("scan", "time")] {
                figures.push(figure(store, workload, metric), 1.0);
            }
        }
        let order: Vec<_> =
            figures.in_order().into_iter().map(|(figure, _)| (figure.metric, figure.store)).collect();
        let expected = [("time", "one"), ("time", "other"), ("bytes", "one"), ("bytes", "other")];
        assert_eq!(order, [&expected[..], &expected[..2]].concat());
    }

    #[test]
    fn the_median_is_in_the_middle_of_any_order() {
        assert_eq!(summary(&[3.0, 1.0, 2.0]), (1.0, 2.0, 3.0));
        assert_eq!(summary(&[4.0, 1.0, 3.0, 2.0]), (1.0, 2.5, 4.0));
        assert_eq!(summary(&[7.0]), (7.0, 7.0, 7.0));
    }
}
