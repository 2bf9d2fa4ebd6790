//! The summary of an import.

use super::context::Context;
use super::importer::Importer;
use crate::error::{CliError, StoredError};
use crate::input::describe_skipped;
use crate::stored::checkpoint::Checkpointed;
use crate::stored::schema;
use crate::text;
use hedgerow::Graph;
use hedgerow_formats::SkippedLines;
use serde::Serialize;
use std::time::Duration;

/// The printed summary of an import.
#[derive(Debug, Serialize)]
pub struct Imported {
    store: String,
    /// True if the store was created.
    created: bool,
    files: Vec<String>,
    topology: &'static str,
    keys: &'static str,
    label: String,
    /// The type of the values of the label's edges.
    values: Option<String>,
    engine: &'static str,
    durability: &'static str,
    /// True if this resumed an interrupted import.
    resumed: bool,
    /// Edges in the files, without the edges that an interrupted import had read.
    rows: u64,
    skipped_lines: u64,
    weights_left_out: u64,
    /// Vertices in the graph.
    vertices: u64,
    edges: text::Edges,
    #[serde(skip_serializing_if = "Option::is_none")]
    edges_at_least: Option<u64>,
    /// Vertices added by this import.
    vertices_added: u64,
    /// Edges added by this import; unknown if the engine counts later.
    edges_added: Option<u64>,
    commits: u64,
    checkpoint: Option<Checkpointed>,
    seconds: text::Seconds,
    edges_per_second: f64,
}

impl Imported {
    pub fn new(
        context: Context<'_>,
        importer: &Importer<'_>,
        graph: &Graph,
        checkpoint: Option<Checkpointed>,
        elapsed: Duration,
    ) -> Result<Self, CliError> {
        let snapshot = graph.snapshot().map_err(StoredError::from)?;
        let (before, target) = (importer.before(), context.target);
        let info = graph.store_info();
        let edges = text::Edges(snapshot.edge_count());
        Ok(Imported {
            store: context.args.store.display().to_string(),
            created: !target.exists(),
            files: context.sources.iter().map(|source| source.path().display().to_string()).collect(),
            topology: schema::topology(snapshot.topology()),
            keys: schema::keys(target.keys),
            label: target.schema.name.clone(),
            values: schema::values(&target.schema),
            engine: info.map_or("", |info| info.engine.name()),
            durability: context.args.durability.name(),
            resumed: importer.resumed(),
            rows: importer.rows(),
            skipped_lines: importer.skipped().count,
            weights_left_out: importer.weights_left_out(),
            vertices: snapshot.vertex_count(),
            edges,
            edges_at_least: edges.at_least(),
            vertices_added: snapshot.vertex_count() - before.vertices,
            edges_added: edges.0.exact().zip(before.edges.exact()).map(|(edges, before)| edges - before),
            commits: importer.commits(),
            checkpoint,
            seconds: text::Seconds(elapsed),
            edges_per_second: text::rate(importer.rows(), elapsed),
        })
    }

    /// The summary as text.
    pub fn describe(&self, skipped: &SkippedLines) -> String {
        let count = |number| text::Count(number).to_string();
        let made = if self.created { "made with" } else { "opened with" };
        let values =
            self.values.as_ref().map_or("without values".into(), |column| format!("values of type {column}"));
        let rows = text::counted(self.rows, "row", "rows");
        let repeated = match self.edges_added.map_or(0, |added| self.rows.saturating_sub(added)) {
            0 => String::new(),
            repeated => format!("; {}", text::counted(repeated, "repeats an edge", "repeat an edge")),
        };
        let resumed = if self.resumed { ", from where the last import stopped" } else { "" };
        let edges_added =
            self.edges_added.map_or(String::new(), |added| format!(", {} of them new", count(added)));
        let mut table = vec![
            ("store", format!("{}, {}, {made} engine {}", self.store, self.topology, self.engine)),
            ("label", format!("{:?}, {values}", self.label)),
            ("vertices", format!("{}, {} of them new", count(self.vertices), count(self.vertices_added))),
            ("edges", format!("{}{edges_added}", self.edges)),
            (
                "imported",
                format!("{rows} in {}{resumed}{repeated}", text::counted(self.commits, "commit", "commits")),
            ),
        ];
        if skipped.count > 0 {
            table.push(("skipped lines", describe_skipped(skipped)));
        }
        table.extend(self.checkpoint.as_ref().map(|checkpoint| ("checkpoint", checkpoint.to_string())));
        let rate = text::edges_per_second(self.rows, self.seconds.0);
        table.push(("time", format!("{}, {rate}", self.seconds)));
        if self.weights_left_out > 0 {
            let weights = text::counted(self.weights_left_out, "weight", "weights");
            table.push(("note", format!("{weights} left out: a new store keeps them with --weights")));
        }
        text::table(&table)
    }
}
