//! `hedgerow ingest`: puts the edges of a stream into a store, as they come.
//!
//! | file | purpose |
//! |---|---|
//! | `input` | a file, a pipe or a topic |
//! | `reader` | reads a file that grows, or a pipe, and parses it on a thread of its own |
//! | `edge` | edges as they are committed, and their commit |
//! | `position` | the position in the stream, which the store has with each commit |
//! | `run` | commits what was read, by count and by time |
//! | `checkpoints` | keeps the log of an endless stream short |
//! | `live`, `report` | the figures while the stream is read, and at its end |

mod args;
mod checkpoints;
mod edge;
mod input;
mod live;
mod position;
mod reader;
mod report;
mod run;

pub use args::IngestArgs;
pub use edge::StreamEdge;
pub use input::Source;
pub use position::{Position, Read, ReadBytes, ReadRecords};
pub use reader::Piece;

use crate::console::{Console, Format};
use crate::error::{CliError, StoredError};
use crate::interrupt::Interrupt;
use crate::stored::target::Target;
use crate::stored::{self, checkpoint, number};
use crate::threads::cores;
use checkpoints::LONG_LOG;
use clap::ValueEnum;
use hedgerow::{ColumnType, KeyKind, VertexId};
use hedgerow_formats::{StreamOptions, VertexKey};
use input::Input;
use live::Live;
use position::Stream;
use report::Ingested;
use run::{PIECES_AHEAD, Run};
use std::num::NonZeroUsize;
use std::sync::mpsc::sync_channel;
use std::time::Instant;

/// Edges per commit at most, by default: with fewer, commits take a larger part of the time.
const BATCH: usize = 1 << 20;

/// Reads the stream to its end, or until a signal, and prints a summary.
pub fn execute(args: &IngestArgs, console: &Console) -> Result<(), CliError> {
    let threads = args.threads.map_or_else(cores, NonZeroUsize::get);
    let target = Target::look(args.asked(), threads)?;
    let column = target.schema.edges.column();
    if !matches!(column, ColumnType::Unit | ColumnType::F64)
        || args.target.weights && column == ColumnType::Unit
    {
        let given = match args.target.weights {
            true => "--weights".to_owned(),
            false => format!("{}: an edge of a stream has a weight of type f64 at most", args.file.display()),
        };
        let (label, declared) = (target.schema.name.clone(), number::describe(column));
        return Err(StoredError::Value { given, label, declared }.into());
    }
    let input = Input::open(args)?;
    let context = Context { args, target: &target, console };
    match (target.keys, target.is_weighted()) {
        (KeyKind::String, false) => context.ingest::<(Box<str>, Box<str>)>(input),
        (KeyKind::String, true) => context.ingest::<(Box<str>, Box<str>, f64)>(input),
        (_, false) => context.ingest::<(u64, u64)>(input),
        (_, true) => context.ingest::<(u64, u64, f64)>(input),
    }
}

/// The context of a stream.
struct Context<'a> {
    args: &'a IngestArgs,
    target: &'a Target<'a>,
    console: &'a Console,
}

impl Context<'_> {
    fn ingest<E: StreamEdge>(&self, mut input: Input) -> Result<(), CliError>
    where
        E::Key: VertexKey,
    {
        let Context { args, target, console } = *self;
        // Before, nothing was stored, and a signal ends the process.
        let interrupt = &Interrupt::listen()?;
        let started = Instant::now();
        let graph = interrupt.or_interrupted(target.open(args.wait, interrupt))?;
        stored::note_clock(&graph, target.path(), console);
        let stream = self.stream(&input);
        let (extent, is_kept) = (input.extent(), input.is_kept());
        let comes_again = is_kept || args.replayed;
        let last = match args.anew {
            true => None,
            false => stream.begin(graph.input_position().as_deref(), comes_again, target.path())?,
        };
        let begin = input.begin(last)?;
        let batch = target.chunk.map_or(BATCH, NonZeroUsize::get);
        let (sender, pieces) = sync_channel(PIECES_AHEAD);
        let source = input.source::<E>(begin.clone(), self.options(), (args, batch), sender)?;
        let mut live = Live::new(console, extent, args.follow && is_kept);
        let start = Position { stream, read: begin.clone(), finished: false };
        let mut run = Run::<E>::new(&graph, target.label, (batch, args.within), start);
        let failed = |error| {
            let path = target.path().display();
            console.note(&format!("the log of {path} grows on without checkpoints: {error}"));
        };
        let ran = checkpoints::beside(args.checkpoint, &graph, LONG_LOG, failed, || {
            run.run(source, &pieces, &mut live, interrupt)
        });
        let is_over = |signal: &Option<_>| signal.is_none() || args.follow && !is_kept;
        let ended = ran.and_then(|signal| {
            if is_over(&signal) {
                run.finish()?;
            }
            match signal {
                Some(signal) if !args.follow => Err(CliError::Interrupted(signal)),
                _ => Ok(signal),
            }
        });
        live.finish();
        let written = match &ended {
            Ok(None) => checkpoint::write_when(args.checkpoint, &graph, "stream", console, interrupt),
            _ => Ok(None),
        };
        // Commits stay, whatever happens after them.
        let closed = graph.close().map_err(StoredError::from);
        let signal = ended.map_err(|error| match run.totals.commits {
            0 => error,
            _ => stopped(error, run.kept(target.path(), comes_again)),
        })?;
        let written = written?;
        closed?;
        let figures = (&run.totals, started.elapsed(), signal);
        let ingested = Ingested::new(args, target, &graph, &begin, figures, written)?;
        let lines = if console.is_json() { console.with(Format::JsonLines) } else { *console };
        let printed = lines.summarize(None, &ingested, |ingested| ingested.describe(&run.totals));
        printed.map_err(|error| error.but("everything that was read is committed"))
    }

    /// Identifies the stream among others.
    fn stream(&self, input: &Input) -> Stream {
        let columns = self.args.columns.to_possible_value();
        Stream {
            name: input.name(),
            label: self.target.schema.name.clone(),
            format: self.args.format.name().into(),
            columns: columns.map_or(String::new(), |name| name.get_name().to_owned()),
        }
    }

    /// The options for reading the stream.
    fn options(&self) -> StreamOptions {
        StreamOptions {
            form: self.args.format.form(),
            columns: self.args.columns.columns(),
            needs_weights: self.target.is_weighted(),
            largest_key: (self.target.keys == KeyKind::Dense).then(|| VertexId::MAX.index() as u64),
            skip_bad_lines: self.args.skip_bad_lines,
        }
    }
}

/// Adds to the error of a stream what stays.
fn stopped(error: CliError, kept: String) -> CliError {
    match error {
        CliError::Interrupted(signal) => StoredError::Interrupted { signal, kept }.into(),
        cause => StoredError::Stopped { cause: Box::new(cause), kept }.into(),
    }
}
