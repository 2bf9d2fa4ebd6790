//! The part of every kernel's summary about the graph and how it was loaded.

use super::args::EngineName;
use super::session::Session;
use crate::input::{Loaded, describe_skipped};
use crate::text;
use serde::Serialize;
use std::time::Duration;

/// Facts about the graph and how it was loaded.
#[derive(Debug, Serialize)]
pub struct Facts {
    #[serde(skip_serializing_if = "Option::is_none")]
    graph: Option<String>,
    #[serde(flatten)]
    stored: Option<Stored>,
    undirected: bool,
    engine: EngineName,
    threads: usize,
    vertices: u64,
    /// Distinct edges.
    edges: u64,
    #[serde(flatten)]
    rows: Option<Rows>,
    load_seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    csr_build_seconds: Option<f64>,
    kernel_seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
}

/// Facts about a file.
#[derive(Debug, Serialize)]
struct Rows {
    /// Edges in the file, repeated ones counted.
    rows: u64,
    skipped_lines: u64,
    load_edges_per_second: f64,
}

/// Facts about a store.
#[derive(Debug, Serialize)]
struct Stored {
    store: String,
    /// The commit whose state it is.
    timestamp: u64,
    from_checkpoint: bool,
}

impl Facts {
    /// The facts of a finished run.
    pub fn new(session: &Session<'_>, csr_build: Option<Duration>, kernel: Duration) -> Self {
        let (args, loaded) = (session.options.common, session.loaded);
        let snapshot = &loaded.snapshot;
        let stored = args.store.as_ref().map(|path| Stored {
            store: path.display().to_string(),
            timestamp: snapshot.timestamp().0,
            from_checkpoint: args.from_checkpoint,
        });
        let rows = args.graph.is_some().then(|| Rows {
            rows: loaded.rows,
            skipped_lines: loaded.skipped.count,
            load_edges_per_second: text::rate(loaded.rows, loaded.elapsed),
        });
        Facts {
            graph: args.graph.as_ref().map(|path| path.display().to_string()),
            stored,
            undirected: snapshot.topology().is_undirected(),
            engine: args.engine(),
            threads: session.threads.count(),
            vertices: snapshot.vertex_count(),
            edges: snapshot.edge_count_of(session.label_of_graph).at_most(),
            rows,
            load_seconds: loaded.elapsed.as_secs_f64(),
            csr_build_seconds: csr_build.map(|elapsed| elapsed.as_secs_f64()),
            kernel_seconds: kernel.as_secs_f64(),
            output: session.options.output.map(|path| path.display().to_string()),
        }
    }

    /// The facts as lines of a table.
    pub fn rows(&self, loaded: &Loaded) -> Vec<(&'static str, String)> {
        let direction = if self.undirected { "undirected" } else { "directed" };
        let mut rows = Vec::new();
        if let Some(graph) = &self.graph {
            rows.push(("graph", format!("{graph}, {direction}")));
        }
        if let Some(Stored { store, timestamp, from_checkpoint }) = &self.stored {
            let state = if *from_checkpoint { "its checkpoint at commit" } else { "commit" };
            rows.push(("store", format!("{store}, {direction}, {state} {}", text::Count(*timestamp))));
        }
        rows.push(("vertices", text::Count(self.vertices).to_string()));
        let (edges, load) = (text::Count(self.edges), text::duration(loaded.elapsed));
        match &self.rows {
            Some(Rows { rows: count, .. }) => {
                rows.push(("edges", format!("{edges} in {}", text::counted(*count, "row", "rows"))));
                if loaded.skipped.count > 0 {
                    rows.push(("skipped lines", describe_skipped(&loaded.skipped)));
                }
                let rate = text::edges_per_second(*count, loaded.elapsed);
                rows.push(("load", format!("{load}, {rate}")));
            }
            None => rows.extend([("edges", edges.to_string()), ("load", load)]),
        }
        if let Some(seconds) = self.csr_build_seconds {
            rows.push(("static copy", text::duration(Duration::from_secs_f64(seconds))));
        }
        let engine = match self.engine {
            EngineName::Rapid => "engine rapid",
            EngineName::Tel => "engine tel",
            EngineName::Csr => "engine csr",
        };
        let kernel = text::duration(Duration::from_secs_f64(self.kernel_seconds));
        let threads = text::counted(self.threads as u64, "thread", "threads");
        rows.push(("kernel", format!("{kernel}, {engine}, {threads}")));
        rows
    }

    /// The path of the result file, as a line of a table.
    pub fn output_row(&self) -> Option<(&'static str, String)> {
        self.output.as_ref().map(|path| ("output", path.clone()))
    }
}
