//! `hedgerow path`

use super::args::{PathArgs, PathBetweenArgs, ReadPlace};
use super::neighbors::exists;
use super::{Reading, no_vertex};
use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::float::Float;
use crate::interrupt::Interrupt;
use crate::keys::{self, JsonKey};
use crate::options::At;
use crate::stored;
use crate::text::counted;
use hedgerow::{EdgeSchema, PathOptions, Snapshot};
use serde::Serialize;
use std::num::NonZeroUsize;

/// The name that `--weight` takes for the values of edges without properties.
pub const VALUE: &str = "value";

#[derive(Debug, Serialize)]
struct Paths<'a> {
    store: String,
    from: JsonKey,
    to: JsonKey,
    label: &'a str,
    /// The property that is the length of an edge; null if edges are counted.
    weight: Option<&'a str>,
    paths: Vec<Found>,
}

/// A path, with the vertices in their order.
#[derive(Debug, Serialize)]
struct Found {
    length: Float,
    vertices: Vec<JsonKey>,
}

/// Opens a store and prints the shortest paths between two vertices.
pub fn execute(args: &PathArgs, console: &Console, interrupt: &Interrupt) -> Result<(), CliError> {
    let At { what, place: ReadPlace { store, read, .. } } = &args.path;
    let state = stored::read(store.path(), read, None, console)?;
    path(what, &Reading::of(&state, store.path()), console, interrupt)
}

/// Prints the shortest paths in a state of a store.
pub fn path(
    args: &PathBetweenArgs,
    reading: &Reading<'_, Snapshot>,
    console: &Console,
    interrupt: &Interrupt,
) -> Result<(), CliError> {
    let (label, schema) = stored::label(&reading.catalog, args.label.as_deref(), reading.store)?;
    let from = keys::parse("FROM", &args.from, reading.keys)?;
    let to = keys::parse("TO", &args.to, reading.keys)?;
    for key in [&from, &to] {
        if !exists(reading.graph, key)? {
            return Err(no_vertex(key, reading.store));
        }
    }
    let has_values = matches!(schema.edges, EdgeSchema::Value(_));
    let options = match args.weight.as_deref() {
        None => PathOptions::new(),
        Some(VALUE) if has_values => PathOptions::new().by_value(),
        Some(property) => PathOptions::new().by_property(property),
    };
    let options =
        options.at_most(args.max.unwrap_or(f64::INFINITY)).count(args.count.map_or(1, NonZeroUsize::get));
    let paths = reading.graph.paths(label, &from, &to, &options.cancelled_by(interrupt.token()));
    let paths = interrupt.or_interrupted(paths.map_err(StoredError::from))?;
    let found = |path: hedgerow::Path| Found {
        length: Float(path.length),
        vertices: path.vertices.into_iter().map(JsonKey::from).collect(),
    };
    let paths = Paths {
        store: reading.store.display().to_string(),
        from: from.into(),
        to: to.into(),
        label: &schema.name,
        weight: args.weight.as_deref(),
        paths: paths.into_iter().map(found).collect(),
    };
    console.print(&paths, Paths::describe)
}

impl Paths<'_> {
    /// A path per line.
    fn describe(&self) -> String {
        if self.paths.is_empty() {
            let (from, to) = (&self.from, &self.to);
            return format!("no such path from {from} to {to} along edges of the label {:?}\n", self.label);
        }
        let line = |Found { length, vertices }: &Found| {
            let vertices: Vec<String> = vertices.iter().map(JsonKey::to_string).collect();
            let edges = counted(vertices.len() as u64 - 1, "edge", "edges");
            let length = self.weight.map_or(String::new(), |weight| format!(", {weight} {length}"));
            format!("{}  ({edges}{length})\n", vertices.join(" -> "))
        };
        self.paths.iter().map(line).collect()
    }
}
