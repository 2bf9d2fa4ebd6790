//! The description of the store of a graph.

use crate::engine_kind::EngineKind;
use hedgerow_log::CheckpointEntry;
use hedgerow_model::CommitTimestamp;
use hedgerow_pipeline::Journal;
use std::path::PathBuf;

/// The description of the store of a graph, at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct StoreInfo {
    /// The directory.
    pub path: PathBuf,
    /// The unique id of the store.
    pub id: [u8; 16],
    /// The engine that holds the graph now.
    pub engine: EngineKind,
    /// The name of the engine that the store was made with.
    pub made_with: String,
    /// Segments of the log.
    pub segments: usize,
    /// Bytes of the segments' files.
    pub log_bytes: u64,
    /// The newest checkpoint.
    pub checkpoint: Option<CheckpointEntry>,
    /// The oldest commit whose state can still be read from log, checkpoint and the engine's own
    /// files.
    pub oldest_readable: CommitTimestamp,
    /// Every commit up to this survives a loss of power.
    pub durable: CommitTimestamp,
}

impl StoreInfo {
    /// Describes the store of a graph on `engine`, whose own files have the commits up to
    /// `in_files`.
    pub(super) fn of(journal: &Journal, engine: EngineKind, in_files: CommitTimestamp) -> Self {
        let manifest = journal.manifest();
        StoreInfo {
            path: journal.location(),
            id: manifest.store,
            engine,
            segments: manifest.segments.len(),
            log_bytes: manifest.segments.iter().map(|segment| journal.bytes_of(segment)).sum(),
            checkpoint: manifest.checkpoint,
            oldest_readable: manifest.oldest_readable.max(in_files),
            durable: journal.durable(),
            made_with: manifest.options.engine_name().to_owned(),
        }
    }
}
