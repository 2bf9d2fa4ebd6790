//! Opens graphs in stores, and describes them.

pub mod args;
pub mod checkpoint;
pub mod declared;
pub mod number;
pub mod properties;
pub mod schema;
pub mod wait;

use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::interrupt::Interrupt;
use crate::progress;
use crate::text;
use args::ReadArgs;
use hedgerow::{Catalog, EngineKind, Graph, GraphOptions, KeyKind, LabelId, LabelSchema, Recovery, Snapshot};
use std::path::Path;
use std::time::{Duration, Instant};
use wait::WaitArgs;

/// Bytes of a log segment for a command that commits little: it is preallocated when the store is
/// opened.
const SMALL_SEGMENT: u64 = 64 << 10;

/// A state of the graph in a store.
#[derive(Debug)]
pub struct StoredState {
    /// The state.
    pub snapshot: Snapshot,
    /// The kind of the keys.
    pub keys: KeyKind,
    /// What opening the store found.
    pub recovery: Recovery,
    /// The record of the last importer.
    pub input: Option<Box<[u8]>>,
    /// How long opening took.
    pub elapsed: Duration,
}

/// Opens the store for reading, which changes nothing. When this returns, other processes may write
/// to it.
pub fn read(
    store: &Path,
    args: &ReadArgs,
    threads: Option<usize>,
    console: &Console,
) -> Result<StoredState, StoredError> {
    let options = args.memory.limit(small(store)?);
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
    let options = args.memory.limit(small(store)?);
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
    let graph = match args.as_of.state() {
        Some(state) => Graph::open_at(store, state, options)?,
        None if args.from_checkpoint => Graph::open_checkpoint_with(store, options)?,
        None => Graph::open_read_only_with(store, options)?,
    };
    let (snapshot, keys) = (graph.snapshot()?, graph.key_kind());
    let recovery = graph.recovery().cloned().unwrap_or_default();
    let input = graph.input_position();
    graph.close()?;
    bar.finish_and_clear();
    note_clock(&graph, store, console);
    Ok(StoredState { snapshot, keys, recovery, input, elapsed: started.elapsed() })
}

/// Opens the store for a small commit.
pub fn open(
    store: &Path,
    settings: impl FnOnce(GraphOptions) -> GraphOptions,
    wait: WaitArgs,
    console: &Console,
    interrupt: Option<&Interrupt>,
) -> Result<Graph, StoredError> {
    let options = settings(small(store)?);
    let bar = progress::spinner(console, "opening");
    let graph = wait.until_open(interrupt, || Graph::open_with(store, options.clone()))?;
    bar.finish_and_clear();
    note_clock(&graph, store, console);
    Ok(graph)
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

/// The options that the store was created with, for a command that commits little. Any engine opens
/// what another has written.
fn small(store: &Path) -> Result<GraphOptions, StoredError> {
    let options = GraphOptions::of_store(store)?;
    Ok(options.engine(EngineKind::Rapid).segment_bytes(SMALL_SEGMENT))
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
