//! `hedgerow generate stream`: edges that come and go.

use super::args::StreamArgs;
use crate::console::Console;
use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::outputs::FilesInUse;
use crate::{progress, text};
use hedgerow_formats::{Batch, Change, ChangeStream, Edge, GraphFormat, GraphWriter, WriteOptions};
use serde::Serialize;
use std::path::Path;
use std::time::Instant;

/// Changes that are written at a time.
const CHUNK: usize = 1 << 16;

/// The printed summary.
#[derive(Debug, Serialize)]
struct Generated {
    model: &'static str,
    seed: u64,
    vertices: u64,
    changes: u64,
    deletions: u64,
    /// Edges that exist at the end.
    edges: u64,
    seconds: f64,
    output: String,
}

/// Writes the stream.
pub fn execute(args: &StreamArgs, console: &Console, interrupt: &Interrupt) -> Result<(), CliError> {
    let started = Instant::now();
    let stream = ChangeStream::new(args.vertices, args.changes, args.deletions, args.seed)?;
    let deletions = write(stream, &args.output, console, interrupt)?;
    let generated = Generated {
        model: "stream",
        seed: args.seed,
        vertices: args.vertices,
        changes: args.changes,
        deletions,
        edges: args.changes - 2 * deletions,
        seconds: started.elapsed().as_secs_f64(),
        output: args.output.display().to_string(),
    };
    console.summarize(Some(&args.output), &generated, |generated| {
        let count = |number| text::Count(number).to_string();
        text::table(&[
            ("vertices", count(generated.vertices)),
            ("changes", count(generated.changes)),
            ("deletions", count(generated.deletions)),
            ("edges", format!("{} in the end", text::Count(generated.edges))),
            ("time", text::duration(started.elapsed())),
            ("output", generated.output.clone()),
        ])
    })
}

/// Writes all changes; returns the number of deletions.
fn write(
    mut stream: ChangeStream,
    output: &Path,
    console: &Console,
    interrupt: &Interrupt,
) -> Result<u64, CliError> {
    if !matches!(GraphFormat::of_name(output), None | Some(GraphFormat::Tsv | GraphFormat::Csv)) {
        return Err(CliError::StreamFormat(output.into()));
    }
    FilesInUse::default().check_output("--output", output)?;
    let mut writer = GraphWriter::create(output, &WriteOptions::default()).map_err(CliError::Output)?;
    let bar = progress::of_steps(console, "writing", stream.changes());
    let mut batch = Batch::new();
    let mut deletions = 0;
    loop {
        interrupt.check()?;
        batch.edges.extend(stream.by_ref().take(CHUNK).map(line));
        if batch.is_empty() {
            break;
        }
        deletions += batch.edges.iter().filter(|edge| edge.weight == Some(DELETED)).count() as u64;
        bar.inc(batch.len() as u64);
        writer.write(&batch).map_err(CliError::Output)?;
        batch.clear();
    }
    writer.finish().map_err(CliError::Output)?;
    bar.finish_and_clear();
    Ok(deletions)
}

/// The weight of an added edge.
const ADDED: f64 = 1.0;
const DELETED: f64 = -1.0;

/// A change as an edge of an edge list.
fn line(change: Change) -> Edge<u64> {
    let weight = if change.is_added { ADDED } else { DELETED };
    let timestamp = i64::try_from(change.timestamp).unwrap_or(i64::MAX);
    Edge { weight: Some(weight), timestamp: Some(timestamp), ..Edge::new(change.source, change.destination) }
}
