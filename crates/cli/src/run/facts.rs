//! The part of every kernel's summary about the graph and its loading.

use super::args::{EngineName, ViewName};
use super::session::Session;
use crate::input::{Loaded, describe_skipped};
use crate::options::Place;
use crate::text;
use hedgerow::Snapshot;
use hedgerow_formats::STANDARD_OUTPUT;
use serde::Serialize;
use std::time::Duration;

/// Facts about the graph and its loading.
#[derive(Debug, Serialize)]
pub struct Facts {
    #[serde(skip_serializing_if = "Option::is_none")]
    graph: Option<String>,
    #[serde(flatten)]
    stored: Option<Stored>,
    undirected: bool,
    engine: EngineName,
    #[serde(flatten)]
    view: Option<View>,
    threads: usize,
    vertices: u64,
    /// Distinct edges.
    edges: text::Edges,
    #[serde(skip_serializing_if = "Option::is_none")]
    edges_at_least: Option<u64>,
    #[serde(flatten)]
    rows: Option<Rows>,
    load_seconds: text::Seconds,
    #[serde(skip_serializing_if = "Option::is_none")]
    csr_build_seconds: Option<text::Seconds>,
    kernel_seconds: text::Seconds,
    /// The file of the results of vertices; null if they are nowhere.
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
    /// The commit whose state was read.
    timestamp: u64,
    from_checkpoint: bool,
}

/// The state that the kernel read, if it is not simply the newest.
#[derive(Debug, Serialize)]
struct View {
    view: ViewName,
    /// The number of commits by which the state was behind the newest.
    commits_behind: u64,
}

impl Facts {
    /// The facts of a finished run.
    pub fn new(session: &Session<'_>, csr_build: Option<Duration>, kernel: Duration) -> Self {
        let (graph, loaded) = (session.graph, session.graph.loaded);
        let state = &loaded.state;
        let path = graph.place.path().display().to_string();
        let (file, stored, rows) = match graph.place {
            Place::File(_) => {
                let rows = Rows {
                    rows: loaded.rows,
                    skipped_lines: loaded.skipped.count,
                    load_edges_per_second: text::rate(loaded.rows, loaded.elapsed),
                };
                (Some(path), None, Some(rows))
            }
            Place::Store(_) => {
                let (timestamp, from_checkpoint) = (state.timestamp().0, graph.from_checkpoint);
                (None, Some(Stored { store: path, timestamp, from_checkpoint }), None)
            }
        };
        let view = View { view: graph.view, commits_behind: state.snapshot().map_or(0, Snapshot::behind) };
        let edges = text::Edges(state.edge_count_of(graph.label));
        Facts {
            graph: file,
            stored,
            undirected: state.topology().is_undirected(),
            engine: graph.engine,
            view: (graph.view != ViewName::Fresh).then_some(view),
            threads: graph.threads.count(),
            vertices: state.vertex_count(),
            edges,
            edges_at_least: edges.at_least(),
            rows,
            load_seconds: text::Seconds(loaded.elapsed),
            csr_build_seconds: csr_build.map(text::Seconds),
            kernel_seconds: text::Seconds(kernel),
            output: session.output.map(|path| path.display().to_string()),
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
        let (edges, load) = (self.edges, text::duration(loaded.elapsed));
        match &self.rows {
            Some(Rows { rows: count, .. }) => {
                rows.push(("edges", format!("{edges} in {}", text::counted(*count, "row", "rows"))));
                if loaded.skipped.count > 0 {
                    rows.push(("skipped lines", describe_skipped(&loaded.skipped)));
                }
                let rate = text::edges_per_second(*count, loaded.elapsed);
                rows.push(("load", format!("{load}, {rate}")));
            }
            None => rows.push(("edges", edges.to_string())),
        }
        if self.rows.is_none() && !loaded.elapsed.is_zero() {
            rows.push(("load", load));
        }
        if let Some(seconds) = self.csr_build_seconds {
            rows.push(("static copy", seconds.to_string()));
        }
        if let Some(View { view, commits_behind }) = &self.view {
            let behind = text::counted(*commits_behind, "commit", "commits");
            rows.push(("view", format!("{}, {behind} behind the newest", view.name())));
        }
        let engine = self.engine.name();
        let threads = text::counted(self.threads as u64, "thread", "threads");
        rows.push(("kernel", format!("{}, engine {engine}, {threads}", self.kernel_seconds)));
        rows
    }

    /// The path of the result file, as a line of a table.
    pub fn output_row(&self) -> Option<(&'static str, String)> {
        let file = self.output.as_ref().filter(|path| *path != STANDARD_OUTPUT);
        file.map(|path| ("output", path.clone()))
    }
}
