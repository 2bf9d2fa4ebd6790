//! Writes checkpoints for commands, and describes them.

use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::interrupt::Interrupt;
use crate::{progress, text};
use clap::ValueEnum;
use hedgerow::{CheckpointOptions, CheckpointReport, Error, Graph};
use serde::Serialize;
use std::time::Instant;

/// The result of a checkpoint.
#[derive(Clone, Debug, Serialize)]
pub struct Checkpointed {
    /// The number; 0 if the engine's own files serve as the checkpoint.
    pub number: u64,
    /// The commit whose state the checkpoint contains.
    pub timestamp: u64,
    /// True if the checkpoint was written now; false if nothing was committed since the last one.
    pub written: bool,
    pub bytes: u64,
    pub vertices: u64,
    pub edges: text::Edges,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edges_at_least: Option<u64>,
    /// Segments of the log that were removed.
    pub pruned_segments: usize,
    pub seconds: text::Seconds,
}

/// The condition for writing a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// If the store is made at once, or its log has grown larger than the existing checkpoint, and
    /// than 1 MiB
    Auto,
    /// In any case
    Always,
    /// Never: the log alone holds what was imported
    Never,
}

/// Bytes of a log that is not worth another checkpoint.
const SHORT_LOG: u64 = 1 << 20;

impl When {
    /// Returns true if the state of a graph is to be written.
    fn applies_to(self, graph: &Graph) -> bool {
        match self {
            When::Always => true,
            When::Never => false,
            When::Auto => graph.store_info().is_some_and(|info| {
                // A short log is read fast, and has the commits that `log` and `diff` show.
                let length = info.checkpoint.map_or(0, |checkpoint| checkpoint.length.max(SHORT_LOG));
                info.log_bytes > length
            }),
        }
    }
}

/// Writes the state of a graph after `work` is complete, if the command line asks for it.
pub fn write_when(
    when: When,
    graph: &Graph,
    work: &str,
    console: &Console,
    interrupt: &Interrupt,
) -> Result<Option<Checkpointed>, CliError> {
    if !when.applies_to(graph) {
        return Ok(None);
    }
    match write(graph, console, interrupt) {
        Err(CliError::Interrupted(signal)) => {
            let kept = format!("the {work} is complete, only its checkpoint was not written");
            Err(StoredError::Interrupted { signal, kept }.into())
        }
        written => written.map(Some),
    }
}

/// Writes the state of a graph, with a progress bar. Ctrl-C leaves the previous checkpoint.
pub fn write(graph: &Graph, console: &Console, interrupt: &Interrupt) -> Result<Checkpointed, CliError> {
    let options = CheckpointOptions::new().cancelled_by(interrupt.token());
    let written = write_with(options, console, |options| graph.checkpoint(options));
    interrupt.or_interrupted(written.map_err(StoredError::from))
}

/// Writes a checkpoint with these options, which `write` gets, and a progress bar.
pub fn write_with(
    options: CheckpointOptions,
    console: &Console,
    write: impl FnOnce(&CheckpointOptions) -> Result<CheckpointReport, Error>,
) -> Result<Checkpointed, Error> {
    let started = Instant::now();
    let bar = progress::of_steps(console, "checkpoint", 0);
    let shown = bar.clone();
    let report = write(&options.reporting_to(move |progress| {
        shown.set_length(progress.of);
        shown.set_position(progress.entries);
    }));
    bar.finish_and_clear();
    let CheckpointReport { number, timestamp, written, bytes, vertices, edges, pruned } = report?;
    let edges = text::Edges(edges);
    Ok(Checkpointed {
        number,
        timestamp: timestamp.0,
        written,
        bytes,
        vertices,
        edges,
        edges_at_least: edges.at_least(),
        pruned_segments: pruned,
        seconds: text::Seconds(started.elapsed()),
    })
}

impl Checkpointed {
    /// Returns true if the engine's own files serve as the checkpoint.
    fn is_in_engine_files(&self) -> bool {
        self.number == 0
    }
}

impl std::fmt::Display for Checkpointed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "commit {}, ", text::Count(self.timestamp))?;
        match self.is_in_engine_files() {
            true => write!(f, "in the files of the engine")?,
            false => write!(f, "{}", text::Bytes(self.bytes))?,
        }
        match self.written {
            true => write!(f, ", {}", self.seconds),
            false => write!(f, ": nothing was committed since"),
        }
    }
}
