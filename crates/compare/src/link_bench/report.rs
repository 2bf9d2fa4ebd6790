//! What was measured: medians, and what Hedgerow's are over those of each store.

use super::stores::Level;
use super::{Arguments, MixName};
use crate::figures::summary;
use crate::graph::Graph;
use anyhow::Result;
use hedgerow_driver::link_bench::{Latencies, Measured};
use serde::Serialize;
use std::fmt::Write;

/// What figures are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Cell {
    /// Which requests.
    pub mix: MixName,
    /// What a commit survives.
    pub durability: Level,
    /// How many ask at a time.
    pub clients: usize,
    /// Who is asked.
    pub store: &'static str,
}

/// Values of all repetitions. Of few requests none may be a write.
#[derive(Clone, Debug, Default)]
struct Values {
    requests_per_second: Vec<f64>,
    read_p50: Vec<f64>,
    read_p99: Vec<f64>,
    write_p50: Vec<f64>,
    write_p99: Vec<f64>,
}

/// Figures as measured, in the order in which they were first.
#[derive(Debug)]
pub struct Figures {
    graph: (String, u32, usize),
    cells: Vec<(Cell, Values)>,
}

impl Figures {
    /// None yet.
    pub fn new(graph: &Graph) -> Self {
        Figures { graph: (graph.name.clone(), graph.vertices, graph.stream.len()), cells: Vec::new() }
    }

    /// Notes what clients have seen.
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

    /// The median of the rates of a store, under the same conditions as another.
    fn rate(&self, cell: Cell, store: &str) -> Option<f64> {
        let is_it = |other: &Cell| *other == Cell { store: other.store, ..cell } && other.store == store;
        let (_, values) = self.cells.iter().find(|(other, _)| is_it(other))?;
        Some(summary(&values.requests_per_second).1)
    }
}

/// The median, least and greatest value of the repetitions.
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
    /// How many times as many requests the engine `rapid` answers.
    rapid_over_this: Option<f64>,
    /// How many times as many requests the engine `tel` answers.
    tel_over_this: Option<f64>,
    read_p50_ns: Option<Summary>,
    read_p99_ns: Option<Summary>,
    write_p50_ns: Option<Summary>,
    write_p99_ns: Option<Summary>,
}

/// What a run has shown.
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
    /// Each store, and how it was set up.
    stores: Vec<(&'static str, &'static str)>,
    results: Vec<Row>,
}

impl Report {
    /// Of what was measured.
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

    /// As one JSON object.
    pub fn to_json(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// For people.
    pub fn to_table(&self) -> String {
        let mut table = String::new();
        let mut line = |text: String| {
            // A string takes everything.
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
