//! `hedgerow label`, from the manifest of a store alone, and `label` of the shell, on an open graph.

use super::args::{LabelAction, LabelArgs, NewLabels};
use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::stored::declared;
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
    /// Its declaration; null if its name cannot be written there.
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

/// Adds labels to an open graph, and prints what was added. Refuses names that it has, as the command
/// does.
pub fn add(graph: &Graph, new: &NewLabels, store: &Path, console: &Console) -> Result<(), CliError> {
    let catalog = graph.catalog().with_labels(&new.labels).map_err(Error::from);
    let catalog = catalog.and_then(|catalog| graph.add_labels(&new.labels).map(|_| catalog));
    added(&catalog.map_err(StoredError::from)?, new, store, console)
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
    console.print(&labels, |labels| {
        labels.labels[first..].iter().map(|label| format!("added {}", label.line())).collect()
    })
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
