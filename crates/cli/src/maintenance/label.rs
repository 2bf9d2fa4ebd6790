//! `hedgerow label`, from the manifest of a store alone, and `label` of the shell, on an open
//! graph.

use super::args::{LabelAction, LabelArgs, NewLabels};
use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::interrupt::Interrupt;
use crate::stored::declared;
use crate::text;
use hedgerow::store;
use hedgerow::{Catalog, Error, Graph, LabelSchema};
use serde::Serialize;
use std::path::Path;

#[derive(Debug, Serialize)]
struct Labels {
    store: String,
    labels: Vec<Label>,
}

#[derive(Debug, Serialize)]
struct Label {
    id: usize,
    name: String,
    /// The declaration of the label; null if its name cannot be written there.
    declaration: Option<String>,
}

/// Prints the labels of a store, or adds some.
pub fn execute(args: &LabelArgs, console: &Console) -> Result<(), CliError> {
    match &args.action {
        LabelAction::List(args) => {
            let store = args.place.path();
            list(&catalog_of(store)?, store, console)
        }
        LabelAction::Add(args) => {
            let store = args.place.path();
            args.wait
                .until_open(None, || store::add_labels(store, &args.new.labels))
                .map_err(StoredError::from)?;
            added(&catalog_of(store)?, &args.new, store, console)
        }
    }
}

/// Labels that are added between two checks for a signal: each time, the manifest is replaced.
const LABELS_BETWEEN_CHECKS: usize = 4096;

/// Adds labels to an open graph, and prints them. Refuses names that the graph has, as the command
/// does. A signal ends it between two labels; labels added by then stay.
pub fn add(
    graph: &Graph,
    new: &NewLabels,
    store: &Path,
    console: &Console,
    interrupt: &Interrupt,
) -> Result<(), CliError> {
    let catalog = graph.catalog().with_labels(&new.labels).map_err(Error::from).map_err(StoredError::from)?;
    for (done, some) in (0..).step_by(LABELS_BETWEEN_CHECKS).zip(new.labels.chunks(LABELS_BETWEEN_CHECKS)) {
        let some = interrupt.check().and_then(|()| Ok(graph.add_labels(some).map_err(StoredError::from)?));
        some.map_err(|error| if done == 0 { error } else { stopped(error, done, new) })?;
    }
    added(&catalog, new, store, console)
}

/// The error if only the first `done` labels were added.
fn stopped(error: CliError, done: usize, new: &NewLabels) -> CliError {
    let (first, all) = (text::Count(done as u64), text::Count(new.labels.len() as u64));
    let kept = format!("the first {first} of the {all} labels are added, the others are not");
    match error {
        CliError::Interrupted(signal) => StoredError::Interrupted { signal, kept }.into(),
        cause => StoredError::Stopped { cause: Box::new(cause), kept }.into(),
    }
}

/// Prints the labels.
pub fn list(catalog: &Catalog, store: &Path, console: &Console) -> Result<(), CliError> {
    let labels = Labels::of(catalog, store);
    console.print(&labels, |labels| labels.labels.iter().map(Label::line).collect())
}

/// Prints the labels that were added last.
fn added(catalog: &Catalog, new: &NewLabels, store: &Path, console: &Console) -> Result<(), CliError> {
    let labels = Labels::of(catalog, store);
    let first = labels.labels.len() - new.labels.len();
    let printed = console.print(&labels, |labels| {
        labels.labels[first..].iter().map(|label| format!("added {}", label.line())).collect()
    });
    printed.map_err(|error| error.but("the labels are added"))
}

fn catalog_of(store: &Path) -> Result<Catalog, StoredError> {
    Ok(store::manifest(store)?.options.catalog)
}

impl Labels {
    fn of(catalog: &Catalog, store: &Path) -> Self {
        let labels = catalog.labels().iter().enumerate().map(Label::of).collect();
        Labels { store: store.display().to_string(), labels }
    }
}

impl Label {
    fn of((id, label): (usize, &LabelSchema)) -> Self {
        let declaration = declared::labels_text(std::slice::from_ref(label));
        Label { id, name: label.name.clone(), declaration }
    }

    fn line(&self) -> String {
        let Label { id, name, declaration } = self;
        match declaration {
            Some(declaration) => format!("{id} {declaration}\n"),
            None => format!("{id} {name:?}\n"),
        }
    }
}
