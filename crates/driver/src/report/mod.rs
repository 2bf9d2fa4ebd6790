//! The report of a run: rows with medians and ratios, as JSON and as a table.

mod machine;
mod rows;
mod table;

pub use machine::{Build, Machine};
pub use rows::Row;

use crate::samples::Samples;
use crate::{DataSet, Settings, StoreFacts};
use serde::Serialize;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The report of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The command line.
    pub command: Vec<String>,
    /// The end of the run, in seconds since 1970.
    pub finished_at: u64,
    /// Total time.
    pub seconds: f64,
    /// The machine.
    pub machine: Machine,
    /// The build that was measured.
    pub build: Build,
    /// The seed for shuffling and sampling.
    pub seed: u64,
    /// Repetitions of each measurement.
    pub repetitions: usize,
    /// True if everything was measured. If false, the run was stopped: figures are missing, and
    /// some have fewer repetitions.
    pub complete: bool,
    /// The graph.
    pub dataset: DataSetFacts,
    /// The location of stores, if any were measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<StoreFacts>,
    /// The figures.
    pub results: Vec<Row>,
}

/// The graph of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DataSetFacts {
    /// Its name.
    pub name: String,
    /// Number of vertices.
    pub vertices: u32,
    /// Number of directed adjacency entries.
    pub edges: usize,
}

impl Report {
    pub(crate) fn new(
        data: &DataSet,
        settings: &Settings,
        store: Option<StoreFacts>,
        samples: &Samples,
        elapsed: Duration,
    ) -> Self {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
        Report {
            command: std::env::args().collect(),
            finished_at: since_1970.map_or(0, |duration| duration.as_secs()),
            seconds: elapsed.as_secs_f64(),
            machine: Machine::detect(),
            build: Build::CURRENT,
            seed: settings.seed,
            repetitions: settings.repetitions,
            complete: true,
            dataset: DataSetFacts {
                name: data.name().to_owned(),
                vertices: data.vertices(),
                edges: data.stream().len(),
            },
            store,
            results: rows::of(data.name(), &settings.workloads, samples),
        }
    }

    /// The report as one JSON object; `docs/bench.md` describes it.
    #[must_use]
    pub fn to_json(&self) -> String {
        let json = serde_json::to_string_pretty(self);
        json.expect("strings, numbers and lists of them can always be written") + "\n"
    }

    /// The rows as a table for people.
    #[must_use]
    pub fn to_table(&self) -> String {
        table::of(&self.results)
    }
}
