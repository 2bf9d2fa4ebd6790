//! Stores on the engine `lsm`.

use super::graph_engine::GraphEngine;
use crate::engine_kind::EngineKind;
use crate::error::{Error, Reason};
use crate::options::GraphOptions;
use hedgerow_log::files::EngineFiles;
use hedgerow_lsm::{LsmEngine, LsmOptions};
use hedgerow_model::Catalog;
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

/// The options that do not depend on the memory.
pub(super) fn engine_options(options: &GraphOptions, catalog: &Catalog) -> LsmOptions {
    LsmOptions::new(options.settings().topology, catalog.clone())
}

impl GraphEngine for LsmEngine {}
