//! `hedgerow diff`

use super::args::{DiffArgs, StateArg};
use super::compare::{ComparedLabel, Comparison, Counts, Difference};
use super::item::COLUMNS;
use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::interrupt::Interrupt;
use crate::listing::{Form, Listing};
use crate::outputs::FilesInUse;
use crate::stored::args::{AsOfArgs, ReadArgs};
use crate::stored::{self, StoredState};
use crate::text::{Count, Moment, table};
use hedgerow::{Catalog, ErrorKind, KeyKind, Topology, store};
use hedgerow_formats::{PropertyFormat, STANDARD_OUTPUT};
use serde::Serialize;
use std::num::NonZeroUsize;
use std::path::Path;

/// The compared states.
#[derive(Clone, Debug, Serialize)]
struct Compared {
    store: String,
    /// The other store; null if both states are of one.
    with: Option<String>,
    /// The commits of the states.
    from: u64,
    to: u64,
}

/// The number of differences.
#[derive(Debug, Serialize)]
struct Found {
    #[serde(flatten)]
    counts: Counts,
    /// True if --limit left differences out.
    limited: bool,
}

#[derive(Debug, Serialize)]
struct Summary {
    #[serde(flatten)]
    compared: Compared,
    #[serde(flatten)]
    found: Found,
    output: Option<String>,
}

/// Compares two states, and prints or writes their differences.
pub fn execute(args: &DiffArgs, console: &Console, interrupt: &Interrupt) -> Result<(), CliError> {
    let (store, other) = (args.store.as_path(), args.with.as_deref().unwrap_or(&args.store));
    let output = args.output.as_deref().unwrap_or(Path::new(STANDARD_OUTPUT));
    FilesInUse::read([store, other]).check_output("--output", output)?;
    // The newest state first: a writer may add commits before the other state is read.
    let after = read(other, args.to.unwrap_or(StateArg::Newest), args, console)?;
    interrupt.check()?;
    let before = read(store, args.from.unwrap_or(StateArg::Newest), args, console)?;
    interrupt.check()?;
    check_comparable(args, (store, &before), (other, &after))?;
    let catalogs = [&before, &after].map(|state| state.snapshot.catalog());
    let labels = labels(args, &catalogs, other)?;
    let (from, to) = (before.snapshot.timestamp(), after.snapshot.timestamp());
    let touched = match args.with {
        None => store::touched_vertices(store, from.min(to), from.max(to)).map_err(StoredError::from)?,
        Some(_) => None,
    };
    let comparison = Comparison {
        states: [&before.snapshot, &after.snapshot],
        catalogs: &catalogs,
        labels: &labels,
        vertices: args.label.is_none(),
        touched,
    };
    let with = args.with.as_ref().map(|with| with.display().to_string());
    let compared = Compared { store: store.display().to_string(), with, from: from.0, to: to.0 };
    if args.count {
        let counts = comparison.run(interrupt, |_| Ok(()))?;
        let summary = Summary { compared, found: Found { counts, limited: false }, output: None };
        return console.print(&summary, Summary::describe);
    }
    write(args, output, &comparison, compared, console, interrupt)
}

/// Writes the differences to `output`, and prints a summary unless they are printed as JSON.
fn write(
    args: &DiffArgs,
    output: &Path,
    comparison: &Comparison<'_>,
    compared: Compared,
    console: &Console,
    interrupt: &Interrupt,
) -> Result<(), CliError> {
    let is_printed = args.output.is_none();
    let is_csv = PropertyFormat::of_name(output) == Some(PropertyFormat::Csv);
    let form = if is_printed { Form::of_console(console, "changes") } else { Form::of_file(output) };
    let limit = args.limit.map_or(u64::MAX, |limit: NonZeroUsize| limit.get() as u64);
    let (mut listing, mut listed, mut limited) = (Listing::begin(output, form, &compared)?, 0, false);
    if is_csv {
        listing.line(&format!("change,{COLUMNS}"))?;
    }
    let names_labels = comparison.labels.len() > 1;
    let counts = comparison.run(interrupt, |difference| {
        limited |= listed == limit;
        if limited {
            return Ok(());
        }
        listed += 1;
        let Difference { change, item } = difference;
        let line = || match is_csv {
            true => item.fields(&format!("{change:?}").to_lowercase()),
            false => item.line(change.sign(), names_labels),
        };
        listing.item(difference, line)
    })?;
    interrupt.check()?;
    let found = Found { counts, limited };
    listing.finish(&found)?;
    if is_printed && console.is_json() {
        return Ok(());
    }
    let summary =
        Summary { compared, found, output: args.output.as_ref().map(|path| path.display().to_string()) };
    console.summarize(Some(output), &summary, Summary::describe)
}

