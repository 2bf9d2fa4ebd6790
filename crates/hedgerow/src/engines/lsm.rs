//! Stores on the engine `lsm`.

use super::graph_engine::engine_with_snapshots;
use crate::error::{Error, Reason};
use crate::options::{EngineKind, GraphOptions};
use hedgerow_log::files::{EngineFiles, FileSystem};
use hedgerow_log::{EngineFile, EngineState};
use hedgerow_lsm::{LsmEngine, LsmOptions};
use hedgerow_model::{Catalog, FilesCheck, VersionInFile};
use hedgerow_sync::Arc;

/// The engine with the edges in its files; empty if there are no files yet.
pub(super) fn open(
    options: &GraphOptions,
    catalog: &Catalog,
    files: Option<EngineFiles>,
) -> Result<LsmEngine, Error> {
    let files = files.ok_or(Reason::NeedsStore(EngineKind::Lsm.name()))?;
    // By default half of the memory limit, which leaves room for commits.
    let memory_budget = options.memory_budget.or(options.memory_limit.map(|limit| limit / 2));
    let sized = memory_budget.into_iter().fold(engine_options(options, catalog), LsmOptions::within);
    let compaction_limits = options.compaction_limits.unwrap_or_default();
    Ok(LsmEngine::open(Arc::new(files), LsmOptions { compaction_limits, ..sized })?)
}

/// Reads all files of the engine, passes what they hold to `visit`, and reports damage.
pub(super) fn check(
    options: &GraphOptions,
    catalog: &Catalog,
    files: &Arc<dyn FileSystem>,
    visit: &mut dyn FnMut(VersionInFile<'_>),
) -> Result<FilesCheck, Error> {
    Ok(LsmEngine::check(files, &engine_options(options, catalog), visit)?)
}

/// Reads the newest state of the files of the engine.
pub(super) fn state_to_copy(
    options: &GraphOptions,
    catalog: &Catalog,
    files: &Arc<dyn FileSystem>,
) -> Result<EngineState, Error> {
    let files: Arc<dyn FileSystem> = Arc::new(EngineFiles::read_only(Arc::clone(files)));
    Ok(LsmEngine::state_to_copy(&files, &engine_options(options, catalog))?)
}

/// Compares a file of the engine with its checksums.
pub(super) fn check_checksums(files: &Arc<dyn FileSystem>, file: &EngineFile) -> Result<(), Error> {
    Ok(LsmEngine::check_checksums(&**files, file)?)
}

fn engine_options(options: &GraphOptions, catalog: &Catalog) -> LsmOptions {
    LsmOptions::new(options.settings().topology, catalog.clone())
}

engine_with_snapshots!(LsmEngine, Lsm);
