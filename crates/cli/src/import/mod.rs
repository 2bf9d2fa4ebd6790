//! `hedgerow import`: puts the edges of graph files into a store.
//!
//! | file | purpose |
//! |---|---|
//! | `sources` | the files, in their order |
//! | `target` | the store, existing or new |
//! | `context` | the options, the files and the store of an import |
//! | `position` | the progress of an import |
//! | `lines` | puts lines with properties into the graph |
//! | `importer` | imports the files chunk by chunk, from where the last import stopped |
//! | `bar` | shows the progress and the rate |
//! | `validate` | reads everything first |
//! | `noted`, `report` | the output of `info` and the summary about an import |

mod args;
mod bar;
mod context;
mod importer;
mod lines;
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
use crate::stored::checkpoint::{self, Checkpointed};
use crate::threads::Threads;
use args::When;
use context::Context;
use hedgerow::{AsKey, Graph, KeyKind};
use hedgerow_formats::VertexKey;
use importer::Importer;
use report::Imported;
use sources::Sources;
use std::time::Instant;
use target::Target;

/// Imports and prints a summary.
pub fn execute(args: &ImportArgs, console: &Console, interrupt: &Interrupt) -> Result<(), CliError> {
    let sources = Sources::of(args)?;
    let threads = &Threads::new(args.threads)?;
    let target = &Target::look(args, &sources, threads.count())?;
    let context = Context { args, sources, target, threads, console, interrupt };
    match target.keys {
        KeyKind::Number | KeyKind::Dense => import::<u64>(context),
        KeyKind::String => import::<Box<str>>(context),
    }
}

fn import<K: VertexKey + AsKey>(context: Context<'_>) -> Result<(), CliError> {
    let started = Instant::now();
    let mut importer = Importer::begin(context)?;
    if context.args.atomic {
        validate::read_all::<K>(context).map_err(|error| context.undeclared(error))?;
    }
    let done = importer.run::<K>().map_err(|error| context.undeclared(error));
    let done = done.map_err(|error| importer.stopped(error));
    let Some(graph) = importer.graph() else { return done };
    let written = done.and_then(|()| checkpoint(graph, context));
    // Commits stay, whatever happens after them.
    let closed = graph.close().map_err(StoredError::from);
    let written = written?;
    closed?;
    let imported = Imported::new(context, &importer, graph, written, started.elapsed())?;
    let printed =
        context.console.summarize(None, &imported, |imported| imported.describe(importer.skipped()));
    printed.map_err(|error| error.but("the import is complete"))
}

/// Writes a checkpoint if requested.
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
        Err(CliError::Interrupted(signal)) => {
            let kept = "the import is complete, only its checkpoint was not written".to_owned();
            Err(StoredError::Interrupted { signal, kept }.into())
        }
        written => written.map(Some),
    }
}
