//! `hedgerow checkpoint`

use super::CheckpointArgs;
use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::interrupt::Interrupt;
use crate::stored::checkpoint::{self, Checkpointed};
use crate::threads::Threads;
use crate::{stored, text};
use hedgerow::Graph;
use serde::Serialize;
use std::path::Path;
use std::time::{Duration, Instant};

#[derive(Debug, Serialize)]
struct OfStore {
    store: String,
    /// Absent in a shell, which has the store open.
    #[serde(skip_serializing_if = "Option::is_none")]
    open_seconds: Option<f64>,
    #[serde(flatten)]
    checkpoint: Checkpointed,
}

/// Opens the graph, writes its state, and closes it.
pub fn execute(args: &CheckpointArgs, console: &Console, interrupt: &Interrupt) -> Result<(), CliError> {
    let started = Instant::now();
    let (path, threads) = (args.place.path(), Threads::new(args.threads)?);
    let settings = |options| args.memory.limit(options).threads(threads.count());
    let graph =
        interrupt.or_interrupted(stored::open(path, settings, args.wait, console, Some(interrupt)))?;
    let opened = started.elapsed();
    interrupt.check()?;
    let checkpoint = checkpoint::write(&graph, console, interrupt)?;
    graph.close().map_err(StoredError::from)?;
    report(path, checkpoint, Some(opened), console)
}

/// Writes the state of a graph that stays open.
pub fn of_open(
    graph: &Graph,
    store: &Path,
    console: &Console,
    interrupt: &Interrupt,
) -> Result<(), CliError> {
    report(store, checkpoint::write(graph, console, interrupt)?, None, console)
}

fn report(
    store: &Path,
    checkpoint: Checkpointed,
    opened: Option<Duration>,
    console: &Console,
) -> Result<(), CliError> {
    let open_seconds = opened.map(|opened| opened.as_secs_f64());
    let done = OfStore { store: store.display().to_string(), open_seconds, checkpoint };
    console.summarize(None, &done, |done| {
        let OfStore { checkpoint, .. } = done;
        let count = |number| text::Count(number).to_string();
        let mut rows = vec![
            ("store", done.store.clone()),
            ("checkpoint", checkpoint.to_string()),
            ("vertices", count(checkpoint.vertices)),
            ("edges", count(checkpoint.edges)),
            (
                "log",
                format!(
                    "{} removed",
                    text::counted(checkpoint.pruned_segments as u64, "segment", "segments")
                ),
            ),
        ];
        rows.extend(opened.map(|opened| ("open", text::duration(opened))));
        text::table(&rows)
    })
}
