//! The figures: medians, and their ratios to RocksDB's.

use super::args::Arguments;
use super::edges::Prepared;
use super::job::{Answers, Line};
use super::process::TABLE_BYTES;
use super::stores::REFERENCE;
use crate::compare::figures::summary;
use anyhow::Result;
use serde::Serialize;
use std::fmt::Write;

/// Identifies a figure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Name {
    workload: String,
    metric: String,
    unit: String,
}

/// The measured values, in the order of the first measurement.
#[derive(Debug, Default)]
pub struct Figures {
    values: Vec<(Name, &'static str, Vec<f64>)>,
    notes: Vec<(&'static str, String)>,
    wrong: Vec<(&'static str, String)>,
}

impl Figures {
    /// Records the answers of a process, and the reason if it ended early.
    pub fn push(&mut self, store: &'static str, lines: Vec<Line>, failure: Option<String>, right: &Answers) {
        for line in lines {
            match line {
                Line::Figure { workload, metric, unit, value } => {
                    self.push_value(Name { workload, metric, unit }, store, value);
                }
                Line::Answers(answers) if !answers.agree_with(right) => {
                    self.wrong.push((store, format!("{answers:?} are wrong, {right:?} would be right")));
                }
                Line::Answers(_) | Line::Incomplete => {}
                Line::Note(note) => self.notes.push((store, note)),
            }
        }
        self.notes.extend(failure.map(|failure| (store, failure)));
    }

    fn push_value(&mut self, name: Name, store: &'static str, value: f64) {
        match self.values.iter_mut().find(|(other, of, _)| (other, *of) == (&name, store)) {
            Some((_, _, values)) => values.push(value),
            None => self.values.push((name, store, vec![value])),
        }
    }

    /// The median of a figure of a store.
    fn median(&self, name: &Name, store: &str) -> Option<f64> {
        let found = self.values.iter().find(|(other, of, _)| (other, *of) == (name, store));
        found.map(|(_, _, values)| summary(values).1)
    }

    /// Adds the share of its rate that a writer keeps during a search.
    fn add_kept(&mut self, stores: &[&'static str]) {
        let name = |workload: &str, metric: &str, unit: &str| Name {
            workload: workload.to_owned(),
            metric: metric.to_owned(),
            unit: unit.to_owned(),
        };
        for store in stores {
            let rate = |workload| self.median(&name(workload, "throughput", "edges/s"), store);
            if let (Some(alone), Some(beside)) = (rate("insert"), rate("beside")) {
                self.push_value(name("beside", "kept-of-insert", "times"), store, beside / alone);
            }
        }
    }
}

/// A figure of one store.
#[derive(Debug, Serialize)]
struct Row {
    #[serde(flatten)]
    name: Name,
    store: &'static str,
    median: f64,
    min: f64,
    max: f64,
    /// The median over RocksDB's.
    over_rocksdb: Option<f64>,
}

/// The report of a run.
#[derive(Debug, Serialize)]
pub struct Report {
    command: Vec<String>,
    cores: usize,
    dataset: String,
    vertices: u32,
    /// Edges at the end, both directions counted.
    edges: u64,
    /// Bytes that a store may use for changes and blocks.
    budget_bytes: u64,
    /// Bytes that a process may use in addition.
    process_bytes: u64,
    /// Additional bytes per vertex, without the arrays of algorithms.
    table_bytes_per_vertex: u64,
    repetitions: u32,
    /// Each store and its setup.
    stores: Vec<(&'static str, &'static str)>,
    results: Vec<Row>,
    notes: Vec<(&'static str, String)>,
    wrong_answers: Vec<(&'static str, String)>,
}

impl Report {
    /// A report of these figures.
    pub fn new(arguments: &Arguments, graph: &Prepared, budget_bytes: u64, mut figures: Figures) -> Self {
        let stores: Vec<_> = arguments.stores.iter().map(|kind| (kind.name, kind.setup)).collect();
        figures.add_kept(&arguments.stores.iter().map(|kind| kind.name).collect::<Vec<_>>());
        let row = |(name, store, values): &(Name, &'static str, Vec<f64>)| {
            let (min, median, max) = summary(values);
            let ratio = figures.median(name, REFERENCE).map(|reference| median / reference);
            let over_rocksdb = ratio.filter(|ratio| ratio.is_finite());
            Row { name: name.clone(), store, median, min, max, over_rocksdb }
        };
        let results = figures.values.iter().map(row).collect();
        Report {
            command: std::env::args().collect(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            dataset: graph.name.clone(),
            vertices: graph.vertices,
            edges: graph.counts.left() * 2,
            budget_bytes,
            process_bytes: arguments.process << 20,
            table_bytes_per_vertex: TABLE_BYTES,
            repetitions: arguments.repetitions,
            stores,
            results,
            notes: figures.notes,
            wrong_answers: figures.wrong,
        }
    }

    /// The stores with wrong answers.
    pub fn wrong(&self) -> Vec<&str> {
        self.wrong_answers.iter().map(|(store, _)| *store).collect()
    }

    /// The report as one JSON object.
    pub fn to_json(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// The report as a table: a line per figure, a column per store.
    pub fn to_table(&self) -> String {
        let mut table = String::new();
        let mut line = |text: String| {
            // Writing to a string cannot fail.
            let _ = writeln!(table, "{}", text.trim_end());
        };
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        line(format!(
            "{}: {} vertices, {} edges (both directions); {:.1} MiB for the store; limit: {:.0} MiB more, {} bytes per vertex, \
             and the arrays of algorithms",
            self.dataset,
            self.vertices,
            self.edges,
            mib(self.budget_bytes),
            mib(self.process_bytes),
            self.table_bytes_per_vertex,
        ));
        let heads: String =
            self.stores.iter().map(|(store, _)| format!(" {store:>12} {:>9}", "/rocksdb")).collect();
        line(format!("{:10} {:15} {:9}{heads}", "workload", "metric", "unit"));
        let mut names: Vec<&Name> = Vec::new();
        for Row { name, .. } in &self.results {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let phase = |name: &&Name| names.iter().position(|other| other.workload == name.workload);
        let mut ordered = names.clone();
        ordered.sort_by_key(phase);
        let mut before = "";
        for name in ordered {
            if name.workload != before {
                line(String::new());
            }
            before = &name.workload;
            let cell = |(store, _): &(&'static str, _)| self.cell(name, store);
            let cells: String = self.stores.iter().map(cell).collect();
            line(format!("{:10} {:15} {:9}{cells}", name.workload, name.metric, name.unit));
        }
        line(String::new());
        for (store, text) in self.wrong_answers.iter().chain(&self.notes) {
            line(format!("{store}: {text}"));
        }
        table
    }

    fn cell(&self, name: &Name, store: &str) -> String {
        let Some(row) = self.results.iter().find(|row| (&row.name, row.store) == (name, store)) else {
            return format!(" {:>12} {:>9}", "-", "");
        };
        let value = match row.median {
            1000.0.. => format!("{:.0}", row.median),
            10.0.. => format!("{:.1}", row.median),
            _ => format!("{:.3}", row.median),
        };
        let ratio = row.over_rocksdb.map(|ratio| format!("{ratio:.3}")).unwrap_or_default();
        format!(" {value:>12} {ratio:>9}")
    }
}
