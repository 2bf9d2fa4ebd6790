//! The files of a store and their sizes.

use crate::error::CliError;
use hedgerow::store::{Manifest, SegmentEntry};
use hedgerow_formats::FormatError;
use serde::Serialize;
use std::fs;
use std::path::Path;

/// The sizes of a store's files.
#[derive(Debug)]
pub struct Files {
    pub log: LogFiles,
    /// The size of all files of the directory.
    pub disk_bytes: u64,
}

/// The segments of the log.
#[derive(Debug, Serialize)]
pub struct LogFiles {
    pub segments: Vec<Segment>,
    pub bytes: u64,
}

/// A segment of the log.
#[derive(Debug, Serialize)]
pub struct Segment {
    file: String,
    bytes: u64,
    /// The first and the last commit, once the segment is sealed.
    first: Option<u64>,
    last: Option<u64>,
}

impl Files {
    /// The files of the store in the directory `path`. Files that have disappeared meanwhile have
    /// no size.
    pub fn of(path: &Path, manifest: &Manifest) -> Result<Self, CliError> {
        let segments: Vec<_> = manifest.segments.iter().map(|entry| Segment::of(path, entry)).collect();
        let bytes = segments.iter().map(|segment| segment.bytes).sum();
        let log = LogFiles { segments, bytes };
        let disk_bytes = FileSizes::of(path)?.all_bytes;
        Ok(Files { log, disk_bytes })
    }
}

impl Segment {
    fn of(path: &Path, entry: &SegmentEntry) -> Self {
        let file = entry.file_name();
        let bytes = fs::metadata(path.join(&file)).map_or(0, |metadata| metadata.len());
        let (first, last) =
            (entry.sealed.map(|sealed| sealed.first.0), entry.sealed.map(|sealed| sealed.last.0));
        Segment { file, bytes, first, last }
    }
}

/// The sizes of the files in the directory of a store, by kind.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct FileSizes {
    pub log_bytes: u64,
    pub checkpoint_bytes: u64,
    /// The files of an engine that keeps edges in its own files.
    pub engine_bytes: u64,
    /// All files.
    #[serde(skip)]
    pub all_bytes: u64,
}

impl FileSizes {
    /// The sizes in the directory `path`. Files that have disappeared meanwhile have no size.
    pub fn of(path: &Path) -> Result<Self, CliError> {
        let mut sizes = FileSizes::default();
        let unlisted =
            |source| CliError::Input(FormatError::Io { path: path.into(), action: "list", source });
        for entry in fs::read_dir(path).map_err(unlisted)? {
            let entry = entry.map_err(unlisted)?;
            let (name, bytes) = (entry.file_name(), entry.metadata().map_or(0, |metadata| metadata.len()));
            sizes.all_bytes += bytes;
            match name.to_str().and_then(|name| name.split_once('-')) {
                Some(("log", _)) => sizes.log_bytes += bytes,
                Some(("checkpoint", _)) => sizes.checkpoint_bytes += bytes,
                Some(("engine", _)) => sizes.engine_bytes += bytes,
                _ => {}
            }
        }
        Ok(sizes)
    }
}
