//! Whether a store can be opened, and how a damaged one is made so: both by reading what opening it would read, into a graph that is thrown
//! away.

use crate::error::Error;
use crate::options::{EngineKind, GraphOptions};
use crate::stores::{Stores, with_store};
use hedgerow_log::files::FileSystem;
use hedgerow_log::{CheckReport, Repair, StoreError};
use hedgerow_pipeline::{Batches, damage, manifest_path};
use hedgerow_sync::Arc;
use std::time::Instant;

/// How often a store that is written to meanwhile is looked at, at most.
const LOOKS: usize = 16;

/// See [`check`](crate::store::check).
pub(crate) fn check(files: &Arc<dyn FileSystem>) -> Result<CheckReport, Error> {
    let mut problem: Option<StoreError> = None;
    for _ in 0..LOOKS {
        let mut report = hedgerow_log::check(files)?;
        if !report.problems.is_empty() {
            return Ok(report);
        }
        // What is wrong beside a process that writes may be right a moment later.
        let before = problem.take().map(|problem| format!("{problem:?}"));
        problem = match read(files) {
            Ok(()) => return Ok(report),
            Err(error) => Some(damage_of(error)?),
        };
        if problem.as_ref().map(|problem| format!("{problem:?}")) == before {
            report.problems.extend(problem);
            return Ok(report);
        }
    }
    problem.map_or_else(|| Ok(hedgerow_log::check(files)?), |problem| Err(problem.into()))
}

/// What is wrong with the files; other errors are handed on.
fn damage_of(error: Error) -> Result<StoreError, Error> {
    Ok(damage(error.into_pipeline()?)?)
}

/// Reads everything into a graph, as opening the store does.
fn read(files: &Arc<dyn FileSystem>) -> Result<(), Error> {
    let store = hedgerow_log::StoreFiles::open_read_only(Arc::clone(files))?;
    let options = options_of(&store)?;
    let (batches, stores) = (Batches::of(&options.settings()), Stores::new(options, None)?);
    let (checkpoint, begin) = (store.open_checkpoint()?, Instant::now());
    with_store!(&stores, graph => graph.restore(&store, checkpoint.as_ref(), begin, batches, None))?;
    Ok(())
}

/// See [`recover_to_last_valid`](crate::store::recover_to_last_valid).
pub(crate) fn recover(files: Arc<dyn FileSystem>) -> Result<Repair, Error> {
    let mut store = hedgerow_log::StoreFiles::open(files)?;
    let options = options_of(&store)?;
    let batches = Batches::of(&options.settings());
    let mut stores = Stores::new(options, None)?;
    let loaded = with_store!(&stores, graph => graph.load_checkpoint_of(&store, batches));
    let damaged = match loaded {
        Ok(()) => None,
        Err(error) => {
            stores = Stores::new(options_of(&store)?, None)?;
            Some(damage(error)?)
        }
    };
    Ok(with_store!(&stores, graph => graph.repair(&mut store, damaged, batches))?)
}

/// The options of the store's graph, on an engine that is always there: any engine reads what another has written.
fn options_of(store: &hedgerow_log::StoreFiles) -> Result<GraphOptions, Error> {
    let path = manifest_path(&**store.files());
    let options = GraphOptions::new().for_store(&store.manifest().options, &path)?;
    Ok(options.engine(EngineKind::default()))
}
