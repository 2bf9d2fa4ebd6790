//! `hedgerow import`: puts the edges of graph files into a store.
//!
//! | file | what it does |
//! |---|---|
//! | `sources` | the files, in their order |
//! | `target` | the store, whether it is there or not |
//! | `position` | how far an import is |
//! | `importer` | chunk by chunk from the files into the store, from where the last import stopped |
//! | `validate` | reading everything first |
//! | `noted`, `report` | what is said about it, by `info` and in the end |

mod args;
mod importer;
mod noted;
mod position;
mod report;
mod sources;
mod target;
mod validate;

pub use args::ImportArgs;
pub use noted::Noted;

use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::interrupt::Interrupt;
use crate::maintenance::checkpoint::{self, Checkpointed};
use crate::threads::Threads;
use args::When;
use hedgerow::{AsKey, Graph, KeyKind};
use hedgerow_formats::VertexKey;
use importer::Importer;
use report::Imported;
use sources::Sources;
use std::time::Instant;
use target::Target;

/// What an import runs with.
#[derive(Clone, Copy)]
struct Context<'a> {
    args: &'a ImportArgs,
    sources: Sources<'a>,
    target: &'a Target<'a>,
    threads: &'a Threads,
    console: &'a Console,
    interrupt: &'a Interrupt,
}

/// Imports and says what was.
pub fn execute(args: &ImportArgs, console: &Console, interrupt: &Interrupt) -> Result<(), CliError> {
    let sources = Sources::of(args)?;
    let threads = &Threads::new(args.threads)?;
    let target = &Target::look(args, &sources, threads.count())?;
    let context = Context { args, sources, target, threads, console, interrupt };
    match target.keys {
        KeyKind::Number | KeyKind::Dense => import::<u64>(context),
        KeyKind::Text => import::<Box<str>>(context),
    }
}

fn import<K: VertexKey + AsKey>(context: Context<'_>) -> Result<(), CliError> {
    let started = Instant::now();
    let mut importer = Importer::begin(context)?;
    if context.args.atomic {
        validate::read_all::<K>(context)?;
    }
    let done = importer.run::<K>();
    let done = done.map_err(|error| importer.stopped(error));
    let Some(graph) = importer.graph() else { return done };
    let written = done.and_then(|()| checkpoint(graph, context));
    // What was committed stays, whatever came after it.
    let closed = graph.close().map_err(StoredError::from);
    let written = written?;
    closed?;
    let imported = Imported::new(context, &importer, graph, written, started.elapsed())?;
    context.console.print(&imported, |imported| imported.describe(importer.skipped()))
}

/// Writes a checkpoint if it is wanted.
fn checkpoint(graph: &Graph, context: Context<'_>) -> Result<Option<Checkpointed>, CliError> {
    let is_wanted = match context.args.checkpoint {
        When::Always => true,
        When::Never => false,
        When::Auto => graph.store_info().is_some_and(|info| {
            let length = info.checkpoint.map_or(0, |checkpoint| checkpoint.length);
            info.log_bytes > length
        }),
    };
    if !is_wanted {
        return Ok(None);
    }
    match checkpoint::write(graph, context.console, context.interrupt) {
        Err(CliError::Interrupted) => {
            let kept = "the import is complete, only its checkpoint was not written";
            Err(StoredError::ImportInterrupted(kept.into()).into())
        }
        written => written.map(Some),
    }
}
