//! `hedgerow demo`: writers stream edges into a graph while readers run kernels on snapshots of it.

mod args;
mod compare;
mod live;
mod outcome;
mod plot;
mod readers;
mod shared;
mod stream;
mod summary;
mod writers;

pub use args::DemoArgs;

use crate::console::Console;
use crate::error::CliError;
use crate::input::Input;
use crate::interrupt::Interrupt;
use crate::options::KeysName;
use crate::outputs::FilesInUse;
use crate::threads::Threads;
use compare::Comparison;
use hedgerow::{AsKey, Graph, GraphOptions, KeyKind, Topology};
use hedgerow_formats::VertexKey;
use live::Live;
use outcome::Outcome;
use readers::Reading;
use shared::Shared;
use std::io;
use std::panic;
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};
use stream::Stream;
use summary::Summary;
use writers::{Style, Writing};

/// Runs the demo.
pub fn execute(args: &DemoArgs, console: &Console, interrupt: &Interrupt) -> Result<(), CliError> {
    // First check that the file can be written.
    if let Some(path) = &args.plot {
        let files = args.graph().map(|file| args.format.files(file)).unwrap_or_default();
        FilesInUse::read(files).check_output("--plot", path)?;
    }
    match args.graph() {
        None => {
            let stream = stream::generated(args, console, interrupt)?;
            stream_into_graph(&stream, KeyKind::Number, args, console, interrupt)
        }
        Some(file) => {
            let input = Input { graph: file, format: &args.format };
            match args.format.keys() {
                KeysName::Number | KeysName::Dense => run_file::<u64>(&input, args, console, interrupt),
                KeysName::Text => run_file::<Box<str>>(&input, args, console, interrupt),
            }
        }
    }
}

fn run_file<K: VertexKey + AsKey>(
    input: &Input<'_>,
    args: &DemoArgs,
    console: &Console,
    interrupt: &Interrupt,
) -> Result<(), CliError> {
    let stream = stream::of_file::<K>(input, console, interrupt)?;
    stream_into_graph(&stream, input.key_kind(), args, console, interrupt)
}

fn stream_into_graph<K: VertexKey + AsKey>(
    stream: &Stream<K>,
    keys: KeyKind,
    args: &DemoArgs,
    console: &Console,
    interrupt: &Interrupt,
) -> Result<(), CliError> {
    let topology = if args.undirected { Topology::Undirected } else { Topology::DirectedWithReverse };
    let options = args.memory.limit(GraphOptions::new().topology(topology).keys(keys));
    let graph = Graph::in_memory(options)?;
    stream.add_vertices(&graph)?;
    let outcome = write_and_read(&graph, stream, args, console, interrupt)?;
    let snapshot = graph.snapshot()?;
    outcome.writing.check(&snapshot)?;
    let threads = Threads::new(None)?;
    let comparison = Comparison::run(&snapshot, &threads, console, interrupt)?;
    let summary = Summary::new(args, stream, &graph, &snapshot, &outcome, &comparison);
    if let Some(path) = &args.plot {
        plot::write(path, &stream.name, &outcome)?;
    }
    console.print(&summary, Summary::describe)?;
    comparison.check()
}

/// The main part: concurrent writers and readers.
fn write_and_read<K: VertexKey + AsKey>(
    graph: &Graph,
    stream: &Stream<K>,
    args: &DemoArgs,
    console: &Console,
    interrupt: &Interrupt,
) -> Result<Outcome, CliError> {
    let shared = &Shared::default();
    let source = stream.first_source();
    let started = Instant::now();
    thread::scope(|scope| {
        let thread = thread::Builder::new;
        let write = |style| {
            thread().spawn_scoped(scope, move || writers::write(graph, stream, style, shared, interrupt))
        };
        let read = |_| thread().spawn_scoped(scope, move || readers::read(graph, source, shared, interrupt));
        let styles = Style::of_writers(args.writers, args.batch);
        let writers: io::Result<Vec<_>> = styles.into_iter().map(write).collect();
        let readers: io::Result<Vec<_>> = (0..args.readers.get()).map(read).collect();
        let (writers, readers) = match (writers, readers) {
            (Ok(writers), Ok(readers)) => (writers, readers),
            (Err(error), _) | (_, Err(error)) => {
                // Threads that have started must end.
                interrupt.token().cancel();
                return Err(CliError::DemoThreads(error));
            }
        };
        let live = Live::new(console, graph, stream.len(), shared);
        let samples = live.show(|| writers.iter().all(ScopedJoinHandle::is_finished));
        // Before joining: however the writers ended, the readers must end.
        shared.finish_writing();
        let (written, read) = (join(writers), join(readers));
        let writing = Writing::sum(written?);
        let elapsed = writing.finished.map_or(Duration::ZERO, |finished| finished - started);
        Ok(Outcome { writing, reading: Reading::sum(read?), elapsed, samples })
    })
}

/// The results of all threads, or the first error.
fn join<T>(threads: Vec<ScopedJoinHandle<'_, Result<T, CliError>>>) -> Result<Vec<T>, CliError> {
    let join = |thread: ScopedJoinHandle<'_, _>| {
        thread.join().unwrap_or_else(|panicked| panic::resume_unwind(panicked))
    };
    threads.into_iter().map(join).collect()
}
