//! The summary of a stream.

use super::args::IngestArgs;
use super::position::Read;
use super::run::Totals;
use crate::error::StoredError;
use crate::import::Contents;
use crate::input::describe_skipped;
use crate::signal::Signal;
use crate::stored::checkpoint::Checkpointed;
use crate::stored::schema;
use crate::stored::target::Target;
use crate::text;
use hedgerow::Graph;
use serde::Serialize;
use std::time::Duration;

/// The printed summary of a stream.
#[derive(Debug, Serialize)]
pub struct Ingested {
    ended: bool,
    store: String,
    /// True if the store was created.
    created: bool,
    input: String,
    format: &'static str,
    topology: &'static str,
    keys: &'static str,
    label: String,
    engine: &'static str,
    durability: &'static str,
    /// The bytes of the input that were read before, or the next offsets of a topic.
    resumed_at: Place,
    /// The bytes of the input that are read now.
    bytes: Option<u64>,
    /// The next offset of each partition of a topic.
    #[serde(skip_serializing_if = "Option::is_none")]
    offsets: Option<Vec<i64>>,
    /// Edges that were put, and that were deleted if they existed.
    edges: u64,
    deletions: u64,
    commits: u64,
    skipped_lines: u64,
    /// The signal that ended the reading.
    signal: Option<String>,
    /// Vertices and edges in the graph.
    vertices_of_store: u64,
    edges_of_store: text::Edges,
    checkpoint: Option<Checkpointed>,
    seconds: text::Seconds,
    edges_per_second: f64,
}

/// A place in a stream.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Place {
    Bytes(u64),
    Offsets(Vec<i64>),
}

impl Place {
    fn of(read: &Read) -> Self {
        match read {
            Read::Bytes(read) => Place::Bytes(read.bytes),
            Read::Records(read) => Place::Offsets(read.offsets.clone()),
        }
    }

    /// Describes the place, unless it is the beginning.
    fn describe(&self) -> Option<String> {
        match self {
            Place::Bytes(0) => None,
            Place::Bytes(bytes) => Some(text::counted(*bytes, "byte", "bytes")),
            Place::Offsets(offsets) if offsets.iter().all(|offset| *offset == 0) => None,
            Place::Offsets(offsets) => {
                let offsets: Vec<_> = offsets.iter().map(i64::to_string).collect();
                Some(format!("the offsets {}", offsets.join(", ")))
            }
        }
    }
}

impl Ingested {
    pub fn new(
        args: &IngestArgs,
        target: &Target<'_>,
        graph: &Graph,
        begin: &Read,
        (totals, took, signal): (&Totals, Duration, Option<Signal>),
        checkpoint: Option<Checkpointed>,
    ) -> Result<Self, StoredError> {
        let contents = Contents::of(graph)?;
        Ok(Ingested {
            ended: true,
            store: target.path().display().to_string(),
            created: !target.exists(),
            input: args.file.display().to_string(),
            format: args.format.name(),
            topology: schema::topology(contents.topology),
            keys: schema::keys(target.keys),
            label: target.schema.name.clone(),
            engine: contents.engine,
            durability: args.target.durability.name(),
            resumed_at: Place::of(begin),
            bytes: totals.read.bytes(),
            offsets: totals.read.offsets().map(<[_]>::to_vec),
            edges: totals.edges,
            deletions: totals.deletions,
            commits: totals.commits,
            skipped_lines: totals.skipped.count,
            signal: signal.map(|signal| signal.to_string()),
            vertices_of_store: contents.vertices,
            edges_of_store: text::Edges(contents.edges),
            checkpoint,
            seconds: text::Seconds(took),
            edges_per_second: text::rate(totals.edges + totals.deletions, took),
        })
    }

    /// The summary as text.
    pub fn describe(&self, Totals { read, skipped, .. }: &Totals) -> String {
        let made = if self.created { "made with" } else { "opened with" };
        let deletions = match self.deletions {
            0 => String::new(),
            deletions => format!(", {}", text::counted(deletions, "deletion", "deletions")),
        };
        let resumed = self.resumed_at.describe().map_or(String::new(), |place| format!(", from {place} on"));
        let ended = self.signal.as_ref().map_or(String::new(), |signal| format!(", ended by {signal}"));
        let count = |number| text::Count(number).to_string();
        let mut table = vec![
            ("store", format!("{}, {}, {made} engine {}", self.store, self.topology, self.engine)),
            ("vertices", count(self.vertices_of_store)),
            ("edges", self.edges_of_store.to_string()),
            ("input", format!("{}, {read}{resumed}{ended}", self.input)),
            (
                "ingested",
                format!(
                    "{}{deletions} in {}",
                    text::counted(self.edges, "edge", "edges"),
                    text::counted(self.commits, "commit", "commits")
                ),
            ),
        ];
        if skipped.count > 0 {
            table.push(("skipped lines", describe_skipped(skipped)));
        }
        table.extend(self.checkpoint.as_ref().map(|checkpoint| ("checkpoint", checkpoint.to_string())));
        let rate = text::edges_per_second(self.edges + self.deletions, self.seconds.0);
        table.push(("time", format!("{}, {rate}", self.seconds)));
        text::table(&table)
    }
}
