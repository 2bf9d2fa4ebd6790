//! Stores on engines of other crates.

use super::Reserves;
use crate::error::{Error, Reason};
use crate::options::GraphOptions;
use hedgerow_erased::{CustomEngine, EngineOptions, ErasedEngine, Make};
use hedgerow_log::files::{EngineFiles, FileSystem};
use hedgerow_model::{Catalog, CompactionLimits, Engine, FilesCheck};
use hedgerow_sync::Arc;

/// An empty engine, or one with what it has in its files.
pub(super) fn new(
    custom: &CustomEngine,
    options: &GraphOptions,
    catalog: &Catalog,
    files: Option<EngineFiles>,
) -> Result<ErasedEngine, Error> {
    let engine_options = EngineOptions {
        topology: options.settings().topology,
        catalog: catalog.clone(),
        // What an engine keeps of its files must leave room for commits.
        memory_budget: options.memory_budget.or(options.memory_limit.map(|limit| limit / 2)),
        compaction_limits: options.compaction_limits.unwrap_or_default(),
    };
    Ok(match (custom.make, files) {
        (Make::InMemory(make), _) => make(engine_options),
        (Make::InFiles(open) | Make::InCheckedFiles { open, .. }, Some(files)) => {
            open(Arc::new(files), engine_options)?
        }
        (Make::InFiles(_) | Make::InCheckedFiles { .. }, None) => {
            return Err(Reason::NeedsStore(custom.name).into());
        }
    })
}

/// Checks all files of an engine that can do that; `None` for others.
pub(super) fn check(
    custom: &CustomEngine,
    options: &GraphOptions,
    catalog: &Catalog,
    files: &Arc<dyn FileSystem>,
) -> Result<Option<FilesCheck>, Error> {
    let Make::InCheckedFiles { check, .. } = custom.make else { return Ok(None) };
    let (topology, catalog) = (options.settings().topology, catalog.clone());
    let compaction_limits = CompactionLimits::default();
    Ok(Some(check(files, EngineOptions { topology, catalog, memory_budget: None, compaction_limits })?))
}

impl Reserves for ErasedEngine {
    fn reserved(&self) -> usize {
        self.memory().reserved_bytes
    }
}
