//! Opens graphs in stores, and describes them.

pub mod args;
pub mod checkpoint;
pub mod declared;
pub mod number;
pub mod properties;
pub mod schema;
pub mod target;
pub mod wait;

use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::interrupt::Interrupt;
use crate::options::MemoryArgs;
use crate::progress;
use crate::text;
use args::{ReadArgs, WriteArgs};
use hedgerow::store::manifest;
use hedgerow::{Catalog, EngineKind, Graph, GraphOptions, KeyKind, LabelId, LabelSchema, Recovery, Snapshot};
use std::path::Path;
use std::time::{Duration, Instant};
use wait::WaitArgs;

/// A state of the graph in a store.
#[derive(Clone, Debug)]
pub struct StoredState {
    /// The graph, which may be closed.
    pub graph: Graph,
    /// The state.
    pub snapshot: Snapshot,
    /// The kind of the keys.
    pub keys: KeyKind,
    /// The result of opening the store.
    pub recovery: Recovery,
    /// The record of the last importer.
    pub input: Option<Box<[u8]>>,
    /// The time to open the store.
    pub elapsed: Duration,
}

impl StoredState {
    /// The newest state of an open graph.
    pub fn of(graph: &Graph, elapsed: Duration) -> Result<Self, StoredError> {
        Ok(StoredState {
            graph: graph.clone(),
            snapshot: graph.snapshot()?,
            keys: graph.key_kind(),
            recovery: graph.recovery().cloned().unwrap_or_default(),
            input: graph.input_position(),
            elapsed,
        })
    }
}

/// Opens the store for reading, which changes nothing. When this returns, other processes may write
/// to it.
pub fn read(
    store: &Path,
    args: &ReadArgs,
    threads: Option<usize>,
    console: &Console,
) -> Result<StoredState, StoredError> {
    let options = args.memory.limit(small());
    let options = threads.into_iter().fold(options, GraphOptions::threads);
    read_with(store, args, options, console)
}

/// Like [`read`], but keeps the order of commits if it `is_needed`, which takes engine `tel`.
pub fn read_in_order(
    store: &Path,
    args: &ReadArgs,
    is_needed: bool,
    console: &Console,
) -> Result<StoredState, StoredError> {
    let options = args.memory.limit(small());
    let options = if is_needed { options.engine(EngineKind::Tel).keep_commit_order() } else { options };
    read_with(store, args, options, console)
}

fn read_with(
    store: &Path,
    args: &ReadArgs,
    options: GraphOptions,
    console: &Console,
) -> Result<StoredState, StoredError> {
    let started = Instant::now();
    let bar = progress::spinner(console, "opening");
    let options = match args.as_of.state() {
        Some(state) => options.as_of(state),
        None if args.from_checkpoint => options.from_checkpoint(),
        None => options.read_only(),
    };
    let graph = options.open(store)?;
    let state = StoredState::of(&graph, started.elapsed())?;
    graph.close()?;
    bar.finish_and_clear();
    note_opened(&graph, store, started, console);
    Ok(state)
}

/// Opens the store for a small commit.
pub fn open(
    store: &Path,
    settings: impl FnOnce(GraphOptions) -> GraphOptions,
    wait: WaitArgs,
    console: &Console,
    interrupt: Option<&Interrupt>,
) -> Result<Graph, StoredError> {
    open_with(store, &settings(small()), wait, console, interrupt)
}

/// Opens the store for many commits and reads, with the order of commits if its engine keeps one.
pub fn open_for_session(
    store: &Path,
    write: &WriteArgs,
    memory: &MemoryArgs,
    console: &Console,
) -> Result<Graph, StoredError> {
    let options = GraphOptions::new().durability(write.durability.durability());
    let options = match manifest(store)?.options.engine.parse::<EngineKind>() {
        Ok(engine) if engine.keeps_commit_order() => options.engine(engine).keep_commit_order(),
        _ => options.prefer_engine(EngineKind::Rapid),
    };
    open_with(store, &memory.limit(options), write.wait, console, None)
}

fn open_with(
    store: &Path,
    options: &GraphOptions,
    wait: WaitArgs,
    console: &Console,
    interrupt: Option<&Interrupt>,
) -> Result<Graph, StoredError> {
    let started = Instant::now();
    let bar = progress::spinner(console, "opening");
    let graph = wait.until_open(interrupt, || options.open(store))?;
    bar.finish_and_clear();
    note_opened(&graph, store, started, console);
    Ok(graph)
}

/// Prints the result of opening, if --verbose, and a note if the newest commit is dated in the
/// future.
fn note_opened(graph: &Graph, store: &Path, started: Instant, console: &Console) {
    console.detail(|| {
        let commits = graph.recovery().map_or(0, |recovery| recovery.commits);
        let replayed = text::counted(commits, "commit", "commits");
        let elapsed = text::duration(started.elapsed());
        format!("opened {} in {elapsed}, with {replayed} replayed from the log", store.display())
    });
    note_clock(graph, store, console);
}

/// Smaller differences between clocks are not reported.
const NOTED_AHEAD: Duration = Duration::from_secs(1);

/// Prints a note if the newest commit is dated in the future.
pub fn note_clock(graph: &Graph, store: &Path, console: &Console) {
    let ahead = graph.recovery().map_or(Duration::ZERO, |recovery| recovery.ahead_of_clock);
    if ahead >= NOTED_AHEAD {
        let (store, ahead) = (store.display(), text::duration(ahead));
        console.note(&format!(
            "note: the newest commit in {store} carries a time {ahead} ahead of this machine's clock; until the clock has caught up, read \
             past states by --as-of instead of --as-of-time"
        ));
    }
}

/// The options of a command that commits little. Any engine opens a store of another, unless that
/// engine keeps edges in its own files.
fn small() -> GraphOptions {
    GraphOptions::new().prefer_engine(EngineKind::Rapid)
}

/// The label with this name; without a name the first.
pub fn label<'a>(
    catalog: &'a Catalog,
    name: Option<&str>,
    store: &Path,
) -> Result<(LabelId, &'a LabelSchema), CliError> {
    let labels = catalog.labels();
    let Some(name) = name else { return Ok((LabelId::DEFAULT, &labels[0])) };
    let unknown = |_| {
        let known = labels.iter().map(|label| format!("{:?}", label.name)).collect::<Vec<_>>().join(", ");
        StoredError::UnknownLabel { label: name.into(), known, store: store.into() }
    };
    let label = catalog.label_id(name).map_err(unknown)?;
    Ok((label, &labels[label.index()]))
}
