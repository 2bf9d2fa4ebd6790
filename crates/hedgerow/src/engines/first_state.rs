//! The first state of a store in an engine's own files.

use super::TypedStore;
use crate::error::{Error, Reason};
use crate::options::{EngineKind, GraphOptions};
use hedgerow_log::checkpoint::{CheckpointError, CheckpointSource, Description, WriteOptions};
use hedgerow_log::files::EngineFiles;
#[cfg(feature = "lsm")]
use hedgerow_lsm::levels::FlushPoint;
use hedgerow_model::{Counts, LabelId};
use hedgerow_pipeline::Error as Cause;

impl TypedStore {
    /// Gives the engine's own files, which are empty, the first state of a store, durably: the edges
    /// of a label from where they start, undirected ones from both ends; and from where they end,
    /// if the topology has a reverse adjacency. All was read when `counts` is called.
    #[cfg_attr(not(feature = "lsm"), allow(unused_variables, reason = "no engine has files of its own"))]
    pub(crate) fn begin_files<S: CheckpointSource>(
        options: &GraphOptions,
        files: EngineFiles,
        label: LabelId,
        edges: (&S, Option<&S>),
        (description, write): (&Description, &WriteOptions<'_>),
        counts: impl FnOnce() -> Counts,
    ) -> Result<(), Error> {
        match options.engine_or_default() {
            #[cfg(feature = "lsm")]
            EngineKind::Lsm => {
                let engine = super::lsm::open(options, &description.catalog, Some(files))?;
                let note = hedgerow_pipeline::note_of(description);
                let reached =
                    || FlushPoint { durable_through: description.timestamp, counts: counts(), note };
                let begun = engine.begin_with(label, edges, description, write, reached);
                begun.map_err(|error| match write.is_cancelled {
                    Some(is_cancelled) if is_cancelled() => Cause::from(CheckpointError::Cancelled).into(),
                    _ => error.into(),
                })
            }
            engine => Err(Reason::NoFirstState(engine.name()).into()),
        }
    }
}
