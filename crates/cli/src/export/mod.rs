//! `hedgerow export`: writes the graph in a store to a file.

mod args;
mod edges;
mod graph_file;
mod lines;
mod vertices;

pub use args::ExportArgs;

use crate::console::Console;
use crate::convert::{notes, write_mapping};
use crate::error::{CliError, StoredError};
use crate::interrupt::Interrupt;
use crate::outputs::FilesInUse;
use crate::stored::{self, StoredState, number};
use crate::text;
use crate::threads::Threads;
use edges::Edges;
use graph_file::{FileKey, graph_output};
use hedgerow::{Count, KeyKind, LabelId, LabelSchema, Snapshot};
use hedgerow_formats::{GraphWriter, Lost, NewFile, PropertyFormat, WriteOptions, Written};
use lines::WrittenEdges;
use serde::Serialize;
use std::time::Instant;
use vertices::VerticesFile;

/// The printed summary of an export.
#[derive(Debug, Serialize)]
struct Exported {
    store: String,
    /// The commit whose state was exported.
    timestamp: u64,
    from_checkpoint: bool,
    output: String,
    format: String,
    vertices_output: Option<String>,
    label: String,
    undirected: bool,
    /// Vertices in the graph.
    vertices: u64,
    /// Edges in the file.
    edges: u64,
    /// True if vertex numbers in the file differ from the keys.
    renumbered: bool,
    mapping: Option<String>,
    lost_weights: u64,
    lost_vertices: u64,
    /// Edges of other labels.
    lost_edges: text::Edges,
    seconds: f64,
}

/// The result of an export.
struct Outcome {
    format: String,
    edges: u64,
    lost: Lost,
    renumbered: bool,
}

/// Writes the file and prints a summary.
pub fn execute(args: &ExportArgs, console: &Console, interrupt: &Interrupt) -> Result<(), CliError> {
    let started = Instant::now();
    let store = args.place.path();
    let mut in_use = FilesInUse::read([store]);
    let options = WriteOptions { format: args.to.format(), ..WriteOptions::default() };
    in_use.check_graph("--output", &args.output, &options)?;
    for (option, path) in [("--mapping", &args.mapping), ("--vertices-output", &args.vertices_output)] {
        path.as_ref().map_or(Ok(()), |path| in_use.check_output(option, path))?;
    }
    let vertices_file = VerticesFile::of(args, store)?;
    let state = stored::read(store, &args.read, None, console)?;
    interrupt.check()?;
    let snapshot = &state.snapshot;
    let catalog = snapshot.catalog();
    let (label, schema) = stored::label(&catalog, args.label.as_deref(), store)?;
    let format = lines_format(args, schema)?;
    let vertices = vertices_file.map(|file| file.write(snapshot, console, interrupt)).transpose()?;
    let outcome = match (format, state.keys) {
        (Some(format), _) => export_lines(args, snapshot, (label, format), console, interrupt)?,
        (None, KeyKind::Number | KeyKind::Dense) => export::<u64>(args, &state, label, console, interrupt)?,
        (None, KeyKind::String) => export::<Box<str>>(args, &state, label, console, interrupt)?,
    };
    vertices.map_or(Ok(()), NewFile::finish).map_err(CliError::Output)?;
    let Outcome { format, edges, lost, renumbered } = outcome;
    let exported = Exported {
        store: store.display().to_string(),
        timestamp: snapshot.timestamp().0,
        from_checkpoint: args.read.from_checkpoint,
        output: args.output.display().to_string(),
        format: format.clone(),
        vertices_output: args.vertices_output.as_ref().map(|path| path.display().to_string()),
        label: schema.name.clone(),
        undirected: snapshot.topology().is_undirected(),
        vertices: snapshot.vertex_count(),
        edges,
        renumbered,
        mapping: args.mapping.as_ref().map(|path| path.display().to_string()),
        lost_weights: lost.weights,
        lost_vertices: lost.vertices,
        lost_edges: text::Edges(edges_of_others(snapshot, label)),
        seconds: started.elapsed().as_secs_f64(),
    };
    console.summarize(Some(&args.output), &exported, |exported| {
        let count = |number| text::Count(number).to_string();
        let direction = if exported.undirected { "undirected" } else { "directed" };
        let mut table = vec![
            ("store", format!("{}, {direction}, commit {}", exported.store, count(exported.timestamp))),
            ("output", format!("{}, {format}", exported.output)),
            ("vertices", count(exported.vertices)),
            ("edges", count(edges)),
            ("time", text::duration(started.elapsed())),
        ];
        table.extend(exported.vertices_output.as_ref().map(|path| ("vertices in", path.clone())));
        let notes = notes(lost, renumbered, exported.mapping.as_deref());
        table.extend(notes.into_iter().map(|note| ("note", note)));
        if exported.lost_edges.0 != 0 {
            let others = exported.lost_edges.with_noun();
            table.push(("note", format!("{others} of other labels than {:?} left out", exported.label)));
        }
        text::table(&table)
    })
}

