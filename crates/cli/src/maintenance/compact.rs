//! `hedgerow compact`

use super::CompactArgs;
use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::interrupt::Interrupt;
use crate::threads::Threads;
use crate::{progress, stored, text};
use hedgerow::{CompactOptions, CompactReport, Graph};
use serde::Serialize;
use std::path::Path;
use std::time::{Duration, Instant};

#[derive(Debug, Serialize)]
struct Compacted {
    store: String,
    open_seconds: f64,
    /// The engine's files before and afterwards.
    files_before: u64,
    files: u64,
    bytes_before: u64,
    bytes: u64,
    /// Versions of edges and vertices in them, deletions and replaced ones included.
    versions_before: u64,
    versions: u64,
    seconds: f64,
}

/// Opens the graph, compacts the files of its engine, and closes it. After Ctrl-C what was compacted by
/// then stays so.
pub fn execute(args: &CompactArgs, console: &Console, interrupt: &Interrupt) -> Result<(), CliError> {
    let started = Instant::now();
    let (path, threads) = (args.place.path(), Threads::new(args.threads)?);
    let settings = |options| args.memory.limit(options).threads(threads.count());
    let graph =
        interrupt.or_interrupted(stored::open(path, settings, args.wait, console, Some(interrupt)))?;
    let opened = started.elapsed();
    interrupt.check()?;
    let compacted = compact(&graph, path, opened, console, interrupt);
    let closed = graph.close().map_err(StoredError::from);
    let compacted = compacted?;
    closed?;
    console.summarize(None, &compacted, describe)
}

fn compact(
    graph: &Graph,
    store: &Path,
    opened: Duration,
    console: &Console,
    interrupt: &Interrupt,
) -> Result<Compacted, CliError> {
    let started = Instant::now();
    let bar = progress::of_bytes(console, "compact", Some(0));
    let shown = bar.clone();
    let options = CompactOptions::new().cancelled_by(interrupt.token()).reporting_to(move |progress| {
        shown.set_length(progress.of);
        shown.set_position(progress.bytes);
        shown.set_message(format!("compact, {}", text::counted(progress.files, "file", "files")));
    });
    let report = graph.compact(&options);
    bar.finish_and_clear();
    let report =
        interrupt.or_interrupted(report.map_err(StoredError::from)).map_err(|error| match error {
            CliError::Interrupted(signal) => StoredError::CompactInterrupted(signal).into(),
            error => error,
        })?;
    let CompactReport { before, after, versions_before, versions_after, .. } = report;
    Ok(Compacted {
        store: store.display().to_string(),
        open_seconds: opened.as_secs_f64(),
        files_before: before.files,
        files: after.files,
        bytes_before: before.bytes,
        bytes: after.bytes,
        versions_before,
        versions: versions_after,
        seconds: started.elapsed().as_secs_f64(),
    })
}

fn describe(compacted: &Compacted) -> String {
    let files = |count: u64, bytes: u64, versions: u64| {
        let (files, versions) =
            (text::counted(count, "file", "files"), text::counted(versions, "version", "versions"));
        format!("{files}, {}, {versions} of vertices and edges", text::Bytes(bytes))
    };
    let Compacted { files_before, bytes_before, versions_before, files: count, bytes, versions, .. } =
        compacted;
    let duration = |seconds| text::duration(Duration::from_secs_f64(seconds));
    text::table(&[
        ("store", compacted.store.clone()),
        ("before", files(*files_before, *bytes_before, *versions_before)),
        ("after", files(*count, *bytes, *versions)),
        ("open", duration(compacted.open_seconds)),
        ("compact", duration(compacted.seconds)),
    ])
}
