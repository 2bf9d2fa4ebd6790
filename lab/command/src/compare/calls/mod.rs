//! Single calls, as a program makes them: a loop by one thread over the public operations of each
//! store, by key.
//!
//! | file | what it does |
//! |---|---|
//! | `args` | the arguments |
//! | `work` | the graph, the calls and their correct answers |
//! | `stores/` | a file per store, which answers single calls |
//! | `measure` | the loops, compiled for each store, and their times |
//! | `report` | medians, as a table and as JSON |

mod args;
mod measure;
mod report;
mod stores;
mod work;

pub use args::Arguments;

use crate::compare::graph::Graph;
use crate::compare::options::folder_in;
use anyhow::{Context, Result};
use clap::ValueEnum;
use measure::{Calls, Operation};
use report::{Cell, Figures, Report};
use std::path::Path;
use std::time::Duration;
use stores::Kind;
use tempfile::TempDir;
use work::Work;

/// Measures and prints.
pub fn run(mut arguments: Arguments) -> Result<()> {
    if arguments.stores.is_empty() {
        arguments.stores = stores::KINDS.iter().collect();
    }
    if arguments.calls.is_empty() {
        arguments.calls = Operation::value_variants().to_vec();
    }
    let directory = arguments.store.clone().unwrap_or_else(std::env::temp_dir);
    let folder = folder_in(&directory)?;
    let report = Report::new(&arguments, measure(&arguments, folder.path())?);
    print!("{}", report.to_table());
    if let Some(path) = &arguments.json {
        std::fs::write(path, report.to_json()?).with_context(|| path.display().to_string())?;
    }
    folder.close().with_context(|| format!("the stores in {} could not be removed", directory.display()))
}

/// A store in its own folder, which is removed after the store.
struct Made {
    kind: &'static Kind,
    store: Box<dyn Calls>,
    _folder: TempDir,
}

fn measure(arguments: &Arguments, folder: &Path) -> Result<Figures> {
    let graph = Graph::kronecker(arguments.scale, arguments.seed)?;
    let mut figures = Figures::new(&graph);
    for keys in &arguments.keys {
        let work = Work::new(&graph, *keys, arguments.seed);
        let make = |kind: &&'static Kind| {
            eprintln!("{keys:?}: filling {}", kind.name);
            let folder = tempfile::tempdir_in(folder)?;
            let store = (kind.make)(folder.path(), &work).context(kind.name)?;
            Ok(Made { kind, store, _folder: folder })
        };
        let mut stores = arguments.stores.iter().map(make).collect::<Result<Vec<_>>>()?;
        in_turns(arguments, &work, &mut stores, &mut figures)?;
    }
    Ok(figures)
}

fn in_turns(arguments: &Arguments, work: &Work, stores: &mut [Made], figures: &mut Figures) -> Result<()> {
    let time = Duration::from_secs_f64(arguments.seconds);
    for repetition in 1..=arguments.repetitions {
        for operation in arguments.calls.iter().copied() {
            eprintln!("{:?}: repetition {repetition}, {}", work.keys, operation.name());
            for Made { kind, store, .. } in &mut *stores {
                let from = repetition as usize * 7;
                let taken = store.measure(operation, work, from, time).context(kind.name)?;
                figures.push(Cell { keys: work.keys, operation, store: kind.name }, taken);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
