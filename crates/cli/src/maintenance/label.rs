//! `hedgerow label`: the labels of a store, from its manifest alone.

use super::args::{LabelAction, LabelArgs};
use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::stored::declared;
use hedgerow::LabelSchema;
use hedgerow::store;
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
            let labels = Labels::of(args.place.path())?;
            console.print(&labels, |labels| labels.labels.iter().map(Label::line).collect())
        }
        LabelAction::Add(args) => {
            args.wait
                .until_open(None, || store::add_labels(&args.store, &args.labels))
                .map_err(StoredError::from)?;
            let labels = Labels::of(&args.store)?;
            let first = labels.labels.len() - args.labels.len();
            console.print(&labels, |labels| {
                labels.labels[first..].iter().map(|label| format!("added {}", label.line())).collect()
            })
        }
    }
}

impl Labels {
    fn of(path: &Path) -> Result<Self, StoredError> {
        let manifest = store::manifest(path)?;
        let labels = manifest.options.catalog.labels().iter().enumerate().map(Label::of).collect();
        Ok(Labels { store: path.display().to_string(), labels })
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
