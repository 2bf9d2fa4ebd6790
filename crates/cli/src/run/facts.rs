//! What every kernel's summary says about the graph and how it was loaded.

use super::session::Session;
use crate::args::EngineName;
use crate::input::{Loaded, describe_skipped};
use crate::text;
use serde::Serialize;
use std::time::Duration;

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

impl Facts {
    /// The facts of a run that is over.
    pub fn new(session: &Session<'_>, csr_build: Option<Duration>, kernel: Duration) -> Self {
        let (args, loaded) = (session.options.common, session.loaded);
        Facts {
            graph: args.graph.display().to_string(),
            undirected: args.undirected,
            engine: args.engine,
            threads: session.threads.count(),
            vertices: loaded.snapshot.vertex_count(),
            edges: loaded.snapshot.edge_count(),
            rows: loaded.rows,
            skipped_lines: loaded.skipped.count,
            load_seconds: loaded.elapsed.as_secs_f64(),
            load_edges_per_second: text::rate(loaded.rows, loaded.elapsed),
            csr_build_seconds: csr_build.map(|elapsed| elapsed.as_secs_f64()),
            kernel_seconds: kernel.as_secs_f64(),
            output: session.options.output.map(|path| path.display().to_string()),
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
