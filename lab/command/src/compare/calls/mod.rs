//! Single calls, as a program makes them: a loop by one thread over the public operations of each
//! store, by key.
//!
//! | file | what it does |
//! |---|---|
//! | `work` | the graph, the calls and their correct answers |
//! | `stores/` | a file per store, which answers single calls |
//! | `measure` | the loops, compiled for each store, and their times |
//! | `report` | medians, as a table and as JSON |

mod measure;
mod report;
mod stores;
mod work;

use crate::compare::graph::Graph;
use anyhow::{Context, Result};
use clap::ValueEnum;
use measure::{Calls, Operation};
use report::{Cell, Figures, Report};
use std::path::{Path, PathBuf};
use std::time::Duration;
use stores::Kind;
use tempfile::TempDir;
use work::{Keys, Work};

/// Single calls by key: look-ups, neighbors, data of edges, puts and deletions
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The graph has 2^SCALE vertices (6 to 22) and about 30 times as many edges
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(6..=22))]
    scale: u32,
    /// The seed of the graph and the calls
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The stores, separated by commas [default: all that were built]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = Kind::named)]
    stores: Vec<&'static Kind>,
    /// The keys of vertices
    #[arg(long, value_name = "KINDS", value_delimiter = ',', value_enum, default_values_t = [Keys::Numbers, Keys::Dense])]
    keys: Vec<Keys>,
    /// The calls, separated by commas [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_enum)]
    calls: Vec<Operation>,
    /// The directory for the stores that need files [default: for temporary files]
    #[arg(long, value_name = "DIRECTORY")]
    store: Option<PathBuf>,
    /// Repetitions of each measurement
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repetitions: u32,
    /// The time for which each call is repeated
    #[arg(long, default_value_t = 0.25, value_name = "S", value_parser = crate::compare::seconds)]
    seconds: f64,
    /// Write the figures to this file, too
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Measures and prints.
pub fn run(mut arguments: Arguments) -> Result<()> {
    if arguments.stores.is_empty() {
        arguments.stores = stores::KINDS.iter().collect();
    }
    if arguments.calls.is_empty() {
        arguments.calls = Operation::value_variants().to_vec();
    }
    let directory = arguments.store.clone().unwrap_or_else(std::env::temp_dir);
    let folder = crate::compare::folder_in(&directory)?;
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
