//! The figures: medians, and the ratios of Hedgerow's rates to each store's.

use super::args::{Arguments, MixName};
use super::stores::Level;
use crate::compare::figures::summary;
use crate::compare::graph::Graph;
use crate::link_bench::Measured;
use anyhow::Result;
use hedgerow_driver::monitor::Latencies;
use serde::Serialize;
use std::fmt::Write;

/// Identifies figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Cell {
    /// The mix of requests.
    pub mix: MixName,
    /// The durability of commits.
    pub durability: Level,
    /// The number of concurrent clients.
    pub clients: usize,
    /// The store.
    pub store: &'static str,
}

/// The values of all repetitions. With few requests, there may be no write.
#[derive(Clone, Debug, Default)]
struct Values {
    requests_per_second: Vec<f64>,
    read_p50: Vec<f64>,
    read_p99: Vec<f64>,
    write_p50: Vec<f64>,
    write_p99: Vec<f64>,
}

/// Figures as measured, in the order of their first measurement.
#[derive(Debug)]
pub struct Figures {
    graph: (String, u32, usize),
    cells: Vec<(Cell, Values)>,
}

impl Figures {
    /// No figures yet.
    pub fn new(graph: &Graph) -> Self {
        Figures { graph: (graph.name.clone(), graph.vertices, graph.stream.len()), cells: Vec::new() }
    }

    /// Records the measurements of clients.
    pub fn push(&mut self, cell: Cell, measured: &Measured) {
        let position = self.cells.iter().position(|(other, _)| *other == cell).unwrap_or_else(|| {
            self.cells.push((cell, Values::default()));
            self.cells.len() - 1
        });
        let values = &mut self.cells[position].1;
        values.requests_per_second.push(measured.rate());
        let mut note = |latencies: &Latencies, at: f64, into: fn(&mut Values) -> &mut Vec<f64>| {
            if latencies.count() > 0 {
                into(values).push(latencies.at_quantile(at));
            }
        };
        note(&measured.reads, 0.5, |values| &mut values.read_p50);
        note(&measured.reads, 0.99, |values| &mut values.read_p99);
        note(&measured.writes, 0.5, |values| &mut values.write_p50);
        note(&measured.writes, 0.99, |values| &mut values.write_p99);
    }

    /// The median rate of a store under the conditions of another cell.
    fn rate(&self, cell: Cell, store: &str) -> Option<f64> {
        let is_it = |other: &Cell| *other == Cell { store: other.store, ..cell } && other.store == store;
        let (_, values) = self.cells.iter().find(|(other, _)| is_it(other))?;
        Some(summary(&values.requests_per_second).1)
    }
}

/// The median, minimum and maximum of the repetitions.
#[derive(Clone, Copy, Debug, Serialize)]
struct Summary {
    median: f64,
    min: f64,
    max: f64,
}

fn summarised(values: &[f64]) -> Option<Summary> {
    let (min, median, max) = summary(values);
    (!values.is_empty()).then_some(Summary { median, min, max })
}

/// The figures of a cell.
#[derive(Debug, Serialize)]
struct Row {
    #[serde(flatten)]
    cell: Cell,
    requests_per_second: Option<Summary>,
    /// The rate of the engine `rapid` over the rate of this store.
    rapid_over_this: Option<f64>,
    /// The rate of the engine `tel` over the rate of this store.
    tel_over_this: Option<f64>,
    read_p50_ns: Option<Summary>,
    read_p99_ns: Option<Summary>,
    write_p50_ns: Option<Summary>,
    write_p99_ns: Option<Summary>,
}

/// The report of a run.
#[derive(Debug, Serialize)]
pub struct Report {
    command: Vec<String>,
    cores: usize,
    dataset: String,
    nodes: u32,
    links: usize,
    list_limit: usize,
    repetitions: u32,
    seconds: f64,
    /// Each store and its setup.
    stores: Vec<(&'static str, &'static str)>,
    results: Vec<Row>,
}

impl Report {
    /// A report of these figures.
    pub fn new(arguments: &Arguments, figures: Figures) -> Self {
        let row = |(cell, values): &(Cell, Values)| {
            let rate = summarised(&values.requests_per_second);
            let over_this = |engine| Some(figures.rate(*cell, engine)? / rate?.median);
            Row {
                cell: *cell,
                requests_per_second: rate,
                rapid_over_this: over_this("rapid"),
                tel_over_this: over_this("tel"),
                read_p50_ns: summarised(&values.read_p50),
                read_p99_ns: summarised(&values.read_p99),
                write_p50_ns: summarised(&values.write_p50),
                write_p99_ns: summarised(&values.write_p99),
            }
        };
        let results = figures.cells.iter().map(row).collect();
        let (dataset, nodes, links) = figures.graph;
        Report {
            command: std::env::args().collect(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            dataset,
            nodes,
            links,
            list_limit: arguments.list_limit,
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
            "{}: {} nodes, {} links, lists of {} links at most; medians of {} times {} s",
            self.dataset, self.nodes, self.links, self.list_limit, self.repetitions, self.seconds
        ));
        line("accesses: power laws over shuffled nodes, exponents 0.8 (reads of links), 0.741 (writes of links), \
              0.625 (reads of nodes), 0.606 (updates of nodes)"
            .to_owned());
        line(format!(
            "{:4} {:9} {:>7} {:8} {:>11} {:>11} {:>11} {:>7} {:>7} {:>10} {:>10} {:>10} {:>10}",
            "mix",
            "commits",
            "clients",
            "store",
            "requests/s",
            "min",
            "max",
            "rapid/",
            "tel/",
            "read p50",
            "p99 µs",
            "write p50",
            "p99 µs"
        ));
        let mut before = None;
        for row in &self.results {
            let Cell { mix, durability, clients, store } = row.cell;
            if before.is_some_and(|before| before != (mix, durability, clients)) {
                line(String::new());
            }
            before = Some((mix, durability, clients));
            let rates = row.requests_per_second.map_or([0.0; 3], |rate| [rate.median, rate.min, rate.max]);
            let rates = rates.map(|rate| format!("{rate:>11.0}")).join(" ");
            let ratio = |ratio: Option<f64>| ratio.map(|ratio| format!("{ratio:.2}")).unwrap_or_default();
            let ratios =
                [row.rapid_over_this, row.tel_over_this].map(|over| format!("{:>7}", ratio(over))).join(" ");
            let micros = |time: Option<Summary>| time.map(|time| format!("{:.1}", time.median / 1e3));
            let times = [row.read_p50_ns, row.read_p99_ns, row.write_p50_ns, row.write_p99_ns];
            let times = times.map(|time| format!("{:>10}", micros(time).unwrap_or_default())).join(" ");
            let (mix, durability) =
                (format!("{mix:?}").to_lowercase(), format!("{durability:?}").to_lowercase());
            line(format!("{mix:4} {durability:9} {clients:>7} {store:8} {rates} {ratios} {times}"));
        }
        table
    }
}
