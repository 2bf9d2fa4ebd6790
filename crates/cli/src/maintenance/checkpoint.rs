//! `hedgerow checkpoint`

use super::CheckpointArgs;
use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::interrupt::Interrupt;
use crate::stored::checkpoint::{self, Checkpointed};
use crate::threads::Threads;
use crate::{stored, text};
use serde::Serialize;
use std::time::Instant;

#[derive(Debug, Serialize)]
struct OfStore {
    store: String,
    open_seconds: f64,
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
    let store = path.display().to_string();
    let done = OfStore { store, open_seconds: opened.as_secs_f64(), checkpoint };
    console.summarize(None, &done, |done| {
        let OfStore { checkpoint, .. } = done;
        let count = |number| text::Count(number).to_string();
        text::table(&[
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
            ("open", text::duration(opened)),
        ])
    })
}
