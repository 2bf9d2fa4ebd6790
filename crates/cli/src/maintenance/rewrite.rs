//! The common parts of `checkpoint` and `compact`, which write the state of a graph anew: a graph
//! that they open, or the open graph of a shell.

use super::RewriteArgs;
use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::interrupt::Interrupt;
use crate::threads::Threads;
use crate::{stored, text};
use hedgerow::Graph;
use serde::Serialize;
use std::path::Path;
use std::time::{Duration, Instant};

/// The result of writing a graph's state anew.
pub trait Rewrite: Serialize + Sized {
    /// Writes the state, with a progress bar.
    fn write(graph: &Graph, console: &Console, interrupt: &Interrupt) -> Result<Self, CliError>;

    /// The result as rows of a table.
    fn rows(&self) -> Vec<(&'static str, String)>;
}

#[derive(Debug, Serialize)]
struct OfStore<R> {
    store: String,
    /// Absent in a shell, which has the store open.
    #[serde(skip_serializing_if = "Option::is_none")]
    open_seconds: Option<f64>,
    #[serde(flatten)]
    rewrite: R,
}

/// Opens the graph, writes its state, and closes it.
pub fn execute<R: Rewrite>(
    args: &RewriteArgs,
    console: &Console,
    interrupt: &Interrupt,
) -> Result<(), CliError> {
    let started = Instant::now();
    let (path, threads) = (args.place.path(), Threads::new(args.threads)?);
    let settings = |options| args.memory.limit(options).threads(threads.count());
    let graph =
        interrupt.or_interrupted(stored::open(path, settings, args.wait, console, Some(interrupt)))?;
    let opened = started.elapsed();
    interrupt.check()?;
    let written = R::write(&graph, console, interrupt);
    let closed = graph.close().map_err(StoredError::from);
    let rewrite = written?;
    closed?;
    report(path, rewrite, Some(opened), console)
}

/// Writes the state of a graph that stays open.
pub fn of_open<R: Rewrite>(
    graph: &Graph,
    store: &Path,
    console: &Console,
    interrupt: &Interrupt,
) -> Result<(), CliError> {
    report(store, R::write(graph, console, interrupt)?, None, console)
}

fn report<R: Rewrite>(
    store: &Path,
    rewrite: R,
    opened: Option<Duration>,
    console: &Console,
) -> Result<(), CliError> {
    let open_seconds = opened.map(|opened| opened.as_secs_f64());
    let done = OfStore { store: store.display().to_string(), open_seconds, rewrite };
    let printed = console.summarize(None, &done, |done| {
        let mut rows = vec![("store", done.store.clone())];
        rows.extend(done.rewrite.rows());
        rows.extend(opened.map(|opened| ("open", text::duration(opened))));
        text::table(&rows)
    });
    printed.map_err(|error| error.but("the state is written"))
}