/// Opens a state of a store for reading.
fn read(
    store: &Path,
    state: StateArg,
    args: &DiffArgs,
    console: &Console,
) -> Result<StoredState, StoredError> {
    let as_of = match state {
        StateArg::Newest | StateArg::Checkpoint => AsOfArgs::default(),
        StateArg::Commit(commit) => AsOfArgs { as_of: Some(commit), as_of_time: None },
        StateArg::Time(time) => AsOfArgs { as_of: None, as_of_time: Some(time) },
    };
    let from_checkpoint = matches!(state, StateArg::Checkpoint);
    let read = ReadArgs { from_checkpoint, as_of, memory: args.memory.clone() };
    stored::read(store, &read, None, console).map_err(|error| match (as_of.state(), error) {
        (Some(_), StoredError::Graph(cause)) if cause.store().is_none() => no_state(store, cause),
        (_, error) => error,
    })
}

/// Adds the oldest state of a store to the error for a state that it does not have.
fn no_state(store: &Path, cause: hedgerow::Error) -> StoredError {
    match store::checkpoint(store) {
        Ok(Some(oldest)) if cause.kind() == ErrorKind::NotFound => {
            let (at, time) = (Count(oldest.timestamp.0), Moment(oldest.wall_clock));
            let oldest =
                format!("the oldest state of {} is `checkpoint`, commit {at} of {time}", store.display());
            StoredError::NoState { cause, oldest }
        }
        _ => cause.into(),
    }
}

/// Refuses stores whose vertices or edges cannot be compared.
fn check_comparable(
    args: &DiffArgs,
    (store, before): (&Path, &StoredState),
    (other, after): (&Path, &StoredState),
) -> Result<(), StoredError> {
    let keys = |state: &StoredState| if state.keys == KeyKind::String { "text" } else { "numbers" };
    let direction = |topology: Topology| if topology.is_undirected() { "undirected" } else { "directed" };
    let edges = |state: &StoredState| direction(state.snapshot.topology());
    for (what, before, after) in [("keys", keys(before), keys(after)), ("edges", edges(before), edges(after))]
    {
        if args.with.is_some() && before != after {
            let (store, other) = (store.display(), other.display());
            return Err(StoredError::Incomparable(format!(
                "the {what} of {store} are {before}, those of {other} {after}: such graphs have nothing in common to compare"
            )));
        }
    }
    Ok(())
}

/// The labels to compare: all, or the one that `--label` names.
fn labels(args: &DiffArgs, catalogs: &[Catalog; 2], store: &Path) -> Result<Vec<ComparedLabel>, CliError> {
    let [before, after] = catalogs;
    let mut labels = ComparedLabel::of(before, after);
    if let Some(name) = &args.label {
        if before.label_id(name).is_err() {
            stored::label(after, Some(name), store)?;
        }
        labels.retain(|label| label.name() == name);
    }
    Ok(labels)
}

impl Summary {
    fn describe(&self) -> String {
        let Counts { vertices_added, vertices_deleted, vertices_changed, .. } = self.found.counts;
        let Counts { edges_added, edges_deleted, edges_changed, .. } = self.found.counts;
        let (from, to) = (Count(self.compared.from), Count(self.compared.to));
        let counts = |added, deleted, changed| {
            format!("{} added, {} deleted, {} changed", Count(added), Count(deleted), Count(changed))
        };
        let store = &self.compared.store;
        let states = match &self.compared.with {
            Some(with) => format!("{store} at commit {from}, {with} at commit {to}"),
            None => format!("{store}, from commit {from} to {to}"),
        };
        let mut rows = vec![("compared", states)];
        rows.extend(self.output.as_ref().map(|output| ("output", output.clone())));
        rows.push(("vertices", counts(vertices_added, vertices_deleted, vertices_changed)));
        rows.push(("edges", counts(edges_added, edges_deleted, edges_changed)));
        if self.found.limited {
            rows.push(("note", "--limit left differences out, which are counted".to_owned()));
        }
        table(&rows)
    }
}
