//! `hedgerow export`: writes the graph in a store to a file.

mod args;
mod edges;

pub use args::ExportArgs;

use crate::console::Console;
use crate::convert::{notes, write_mapping};
use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::stored::{self, StoredState};
use crate::{results, text};
use edges::Edges;
use hedgerow::{AsKey, Key, KeyKind, LabelId};
use hedgerow_formats::{GraphFormat, GraphWriter, Lost, VertexKey, WriteOptions, Written};
use serde::Serialize;
use std::time::Instant;

/// What was written.
#[derive(Debug, Serialize)]
struct Exported {
    store: String,
    /// The commit whose state it is.
    timestamp: u64,
    from_checkpoint: bool,
    output: String,
    format: String,
    label: String,
    undirected: bool,
    /// In the graph.
    vertices: u64,
    /// Edges as they stand in the file.
    edges: u64,
    /// Vertices have other numbers in the file than their keys.
    renumbered: bool,
    mapping: Option<String>,
    lost_weights: u64,
    lost_vertices: u64,
    /// Edges of other labels.
    lost_edges: u64,
    seconds: f64,
}

/// What came of it.
struct Outcome {
    format: GraphFormat,
    edges: u64,
    lost: Lost,
    renumbered: bool,
}

/// Writes the file and says what is in it.
pub fn execute(args: &ExportArgs, console: &Console, interrupt: &Interrupt) -> Result<(), CliError> {
    let started = Instant::now();
    let store = args.place.path();
    results::check("--output", &args.output, &[Some(store)])?;
    if let Some(path) = &args.mapping {
        results::check("--mapping", path, &[Some(store), Some(&args.output)])?;
    }
    let state = stored::read(store, &args.read, None, console)?;
    interrupt.check()?;
    let snapshot = &state.snapshot;
    let (label, schema) = stored::label(snapshot.catalogue(), args.label.as_deref(), store)?;
    let outcome = match state.keys {
        KeyKind::Number | KeyKind::Dense => export::<u64>(args, &state, label, console, interrupt)?,
        KeyKind::Text => export::<Box<str>>(args, &state, label, console, interrupt)?,
    };
    let Outcome { format, edges, lost, renumbered } = outcome;
    let exported = Exported {
        store: store.display().to_string(),
        timestamp: snapshot.timestamp().0,
        from_checkpoint: args.read.from_checkpoint,
        output: args.output.display().to_string(),
        format: format.to_string(),
        label: schema.name.clone(),
        undirected: snapshot.topology().is_undirected(),
        vertices: snapshot.vertex_count(),
        edges,
        renumbered,
        mapping: args.mapping.as_ref().map(|path| path.display().to_string()),
        lost_weights: lost.weights,
        lost_vertices: lost.vertices,
        lost_edges: snapshot.edge_count() - snapshot.edge_count_of(label),
        seconds: started.elapsed().as_secs_f64(),
    };
    console.print(&exported, |exported| {
        let count = |number| text::Count(number).to_string();
        let direction = if exported.undirected { "undirected" } else { "directed" };
        let mut table = vec![
            ("store", format!("{}, {direction}, commit {}", exported.store, count(exported.timestamp))),
            ("output", format!("{}, {format}", exported.output)),
            ("vertices", count(exported.vertices)),
            ("edges", count(edges)),
            ("time", text::duration(started.elapsed())),
        ];
        let notes = notes(lost, renumbered, exported.mapping.as_deref());
        table.extend(notes.into_iter().map(|note| ("note", note)));
        if exported.lost_edges > 0 {
            let others = text::counted(exported.lost_edges, "edge", "edges");
            table.push(("note", format!("{others} of other labels than {:?} left out", exported.label)));
        }
        text::table(&table)
    })
}

fn export<K: FileKey>(
    args: &ExportArgs,
    state: &StoredState,
    label: LabelId,
    console: &Console,
    interrupt: &Interrupt,
) -> Result<Outcome, CliError> {
    let options = WriteOptions {
        format: args.to.format(),
        undirected: state.snapshot.topology().is_undirected(),
        keep_ids: state.keys == KeyKind::Dense,
        ..WriteOptions::default()
    };
    let mut writer = GraphWriter::<K>::create(&args.output, &options).map_err(CliError::Output)?;
    let format = writer.format();
    let names_vertices = !matches!(format, GraphFormat::EdgeList | GraphFormat::Tsv | GraphFormat::Csv);
    let lost_vertices =
        Edges::new(&state.snapshot, label, names_vertices).write(&mut writer, console, interrupt)?;
    let complete = writer.complete().map_err(CliError::Output)?;
    interrupt.check()?;
    if let Some(path) = &args.mapping {
        write_mapping(path, format, complete.written())?;
    }
    let Written { edges, lost, keys, .. } = complete.finish().map_err(CliError::Output)?;
    let lost = Lost { vertices: lost_vertices, ..lost };
    Ok(Outcome { format, edges, lost, renumbered: keys.is_some() })
}

/// A key as files have it.
trait FileKey: VertexKey + AsKey {
    /// The key, if it is of this kind: all keys of a graph are of one.
    fn of(key: &Key) -> Option<Self>;
}

impl FileKey for u64 {
    fn of(key: &Key) -> Option<Self> {
        match key {
            Key::Number(number) => Some(*number),
            Key::Text(_) => None,
        }
    }
}

impl FileKey for Box<str> {
    fn of(key: &Key) -> Option<Self> {
        match key {
            Key::Number(_) => None,
            Key::Text(text) => Some(text.clone()),
        }
    }
}