/// The number of edges of other labels.
fn edges_of_others(snapshot: &Snapshot, label: LabelId) -> Count {
    let labels = (0..).map(LabelId).take(snapshot.catalog().labels().len());
    labels.filter(|other| *other != label).map(|other| snapshot.edge_count_of(other)).sum()
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
    let threads = Threads::new(args.threads)?;
    let writer = GraphWriter::<K>::create(&args.output, &options).map_err(CliError::Output)?;
    let mut writer = writer.on(threads.pool());
    let format = writer.format();
    let names_vertices = !format.is_edge_list() || args.vertices_output.is_some();
    let lost_vertices =
        Edges::new(&state.snapshot, label, names_vertices).write(&mut writer, console, interrupt)?;
    let complete = writer.complete().map_err(graph_output)?;
    interrupt.check()?;
    if let Some(path) = &args.mapping {
        write_mapping(path, format, complete.written())?;
    }
    let Written { edges, lost, keys, .. } = complete.finish().map_err(CliError::Output)?;
    let lost = Lost { vertices: lost_vertices, ..lost };
    Ok(Outcome { format: format.to_string(), edges, lost, renumbered: keys.is_some() })
}

/// Writes edges with their properties.
fn export_lines(
    args: &ExportArgs,
    snapshot: &Snapshot,
    (label, format): (LabelId, PropertyFormat),
    console: &Console,
    interrupt: &Interrupt,
) -> Result<Outcome, CliError> {
    let edges = Edges::new(snapshot, label, args.vertices_output.is_some());
    let WrittenEdges { file, edges, lost_vertices } =
        edges.write_lines(&args.output, format, args.times, console, interrupt)?;
    interrupt.check()?;
    file.finish().map_err(CliError::Output)?;
    let lost = Lost { vertices: lost_vertices, ..Lost::default() };
    Ok(Outcome { format: format.to_string(), edges, lost, renumbered: false })
}

/// The format of the edge file, if its lines carry properties; edges with records fit into no
/// other.
fn lines_format(args: &ExportArgs, label: &LabelSchema) -> Result<Option<PropertyFormat>, StoredError> {
    let format = args.to.of_edges(&args.output, &label.edges);
    if format.is_none() && label.edges.record().is_some() {
        let given = format!(
            "{}: an edge in this file has a weight at most; .csv and .jsonl hold records, under any name with --to \
             properties-csv or --to jsonl",
            args.output.display()
        );
        let declared = number::describe(label.edges.column());
        return Err(StoredError::Value { given, label: label.name.clone(), declared });
    }
    if let (Some(format), Some(mapping)) = (format, &args.mapping) {
        let message =
            format!("--mapping {}: {format} keeps the keys of vertices as they are", mapping.display());
        return Err(StoredError::Export(message));
    }
    Ok(format)
}
