//! The files of engines that keep the graph in files of their own.

use super::TypedStore;
#[cfg(feature = "lsm")]
use super::lsm;
use crate::engine_kind::EngineKind;
use crate::error::{Error, Reason};
use crate::options::GraphOptions;
#[cfg(feature = "kernels")]
use hedgerow_log::checkpoint::{CheckpointSource, Description, WriteOptions};
#[cfg(feature = "lsm")]
use hedgerow_log::files::EngineFiles;
use hedgerow_log::files::FileSystem;
use hedgerow_log::{EngineFile, EngineState};
#[cfg(feature = "lsm")]
use hedgerow_lsm::LsmEngine;
#[cfg(feature = "lsm")]
use hedgerow_model::Catalog;
#[cfg(feature = "kernels")]
use hedgerow_model::{Counts, LabelId};
use hedgerow_model::{FilesCheck, VersionInFile};
use hedgerow_sync::Arc;

impl TypedStore {
    /// Reads all files of the engine, passes what they hold to `visit`, and reports damage; `None`
    /// if the engine has no files of its own, or cannot check them.
    pub(crate) fn check_files(
        options: &GraphOptions,
        _files: &Arc<dyn FileSystem>,
        _visit: &mut dyn FnMut(VersionInFile<'_>),
    ) -> Result<Option<FilesCheck>, Error> {
        match options.engine_or_default() {
            #[cfg(feature = "lsm")]
            EngineKind::Lsm => Ok(Some(LsmEngine::check(_files, &lsm_options(options)?, _visit)?)),
            #[cfg(not(feature = "lsm"))]
            EngineKind::Lsm => Err(Reason::NotCompiled(EngineKind::Lsm.name()).into()),
            _ => Ok(None),
        }
    }

    /// Reads the newest state of the engine's own files, for a backup.
    pub(crate) fn state_to_copy(
        options: &GraphOptions,
        _files: &Arc<dyn FileSystem>,
    ) -> Result<EngineState, Error> {
        match options.engine_or_default() {
            #[cfg(feature = "lsm")]
            EngineKind::Lsm => {
                let files: Arc<dyn FileSystem> = Arc::new(EngineFiles::read_only(Arc::clone(_files)));
                Ok(LsmEngine::state_to_copy(&files, &lsm_options(options)?)?)
            }
            engine => Err(Reason::NoBackup(engine.name()).into()),
        }
    }

    /// Compares one of the engine's own files with its checksums, for a backup.
    pub(crate) fn check_checksums(
        engine: EngineKind,
        _files: &Arc<dyn FileSystem>,
        _file: &EngineFile,
    ) -> Result<(), Error> {
        match engine {
            #[cfg(feature = "lsm")]
            EngineKind::Lsm => Ok(LsmEngine::check_checksums(&**_files, _file)?),
            engine => Err(Reason::NoBackup(engine.name()).into()),
        }
    }

    /// Gives the engine's own files among these, of which there are none yet, the first state of a
    /// store, durably: the edges of a label from where they start, undirected ones from both ends;
    /// and from where they end, if the topology has a reverse adjacency. All was read when `counts`
    /// is called.
    #[cfg(feature = "kernels")]
    #[cfg_attr(not(feature = "lsm"), allow(unused_variables, reason = "no engine has files of its own"))]
    pub(crate) fn begin_files<S: CheckpointSource>(
        options: &GraphOptions,
        files: &Arc<dyn FileSystem>,
        (label, outgoing, incoming): (LabelId, &S, Option<&S>),
        (description, write): (&Description, &WriteOptions<'_>),
        counts: impl FnOnce() -> Counts,
    ) -> Result<(), Error> {
        match options.engine_or_default() {
            #[cfg(feature = "lsm")]
            EngineKind::Lsm => {
                let files = EngineFiles::new(Arc::clone(files));
                let engine = lsm::open(options, &description.catalog, Some(files))?;
                let note = hedgerow_pipeline::note_of(description);
                let durable_through = description.timestamp;
                let reached = || hedgerow_lsm::levels::FlushPoint { durable_through, counts: counts(), note };
                Ok(engine.begin_with((label, outgoing, incoming), description, write, reached)?)
            }
            engine => Err(Reason::NoFirstState(engine.name()).into()),
        }
    }
}

/// The options of the engine for the catalog that the options of the graph declare.
#[cfg(feature = "lsm")]
fn lsm_options(options: &GraphOptions) -> Result<hedgerow_lsm::LsmOptions, Error> {
    let catalog = Catalog::new(options.labels.clone(), options.vertices.clone().unwrap_or_default())?;
    Ok(lsm::engine_options(options, &catalog))
}
