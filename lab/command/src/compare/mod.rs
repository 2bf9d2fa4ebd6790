//! Compares Hedgerow with other embeddable stores: the same work, side by side in one run.
//!
//! | file | what it does |
//! |---|---|
//! | `args`, `options` | the arguments, and options that all comparisons have |
//! | `stores/` | one file per store, behind one trait, each with its setup |
//! | `kinds` | finds a store by its name |
//! | `graph` | the edges that all stores get |
//! | `measure` | the work, in turns over the stores |
//! | `calls/` | single calls, with a file per store |
//! | `link_bench/` | LinkBench's requests, with a file per store |
//! | `out_of_core/` | graphs larger than memory, each store in a process of its own |
//! | `seek_scan/` | finding the first neighbor, and each further one, in several structures |
//! | `disk` | the speed of the disk alone |
//! | `figures` | medians and ratios, as a table and as JSON |
//!
//! `docs/bench.md` describes the measurements and their fairness.

mod args;
mod calls;
mod disk;
pub mod figures;
mod graph;
mod kinds;
mod link_bench;
mod measure;
mod options;
mod out_of_core;
mod seek_scan;
mod stores;

pub use args::Arguments;

use anyhow::{Context, Result, ensure};
use args::OtherWork;
use figures::Report;
use graph::Graph;
use measure::Plan;
use options::folder_in;
use std::time::Duration;

/// Runs a comparison.
pub fn run(arguments: Arguments) -> Result<()> {
    match arguments.other {
        Some(OtherWork::Calls(arguments)) => return calls::run(arguments),
        Some(OtherWork::LinkBench(arguments)) => return link_bench::run(arguments),
        Some(OtherWork::OutOfCore(arguments)) => return out_of_core::run(arguments),
        Some(OtherWork::OutOfCoreStore(arguments)) => return out_of_core::run_store(&arguments),
        Some(OtherWork::SeekScan(arguments)) => return seek_scan::run(arguments),
        None => {}
    }
    let kinds = match arguments.stores.is_empty() {
        true => stores::KINDS.iter().collect(),
        false => arguments.stores,
    };
    ensure!(kinds.iter().any(|kind| kind.name == stores::REFERENCE), "hedgerow is missing among the stores");
    let directory = arguments.store.unwrap_or_else(std::env::temp_dir);
    let folder = folder_in(&directory)?;
    let graph = Graph::kronecker(arguments.scale, arguments.seed)?;
    let plan = Plan {
        graph: &graph,
        kinds: &kinds,
        folder: folder.path(),
        repetitions: arguments.repetitions,
        time: Duration::from_secs_f64(arguments.seconds),
    };
    let report = Report::new(&plan, &directory, measure::run(&plan)?);
    print!("{}", report.to_table());
    if let Some(path) = &arguments.json {
        std::fs::write(path, report.to_json()?).with_context(|| path.display().to_string())?;
    }
    folder.close().with_context(|| format!("the stores in {} could not be removed", directory.display()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use clap::Parser;
    use std::path::Path;

    /// The commands in a document that run this program by `cargo xtask`, with their arguments.
    fn commands_in(text: &str) -> Vec<Vec<String>> {
        let commands = text.lines().filter_map(|line| line.trim().strip_prefix("cargo xtask compare"));
        let commands = commands.filter_map(|line| line.split_once("-- "));
        commands.map(|(_, words)| words.split(' ').map(str::to_owned).collect()).collect()
    }

    #[test]
    fn every_comparison_in_the_documents_is_one() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let notes = std::fs::read_dir(docs.join("notes")).unwrap().map(|note| note.unwrap().path());
        let (mut checked, mut documents) = (0, vec![docs.join("bench.md"), docs.join("performance.md")]);
        documents.extend(notes);
        for document in documents {
            for words in commands_in(&std::fs::read_to_string(&document).unwrap()) {
                // A store that was not built cannot be named.
                if cfg!(feature = "rocksdb") || !words.iter().any(|word| word.contains("rocksdb")) {
                    let program = ["hedgerow-lab", "compare"].map(str::to_owned);
                    let parsed = crate::Lab::try_parse_from(program.iter().chain(&words));
                    let complaint = parsed.err().map(|error| error.to_string());
                    assert_eq!(complaint, None, "{}: {}", document.display(), words.join(" "));
                    checked += 1;
                }
            }
        }
        assert!(checked >= 6, "only {checked} commands were found");
    }
}
