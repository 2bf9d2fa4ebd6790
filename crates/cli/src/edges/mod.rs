//! `hedgerow edges`: the edges of a store by conditions, and aggregates over them.
//!
//! | file | purpose |
//! |---|---|
//! | `layout` | the edges of a label as rows with columns |
//! | `filter` | `--where`: parsed, checked, and compiled for each label |
//! | `clock` | the time of an edge, for `--since`, `--until` and `--newest` |
//! | `scan` | kernels that visit the rows of a label |
//! | `select` | the edges that the options select; passes over them |
//! | `newest` | the newest of them |
//! | `aggregate`, `accumulator`, `groups` | aggregates: options, figures, groups |
//! | `print`, `cell`, `lines` | output of edges, and of groups |

mod accumulator;
mod aggregate;
mod args;
mod cell;
mod clock;
mod filter;
mod groups;
mod layout;
mod lines;
mod newest;
mod print;
mod scan;
mod select;

pub use args::{EdgesArgs, QueryArgs};

use crate::console::Console;
use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::objects::{ReadPlace, Reading};
use crate::options::At;
use crate::outputs::FilesInUse;
use crate::stored;
use crate::text::{self, Count};
use crate::threads::Threads;
use aggregate::Table;
use groups::Groups;
use hedgerow::Snapshot;
use hedgerow_formats::STANDARD_OUTPUT;
use print::EdgePrinter;
use select::Selection;
use serde::Serialize;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

/// The beginning of the JSON output.
#[derive(Debug, Serialize)]
struct Header {
    store: String,
    /// The commit whose state was read.
    timestamp: u64,
}

/// The summary of an output to a file.
#[derive(Debug, Serialize)]
struct Written {
    #[serde(flatten)]
    header: Header,
    output: String,
    /// The number of edges, or of groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    edges: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<u64>,
}

/// Opens a store, and prints edges or aggregates.
pub fn execute(args: &EdgesArgs, console: &Console, interrupt: &Interrupt) -> Result<(), CliError> {
    let At { what, place: ReadPlace { store, read, .. } } = &args.edges;
    check_output(what, store.path())?;
    let state = stored::read(store.path(), read, None, console)?;
    query(what, &Reading::of(&state, store.path()), console, interrupt)
}

/// Prints edges or aggregates in a state of a store, after [`check_output`].
pub fn query(
    args: &QueryArgs,
    reading: &Reading<'_, Snapshot>,
    console: &Console,
    interrupt: &Interrupt,
) -> Result<(), CliError> {
    interrupt.check()?;
    let mut selection = Selection::of(args, reading)?;
    let header =
        Header { store: reading.store.display().to_string(), timestamp: reading.graph.timestamp().0 };
    if args.aggregates.aggregates.is_empty() {
        selection.labels.iter_mut().for_each(|selected| selected.with_data = true);
        return print_edges(args, &selection, header, console, interrupt);
    }
    let layouts: Vec<_> = selection.labels.iter().map(|selected| selected.layout.clone()).collect();
    let table = Table::of(&args.aggregates, &layouts, args.printed.raw_times)?;
    for (label, selected) in selection.labels.iter_mut().enumerate() {
        selected.with_data |= table.reads_data(label);
    }
    let started = Instant::now();
    let groups = Groups::of(&table, &selection, &Threads::new(None)?, interrupt)?;
    console.detail(|| format!("read the edges in {}", text::duration(started.elapsed())));
    let count = groups.count() as u64;
    let mut lines = groups.lines(args.aggregates.top, &selection)?;
    lines.truncate(limit(args));
    match (file(args), &args.aggregates.by) {
        (Some(path), _) => {
            lines::write(&table, &lines, path)?;
            summarize(path, header, (None, Some(lines.len() as u64)), console)
        }
        (None, Some(by)) => lines::print(&table, &lines, (by, count), header, console),
        (None, None) => lines.iter().try_for_each(|line| lines::print_all(&table, line, &header, console)),
    }
}

fn print_edges(
    args: &QueryArgs,
    selection: &Selection<'_>,
    header: Header,
    console: &Console,
    interrupt: &Interrupt,
) -> Result<(), CliError> {
    let raw_times = args.printed.raw_times;
    let mut printer = match file(args) {
        Some(path) => EdgePrinter::writing(selection, path, raw_times)?,
        None => EdgePrinter::printing(selection, &header, console, raw_times)?,
    };
    let limit = limit(args);
    match args.times.newest {
        Some(most) => {
            let most = limit.min(most.get());
            for edge in newest::newest(selection, most, &Threads::new(None)?, interrupt)? {
                let (label, row) = edge.row();
                printer.print(&selection.labels[label].layout, &row)?;
            }
        }
        None => selection.for_each(interrupt, &mut |selected, row| {
            let printed = interrupt.check().and_then(|()| printer.print(&selected.layout, &row));
            match printed {
                Ok(()) if printer.count < limit as u64 => ControlFlow::Continue(()),
                printed => ControlFlow::Break(printed),
            }
        })?,
    }
    let edges = printer.count;
    printer.finish()?;
    match file(args) {
        Some(path) => summarize(path, header, (Some(edges), None), console),
        None => Ok(()),
    }
}

/// Prints the summary of an output to a file.
fn summarize(
    path: &Path,
    header: Header,
    (edges, groups): (Option<u64>, Option<u64>),
    console: &Console,
) -> Result<(), CliError> {
    let written = Written { header, output: path.display().to_string(), edges, groups };
    console.summarize(Some(path), &written, |Written { header, output, edges, groups }| {
        let store = format!("{}, commit {}", header.store, Count(header.timestamp));
        let mut table = vec![("store", store), ("output", output.clone())];
        table.extend(edges.map(|edges| ("edges", Count(edges).to_string())));
        table.extend(groups.map(|groups| ("groups", Count(groups).to_string())));
        text::table(&table)
    })
}

/// The file to write; `None` for standard output.
fn file(args: &QueryArgs) -> Option<&Path> {
    args.output.as_deref().filter(|path| *path != Path::new(STANDARD_OUTPUT))
}

fn limit(args: &QueryArgs) -> usize {
    args.limit.map_or(usize::MAX, NonZeroUsize::get)
}

/// Refuses a file that cannot be written, before the work begins.
pub fn check_output(args: &QueryArgs, store: &Path) -> Result<(), CliError> {
    file(args).map_or(Ok(()), |path| FilesInUse::read([store]).check_output("--output", path))
}
