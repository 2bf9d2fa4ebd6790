//! `hedgerow import`: puts the edges of graph files into a store.
//!
//! | file | purpose |
//! |---|---|
//! | `plan` | looks at the files first: what they tell of a new store, and rows that would be lost |
//! | `tables` | files with named columns, read to find these and their types |
//! | `infer` | the schema of a new store, from these columns |
//! | `repeats`, `conflict` | rows that repeat an edge, counted, and found as an example |
//! | `in_order` | the first row of an edge; rows of a pipe, which can be read only once |
//! | `preview`, `command` | shows the plan; the command that says the same |
//! | `sources` | the files, in their order |
//! | `context` | the options, the files and the store of an import |
//! | `position` | the progress of an import |
//! | `lines` | puts lines with properties into the graph |
//! | `importer` | imports the files chunk by chunk, from where the last import stopped |
//! | `build` | imports them into a new store at once, without commits |
//! | `encoded` | lines with properties, made ready for it on threads |
//! | `bar` | shows the progress and the rate |
//! | `validate` | reads everything first |
//! | `noted`, `report` | the output of `info` and the summary about an import |

mod args;
mod bar;
mod build;
mod command;
mod conflict;
mod context;
mod encoded;
mod importer;
mod in_order;
mod infer;
mod lines;
mod noted;
mod plan;
mod position;
mod preview;
mod repeats;
mod report;
mod sources;
mod tables;
mod validate;

pub use args::ImportArgs;
pub use noted::Noted;
pub use report::Contents;
pub use sources::can_be_read_again;

use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::interrupt::Interrupt;
use crate::stored::checkpoint;
use crate::stored::target::Target;
use crate::threads::Threads;
use args::OnRepeat;
use context::Context;
use hedgerow::{AsKey, KeyKind};
use hedgerow_formats::VertexKey;
use importer::Importer;
use plan::Plan;
use report::Imported;
use sources::Sources;
use std::time::Instant;

/// Imports and prints a summary.
pub fn execute(args: &ImportArgs, console: &Console) -> Result<(), CliError> {
    let threads = &Threads::new(args.threads)?;
    Sources::of(args, args, false)?;
    let plan = &plan(args, threads, console)?;
    let args = &plan.args;
    let sources = Sources::of(args, &plan.given, plan.vertices.is_some())?;
    let target = &Target::look(args.asked(), threads.count())?;
    sources.check_options(&target.schema.edges, &target.vertices)?;
    sources.check_values(&target.schema)?;
    if args.dry_run {
        return preview::print(plan, target, console);
    }
    if plan.is_inferred && !preview::confirm(plan, target, console) {
        return Ok(());
    }
    // Before, nothing was stored, and a signal ends the process.
    let interrupt = &Interrupt::listen()?;
    let context = Context { args, plan, sources, target, threads, console, interrupt };
    match target.keys {
        KeyKind::Number | KeyKind::Dense => import::<u64>(context),
        KeyKind::String => import::<Box<str>>(context),
    }
}

/// Looks at the files; at a terminal, asks what happens to rows that would be lost.
fn plan(args: &ImportArgs, threads: &Threads, console: &Console) -> Result<Plan, CliError> {
    match Plan::of(args, threads, console) {
        Err(CliError::Stored(repeats @ StoredError::Repeats { .. }))
            if args.on_repeat.is_none()
                && args.target.labels.is_empty()
                && !args.target.weights
                && !args.store.exists()
                && console.can_ask() =>
        {
            console.note(&repeats.to_string());
            if !console.asks("Keep each row as an edge of its own?", false) {
                return Err(repeats.into());
            }
            let args = ImportArgs { on_repeat: Some(OnRepeat::Parallel), ..args.clone() };
            Plan::of(&args, threads, console)
        }
        plan => plan,
    }
}

fn import<K: VertexKey + AsKey>(context: Context<'_>) -> Result<(), CliError> {
    let started = Instant::now();
    let mut importer = Importer::begin(context)?;
    let builds = context.builds();
    if context.args.atomic && !builds {
        validate::read_all::<K>(context).map_err(|error| context.undeclared(error))?;
    }
    let done = importer.run::<K>(builds).map_err(|error| context.undeclared(error));
    let done = done.map_err(|error| importer.stopped(error));
    let (contents, written) = match (importer.built(), importer.graph()) {
        (Some(built), _) => (built.contents, done.map(|()| Some(built.checkpoint.clone()))?),
        (None, Some(graph)) => {
            let written = done.and_then(|()| {
                let Context { args, console, interrupt, .. } = context;
                checkpoint::write_when(args.checkpoint, graph, "import", console, interrupt)
            });
            // Commits stay, whatever happens after them.
            let closed = graph.close().map_err(StoredError::from);
            let written = written?;
            closed?;
            (Contents::of(graph)?, written)
        }
        (None, None) => return done,
    };
    let took = context.plan.took + started.elapsed();
    let imported = Imported::new(context, &importer, contents, written, took);
    let printed =
        context.console.summarize(None, &imported, |imported| imported.describe(importer.skipped()));
    printed.map_err(|error| error.but("the import is complete"))
}
