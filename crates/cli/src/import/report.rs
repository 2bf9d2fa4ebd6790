//! The summary of an import.

use super::command;
use super::context::Context;
use super::importer::Importer;
use crate::error::StoredError;
use crate::input::describe_skipped;
use crate::stored::checkpoint::Checkpointed;
use crate::stored::schema;
use crate::text;
use hedgerow::{Count, Graph, Topology};
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
    /// Pairs of vertices in the files; unknown if the rows were not compared.
    pairs: Option<u64>,
    /// Rows that repeat an edge of an earlier row or of the store, which now has their values;
    /// unknown if the engine counts later.
    rows_replaced: Option<u64>,
    /// Rows that repeat an edge of an earlier row.
    #[serde(skip)]
    repeats: Option<u64>,
    /// Rows that repeat an edge, and were left out for the first one.
    rows_left_out: u64,
    /// Rows between the vertices of an earlier row, kept as edges of their own.
    rows_kept_apart: Option<u64>,
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
    /// The time zone of times without an offset, if there were some in files that were read before.
    time_zone: Option<String>,
    checkpoint: Option<Checkpointed>,
    /// The command that says what was inferred; `None` if nothing was, or options cannot express
    /// it.
    command: Option<String>,
    /// With the look at the files before.
    seconds: text::Seconds,
    edges_per_second: f64,
}

/// The graph after the import.
#[derive(Clone, Copy, Debug)]
pub struct Contents {
    pub engine: &'static str,
    pub topology: Topology,
    pub vertices: u64,
    pub edges: Count,
}

impl Contents {
    pub fn of(graph: &Graph) -> Result<Self, StoredError> {
        let snapshot = graph.snapshot()?;
        Ok(Contents {
            engine: snapshot.engine().name(),
            topology: snapshot.topology(),
            vertices: snapshot.vertex_count(),
            edges: snapshot.edge_count(),
        })
    }
}

impl Imported {
    pub fn new(
        context: Context<'_>,
        importer: &Importer<'_>,
        contents: Contents,
        checkpoint: Option<Checkpointed>,
        took: Duration,
    ) -> Self {
        let (before, target) = (importer.before(), context.target);
        let edges = text::Edges(contents.edges);
        let edges_added = edges.0.exact().zip(before.edges.exact()).map(|(edges, before)| edges - before);
        let imported = importer.rows() - importer.rows_left_out();
        let repeats = context.plan.repeats.as_ref();
        Imported {
            store: context.args.store.display().to_string(),
            created: !target.exists(),
            files: context.sources.iter().map(|source| source.path().display().to_string()).collect(),
            topology: schema::topology(contents.topology),
            keys: schema::keys(target.keys),
            label: target.schema.name.clone(),
            values: schema::values(&target.schema),
            engine: contents.engine,
            durability: context.args.target.durability.name(),
            resumed: importer.resumed(),
            rows: importer.rows(),
            pairs: repeats.map(|repeats| repeats.pairs),
            rows_replaced: edges_added.map(|added| imported.saturating_sub(added)),
            repeats: repeats.map(|repeats| repeats.rows - repeats.edges),
            rows_left_out: importer.rows_left_out(),
            rows_kept_apart: repeats
                .filter(|_| target.is_parallel())
                .map(|repeats| repeats.edges - repeats.pairs),
            skipped_lines: importer.skipped().count,
            weights_left_out: importer.weights_left_out(),
            vertices: contents.vertices,
            edges,
            edges_at_least: edges.at_least(),
            vertices_added: contents.vertices - before.vertices,
            edges_added,
            commits: importer.commits(),
            time_zone: context.plan.time_zone(),
            checkpoint,
            command: context.plan.is_inferred.then(|| command::text(context.args)).flatten(),
            seconds: text::Seconds(took),
            edges_per_second: text::rate(importer.rows(), took),
        }
    }

    /// Rows that repeat an edge of an earlier row, if they were compared; else all that repeat one.
    fn rows_repeated(&self) -> u64 {
        let all = self.rows_replaced.unwrap_or(0);
        self.repeats.map_or(all, |repeats| repeats.min(all))
    }

    /// The effect of these rows.
    fn repeated(&self) -> &'static str {
        match (&self.values, self.repeats) {
            (None, _) => "repeat an edge",
            (_, Some(_)) => "replaced an edge of an earlier row, or have the same values",
            (_, None) => "replaced an edge, or have the same values",
        }
    }

    /// The summary as text.
    pub fn describe(&self, skipped: &SkippedLines) -> String {
        let count = |number| text::Count(number).to_string();
        let made = if self.created { "made with" } else { "opened with" };
        let values =
            self.values.as_ref().map_or("without values".into(), |column| format!("values of type {column}"));
        let rows = text::counted(self.rows, "row", "rows");
        let repeated = [
            (self.rows_left_out, "left out, after the first of the edge"),
            (self.rows_repeated(), self.repeated()),
            (
                self.rows_replaced.unwrap_or(0).saturating_sub(self.rows_repeated()),
                "replaced an edge of the store",
            ),
            (self.rows_kept_apart.unwrap_or(0), "kept apart from an edge between the same vertices"),
        ];
        let repeated = repeated.iter().filter(|(count, _)| *count > 0);
        let repeated: String = repeated.map(|(rows, what)| format!("; {} {what}", count(*rows))).collect();
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
        table.extend(
            self.time_zone.as_ref().map(|zone| ("times", format!("without an offset were taken as {zone}"))),
        );
        if skipped.count > 0 {
            table.push(("skipped lines", describe_skipped(skipped)));
        }
        table.extend(self.checkpoint.as_ref().map(|checkpoint| ("checkpoint", checkpoint.to_string())));
        let rate = text::edges_per_second(self.rows, self.seconds.0);
        table.push(("time", format!("{}, {rate}", self.seconds)));
        table.extend(self.command.clone().map(|command| ("command", command)));
        if self.weights_left_out > 0 {
            let weights = text::counted(self.weights_left_out, "weight", "weights");
            table.push(("note", format!("{weights} left out: a new store keeps them with --weights")));
        }
        text::table(&table)
    }
}
