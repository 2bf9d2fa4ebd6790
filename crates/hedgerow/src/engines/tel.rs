//! Stores on the engine `tel`, in memory or in a file.

use super::graph_engine::{GraphEngine, engine_options};
use crate::error::{Error, NoScratchFile, Reason};
use crate::options::GraphOptions;
use hedgerow_model::Catalog;
use hedgerow_tel::Tel;

/// An empty engine.
pub(super) fn new(options: &GraphOptions, catalog: &Catalog) -> Result<Tel, Error> {
    let engine_options = engine_options(options, catalog);
    Ok(match &options.scratch {
        None => Tel::new(engine_options),
        Some(directory) => {
            let engine = Tel::with_scratch(engine_options, directory, options.scratch_limit);
            engine.map_err(|source| {
                let directory = directory.clone();
                Reason::NoScratchFile(Box::new(NoScratchFile { directory, source }))
            })?
        }
    })
}

impl GraphEngine for Tel {
    fn reserved(&self) -> usize {
        self.reserved_bytes()
    }
}
