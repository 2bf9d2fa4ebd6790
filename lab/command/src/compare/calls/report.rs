//! The figures: medians of nanoseconds per call, and their ratios to the medians of `rapid`.

use super::args::Arguments;
use super::measure::Operation;
use super::stores::REFERENCE;
use super::work::Keys;
use crate::compare::figures::summary;
use crate::compare::graph::Graph;
use anyhow::Result;
use serde::Serialize;
use std::fmt::Write;

/// Identifies figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Cell {
    /// The kind of keys.
    pub keys: Keys,
    /// The call.
    pub operation: Operation,
    /// The store.
    pub store: &'static str,
}

/// Nanoseconds per call in each repetition, in the order of the first measurement; `None` if the
/// store has no such operation.
#[derive(Debug)]
pub struct Figures {
    graph: (String, u32, usize),
    cells: Vec<(Cell, Vec<f64>)>,
}

impl Figures {
    /// No figures yet.
    pub fn new(graph: &Graph) -> Self {
        Figures { graph: (graph.name.clone(), graph.vertices, graph.stream.len()), cells: Vec::new() }
    }

    /// Records a repetition.
    pub fn push(&mut self, cell: Cell, nanoseconds: Option<f64>) {
        match self.cells.iter_mut().find(|(other, _)| *other == cell) {
            Some((_, values)) => values.extend(nanoseconds),
            None => self.cells.push((cell, nanoseconds.into_iter().collect())),
        }
    }
}

/// The figures of a cell.
#[derive(Debug, Serialize)]
struct Row {
    #[serde(flatten)]
    cell: Cell,
    #[serde(flatten)]
    figures: Option<Measured>,
    /// The feature that the store lacks, if it has no such operation.
    lacking: Option<&'static str>,
}

/// Medians of the repetitions.
#[derive(Clone, Copy, Debug, Serialize)]
struct Measured {
    nanoseconds: f64,
    min: f64,
    max: f64,
    calls_per_second: f64,
    /// The time over the time of `rapid`.
    over_rapid: Option<f64>,
}

/// The report of a run.
#[derive(Debug, Serialize)]
pub struct Report {
    command: Vec<String>,
    cores: usize,
    dataset: String,
    vertices: u32,
    edges: usize,
    repetitions: u32,
    seconds: f64,
    /// Each store and its setup.
    stores: Vec<(&'static str, &'static str)>,
    results: Vec<Row>,
}

impl Report {
    /// A report of these figures.
    pub fn new(arguments: &Arguments, figures: Figures) -> Self {
        let median = |values: &[f64]| summary(values).1;
        let of_rapid = |cell: Cell| {
            let (_, values) =
                figures.cells.iter().find(|(other, _)| *other == Cell { store: REFERENCE, ..cell })?;
            Some(median(values))
        };
        let row = |(cell, values): &(Cell, Vec<f64>)| {
            let (min, nanoseconds, max) = summary(values);
            let over_rapid = of_rapid(*cell).map(|rapid| nanoseconds / rapid);
            let measured =
                Measured { nanoseconds, min, max, calls_per_second: 1e9 / nanoseconds, over_rapid };
            let is_measured = !values.is_empty();
            Row {
                cell: *cell,
                figures: is_measured.then_some(measured),
                lacking: (!is_measured).then_some(cell.operation.lacking()),
            }
        };
        let results = figures.cells.iter().map(row).collect();
        let (dataset, vertices, edges) = figures.graph;
        Report {
            command: std::env::args().collect(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            dataset,
            vertices,
            edges,
            repetitions: arguments.repetitions,
            seconds: arguments.seconds,
            stores: arguments.stores.iter().map(|kind| (kind.name, kind.setup)).collect(),
            results,
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
        line(format!(
            "{}: {} vertices, {} edges; one thread, medians of {} times {} s",
            self.dataset, self.vertices, self.edges, self.repetitions, self.seconds
        ));
        line(format!(
            "{:8} {:16} {:9} {:>12} {:>11} {:>11} {:>13} {:>11}",
            "keys", "call", "store", "ns per call", "min", "max", "calls/s", "over rapid"
        ));
        let mut before = None;
        for Row { cell: Cell { keys, operation, store }, figures, lacking } in &self.results {
            if before != Some((keys, operation)) {
                line(String::new());
            }
            before = Some((keys, operation));
            let name = operation.name();
            let keys = format!("{keys:?}").to_lowercase();
            let cells = match figures {
                Some(Measured { nanoseconds, min, max, calls_per_second, over_rapid }) => {
                    let ratio = over_rapid.map(|ratio| format!("{ratio:.2}")).unwrap_or_default();
                    format!(
                        "{nanoseconds:>12.1} {min:>11.1} {max:>11.1} {calls_per_second:>13.0} {ratio:>11}"
                    )
                }
                None => format!("{:>12}", lacking.unwrap_or_default()),
            };
            line(format!("{keys:8} {name:16} {store:9} {cells}"));
        }
        table
    }
}
