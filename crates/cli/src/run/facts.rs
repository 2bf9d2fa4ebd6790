//! Loading for a kernel, and what every kernel's summary says about it.

use super::target::Target;
use crate::args::{CommonRunArgs, EngineName};
use crate::console::Console;
use crate::error::CliError;
use crate::input::{Input, Loaded, describe_skipped};
use crate::interrupt::Interrupt;
use crate::threads::Threads;
use crate::{progress, results, text};
use hedgerow::{BuildOptions, Key, LabelId, Topology};
use serde::Serialize;
use std::time::{Duration, Instant};

/// What is said about the graph and how it was loaded.
#[derive(Debug, Serialize)]
pub struct Facts {
    graph: String,
    undirected: bool,
    engine: EngineName,
    threads: usize,
    vertices: u64,
    /// Distinct edges.
    edges: u64,
    /// Edges as they stand in the file.
    rows: u64,
    skipped_lines: u64,
    load_seconds: f64,
    load_edges_per_second: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    csr_build_seconds: Option<f64>,
    kernel_seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
}

/// A key, as JSON has it: a number or a string.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum JsonKey {
    /// A number, or a dense id.
    Number(u64),
    /// Text.
    Text(String),
}

impl From<Key> for JsonKey {
    fn from(key: Key) -> Self {
        match key {
            Key::Number(number) => JsonKey::Number(number),
            Key::Text(text) => JsonKey::Text(text.into()),
        }
    }
}

impl std::fmt::Display for JsonKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            JsonKey::Number(number) => number.fmt(f),
            JsonKey::Text(text) => text.fmt(f),
        }
    }
}

/// Loads the graph that a kernel is to run on, if its result can be written.
pub fn load(
    args: &CommonRunArgs,
    threads: &Threads,
    console: &Console,
    interrupt: &Interrupt,
) -> Result<Loaded, CliError> {
    if let Some(path) = &args.output {
        results::check(path)?;
    }
    // The kernels read in-neighbours: without a reverse adjacency they would have to build one.
    let topology = if args.undirected { Topology::Undirected } else { Topology::DirectedWithReverse };
    let input = Input { graph: &args.graph, format: &args.format };
    input.load(topology, &args.memory, threads, console, interrupt)
}

/// What the kernel runs on, and how long a static copy took.
pub fn target<'a>(
    args: &CommonRunArgs,
    loaded: &'a Loaded,
    threads: &Threads,
    console: &Console,
    interrupt: &Interrupt,
) -> Result<(Target<'a>, Option<Duration>), CliError> {
    if args.engine == EngineName::Rapid {
        return Ok((Target::Snapshot(&loaded.snapshot), None));
    }
    let started = Instant::now();
    let bar = progress::spinner(console, "copying");
    let (pool, cancel) = (threads.pool(), Some(interrupt.token()));
    let options = BuildOptions { pool, cancel, ..BuildOptions::default() };
    let csr = interrupt.or_interrupted(loaded.snapshot.to_csr::<()>(LabelId::DEFAULT, options))?;
    bar.finish_and_clear();
    Ok((Target::Csr(csr), Some(started.elapsed())))
}

impl Facts {
    /// The facts of a run that is over.
    pub fn new(
        args: &CommonRunArgs,
        threads: &Threads,
        loaded: &Loaded,
        csr_build: Option<Duration>,
        kernel: Duration,
    ) -> Self {
        Facts {
            graph: args.graph.display().to_string(),
            undirected: args.undirected,
            engine: args.engine,
            threads: threads.count(),
            vertices: loaded.snapshot.vertex_count(),
            edges: loaded.snapshot.edge_count(),
            rows: loaded.rows,
            skipped_lines: loaded.skipped.count,
            load_seconds: loaded.elapsed.as_secs_f64(),
            load_edges_per_second: text::rate(loaded.rows, loaded.elapsed),
            csr_build_seconds: csr_build.map(|elapsed| elapsed.as_secs_f64()),
            kernel_seconds: kernel.as_secs_f64(),
            output: args.output.as_ref().map(|path| path.display().to_string()),
        }
    }

    /// The same as lines of a table.
    pub fn rows(&self, loaded: &Loaded) -> Vec<(&'static str, String)> {
        let direction = if self.undirected { "undirected" } else { "directed" };
        let load = text::edges_per_second(self.rows, loaded.elapsed);
        let mut rows = vec![
            ("graph", format!("{}, {direction}", self.graph)),
            ("vertices", text::Count(self.vertices).to_string()),
            ("edges", format!("{} in {}", text::Count(self.edges), text::counted(self.rows, "row", "rows"))),
        ];
        if loaded.skipped.count > 0 {
            rows.push(("skipped lines", describe_skipped(&loaded.skipped)));
        }
        rows.push(("load", format!("{}, {load}", text::duration(loaded.elapsed))));
        if let Some(seconds) = self.csr_build_seconds {
            rows.push(("static copy", text::duration(Duration::from_secs_f64(seconds))));
        }
        let engine = match self.engine {
            EngineName::Rapid => "engine rapid",
            EngineName::Csr => "engine csr",
        };
        let kernel = text::duration(Duration::from_secs_f64(self.kernel_seconds));
        let threads = text::counted(self.threads as u64, "thread", "threads");
        rows.push(("kernel", format!("{kernel}, {engine}, {threads}")));
        rows
    }

    /// Where the result file is, as a line of a table.
    pub fn output_row(&self) -> Option<(&'static str, String)> {
        self.output.as_ref().map(|path| ("output", path.clone()))
    }
}
