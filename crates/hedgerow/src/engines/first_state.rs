//! The first state of a store in an engine's own files.

use super::TypedStore;
use crate::error::{Error, Reason};
#[cfg(feature = "lsm")]
use crate::options::EngineKind;
use crate::options::GraphOptions;
use hedgerow_log::checkpoint::{CheckpointSource, Description, WriteOptions};
#[cfg(feature = "lsm")]
use hedgerow_log::files::EngineFiles;
use hedgerow_log::files::FileSystem;
#[cfg(feature = "lsm")]
use hedgerow_lsm::levels::FlushPoint;
use hedgerow_model::{Counts, LabelId};
use hedgerow_sync::Arc;

impl TypedStore {
    /// Gives the engine's own files among these, of which there are none yet, the first state of a
    /// store, durably: the edges of a label from where they start, undirected ones from both ends;
    /// and from where they end, if the topology has a reverse adjacency. All was read when `counts`
    /// is called.
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
                let engine = super::lsm::open(options, &description.catalog, Some(files))?;
                let note = hedgerow_pipeline::note_of(description);
                let reached =
                    || FlushPoint { durable_through: description.timestamp, counts: counts(), note };
                Ok(engine.begin_with((label, outgoing, incoming), description, write, reached)?)
            }
            engine => Err(Reason::NoFirstState(engine.name()).into()),
        }
    }
}
