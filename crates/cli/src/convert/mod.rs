//! `hedgerow convert`: writes a graph file in another format.

mod args;

pub use args::ConvertArgs;

use crate::console::Console;
use crate::error::CliError;
use crate::input::{Input, Means, Portions, Weights, describe_skipped};
use crate::interrupt::Interrupt;
use crate::options::KeysName;
use crate::outputs::FilesInUse;
use crate::threads::Threads;
use crate::{keys, text};
use hedgerow::AsKey;
use hedgerow_formats::{
    FormatError, GraphFormat, GraphWriter, Lost, Output, SkippedLines, VertexKey, WriteOptions, Written,
};
use serde::Serialize;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

/// The printed summary of a conversion.
#[derive(Debug, Serialize)]
struct Converted {
    graph: String,
    output: String,
    format: String,
    undirected: bool,
    /// Distinct vertices; `None` for an edge list, whose vertices are not counted.
    vertices: Option<u64>,
    /// Edges in the input file, repeated ones counted.
    rows: u64,
    /// Edges in the output file.
    edges: u64,
    skipped_lines: u64,
    /// True if vertex numbers in the file differ from the keys.
    renumbered: bool,
    mapping: Option<String>,
    lost_weights: u64,
    lost_timestamps: u64,
    lost_vertices: u64,
    seconds: f64,
}

/// The result of a conversion.
struct Outcome {
    format: GraphFormat,
    rows: u64,
    skipped: SkippedLines,
    vertices: Option<u64>,
    edges: u64,
    lost: Lost,
    renumbered: bool,
}

/// Converts and prints a summary.
pub fn execute(args: &ConvertArgs, console: &Console, interrupt: &Interrupt) -> Result<(), CliError> {
    let started = Instant::now();
    let outcome = match args.format.keys() {
        KeysName::Number | KeysName::Dense => convert::<u64>(args, console, interrupt)?,
        KeysName::Text => convert::<Box<str>>(args, console, interrupt)?,
    };
    let Outcome { format, rows, vertices, edges, lost, renumbered, .. } = outcome;
    let converted = Converted {
        graph: args.graph.display().to_string(),
        output: args.output.display().to_string(),
        format: format.to_string(),
        undirected: args.undirected,
        vertices,
        rows,
        edges,
        skipped_lines: outcome.skipped.count,
        renumbered,
        mapping: args.mapping.as_ref().map(|path| path.display().to_string()),
        lost_weights: lost.weights,
        lost_timestamps: lost.timestamps,
        lost_vertices: lost.vertices,
        seconds: started.elapsed().as_secs_f64(),
    };
    console.summarize(Some(&args.output), &converted, |converted| {
        let elapsed = started.elapsed();
        let rate = text::edges_per_second(rows, elapsed);
        let count = |number| text::Count(number).to_string();
        let mut table = vec![
            ("graph", converted.graph.clone()),
            ("output", format!("{}, {format}", converted.output)),
            ("rows", count(rows)),
        ];
        table.extend(vertices.map(|vertices| ("vertices", count(vertices))));
        table.push(("edges", count(edges)));
        table.push(("skipped lines", describe_skipped(&outcome.skipped)));
        table.push(("time", format!("{}, {rate}", text::duration(elapsed))));
        let mapping = converted.mapping.as_deref();
        table.extend(notes(lost, converted.renumbered, mapping).into_iter().map(|note| ("note", note)));
        text::table(&table)
    })
}

/// Notes on contents that the output file lacks.
pub fn notes(lost: Lost, renumbered: bool, mapping: Option<&str>) -> Vec<String> {
    let mut notes = Vec::new();
    let mut note = |count: u64, what: &str| {
        if count > 0 {
            notes.push(format!("{} {what}", text::Count(count)));
        }
    };
    note(lost.weights, "weights left out");
    note(lost.timestamps, "timestamps left out");
    note(lost.vertices, "vertices named on their own: only those with edges are in the file");
    match mapping {
        _ if !renumbered => {}
        Some(mapping) => notes.push(format!("vertices were renumbered, their keys are in {mapping}")),
        None => notes.push("vertices were renumbered; --mapping FILE writes down their keys".into()),
    }
    notes
}

fn convert<K: VertexKey + AsKey>(
    args: &ConvertArgs,
    console: &Console,
    interrupt: &Interrupt,
) -> Result<Outcome, CliError> {
    let threads = Threads::new(None)?;
    let input = Input { graph: &args.graph, format: &args.format };
    let options = WriteOptions {
        format: args.to.format(),
        columns: args.format.columns.columns(),
        undirected: args.undirected,
        keep_ids: args.format.keys() == KeysName::Dense,
    };
    let mut in_use = FilesInUse::read(args.format.files(&args.graph));
    in_use.check_graph("OUTPUT", &args.output, &options)?;
    let writer = GraphWriter::<K>::create(&args.output, &options).map_err(CliError::Output)?;
    let mut writer = writer.on(threads.pool());
    if let Some(path) = &args.mapping {
        in_use.check_output("--mapping", path)?;
    }
    let uses_weights = writer.holds_weights() && !writer.format().is_edge_list();
    let weights = if uses_weights { Weights::FromFile } else { Weights::Ignored };
    let mut rows = 0;
    let means = Means { threads: &threads, console, interrupt };
    let skipped = input.for_each_batch::<K>(weights, Portions::Pieces, means, |batch| {
        rows += batch.edges.len() as u64;
        writer.write(batch).map_err(graph_output)
    })?;
    let format = writer.format();
    let complete = writer.complete().map_err(graph_output)?;
    interrupt.check()?;
    if let Some(path) = &args.mapping {
        write_mapping(path, format, complete.written())?;
    }
    let Written { vertices, edges, lost, keys } = complete.finish().map_err(CliError::Output)?;
    Ok(Outcome { format, rows, skipped, vertices, edges, lost, renumbered: keys.is_some() })
}

/// Adds to an error the formats that can represent the key or weight.
fn graph_output(error: FormatError) -> CliError {
    match error {
        FormatError::NoPlace { .. } => CliError::NoPlace {
            cause: error,
            formats: "edges, tsv and csv have a place for it where an edge ends, mtx and sg with --mapping",
        },
        error => CliError::Output(error),
    }
}

/// Writes the key of every vertex number.
pub fn write_mapping<K: VertexKey>(
    path: &Path,
    format: GraphFormat,
    written: &Written<K>,
) -> Result<(), CliError> {
    let first = format.first_number().unwrap_or(0);
    let mut writer = Output::create(path).map_err(CliError::Output)?;
    match &written.keys {
        Some(keys) => {
            let mut numbered = (first..).zip(keys);
            numbered.try_for_each(|(number, key)| writeln!(writer, "{number} {}", keys::text(key)))
        }
        None => {
            let mut numbers = first..first + written.vertices.unwrap_or(0);
            numbers.try_for_each(|number| writeln!(writer, "{number} {number}"))
        }
    }
    .map_err(|source| CliError::Output(FormatError::Io { path: path.into(), action: "write", source }))?;
    writer.finish().map_err(CliError::Output)
}
