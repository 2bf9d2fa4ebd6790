//! Stores on engines behind virtual calls.

use super::graph_engine::{GraphEngine, engine_options};
use crate::error::{Error, Reason};
use crate::options::GraphOptions;
use hedgerow_erased::{ErasedEngine, Make, NamedEngine};
use hedgerow_log::files::EngineFiles;
use hedgerow_model::Catalog;
use hedgerow_sync::Arc;

/// Makes the engine, empty or with the edges in its files.
pub(super) fn new(
    engine: &NamedEngine,
    options: &GraphOptions,
    catalog: &Catalog,
    files: Option<EngineFiles>,
) -> Result<ErasedEngine, Error> {
    let engine_options = engine_options(options, catalog);
    Ok(match (engine.make, files) {
        (Make::InMemory(make), _) => make(engine_options),
        (Make::InFiles(open), Some(files)) => open(Arc::new(files), engine_options)?,
        (Make::InFiles(_), None) => return Err(Reason::NeedsStore(engine.name).into()),
    })
}

impl GraphEngine for ErasedEngine {}
