//! Follows the log of a store that another process may write to.

use super::{Manifest, SealedSegment, SegmentEntry, StoreFiles};
use crate::body::{LoggedCommit, LoggedEdges};
use crate::checkpoint::CheckpointEntry;
use crate::error::StoreError;
use crate::files::{FileSystem, OpenMode};
use crate::segment::{SegmentBytes, SegmentPlace, SegmentScan};
use hedgerow_model::CommitTimestamp;
use hedgerow_sync::Arc;
use std::collections::BTreeMap;

/// Follows the log of a store: each [look](Follower::look) reads only the commits since the one
/// before. Changes nothing, and blocks no writer.
#[derive(Debug)]
pub struct Follower {
    files: Arc<dyn FileSystem>,
    /// The end of each segment, as far as it was read.
    ends: BTreeMap<u64, SegmentPlace>,
    newest: Option<CommitTimestamp>,
}

/// The state of a store's log at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LogStatus {
    /// The last whole commit in the log. May be one that a loss of power removes.
    pub newest: CommitTimestamp,
    /// The wall-clock time of that commit, in microseconds since 1970-01-01 UTC; 0 if there is
    /// none.
    pub wall_clock: u64,
    /// Every commit up to this one is known to survive a loss of power.
    pub durable: CommitTimestamp,
    /// Number of commits since the previous look; 0 in the first one.
    pub commits: u64,
    /// Number of edges that these commits put or deleted, changed or not.
    pub edges: u64,
    /// Number of bytes in the segments that have commits after the checkpoint, up to their last
    /// commits.
    pub bytes: u64,
    /// The newest checkpoint.
    pub checkpoint: Option<CheckpointEntry>,
}

impl Follower {
    /// Follows the store in a directory. Reads nothing yet.
    #[must_use]
    pub fn new(files: Arc<dyn FileSystem>) -> Self {
        Follower { files, ends: BTreeMap::new(), newest: None }
    }

    /// Reads the commits since the previous look. The first look reads the segments that are not
    /// complete, usually the last one.
    ///
    /// # Errors
    /// [`StoreError::NoStore`], and errors in the manifest; the file system's error. Damage in the
    /// log is not an error: it is taken for the end of a segment.
    pub fn look(&mut self) -> Result<LogStatus, StoreError> {
        let store = StoreFiles::open_read_only(Arc::clone(&self.files))?;
        // Before the log is read, because a process that writes to it advances the mark.
        let (durable, manifest) = (store.durable()?, store.manifest);
        let Manifest { oldest_readable: newest, oldest_wall_clock: wall_clock, checkpoint, .. } = manifest;
        let mut status = LogStatus { newest, wall_clock, durable, checkpoint, ..LogStatus::default() };
        let stored = checkpoint.map_or(CommitTimestamp::ZERO, |checkpoint| checkpoint.at);
        for entry in &manifest.segments {
            self.read(&manifest, entry, &mut status)?;
            if status.newest <= stored {
                status.bytes = 0;
            }
        }
        self.ends.retain(|number, _| manifest.segments.iter().any(|entry| entry.number == *number));
        let before = self.newest.replace(status.newest).unwrap_or(status.newest);
        status.commits = status.newest.0.saturating_sub(before.0);
        Ok(status)
    }

    /// Reads the new commits of a segment, and adds them to `status`.
    fn read(
        &mut self,
        manifest: &Manifest,
        entry: &SegmentEntry,
        status: &mut LogStatus,
    ) -> Result<(), StoreError> {
        let place = self.ends.get(&entry.number).copied();
        let is_known = |sealed: SealedSegment| {
            self.newest.is_none_or(|newest| sealed.last <= newest)
                || place.is_some_and(|place| place.position >= sealed.end)
        };
        if let Some(sealed) = entry.sealed.filter(|sealed| is_known(*sealed)) {
            (status.newest, status.wall_clock) = (sealed.last, sealed.wall_clock);
            status.bytes += sealed.end;
            return Ok(());
        }
        let file = match self.files.open(&entry.file_name(), OpenMode::Read) {
            Ok(file) => file,
            // A writer has removed the segment since: a newer manifest has its commits.
            Err(error) if error.is_not_found() => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let bytes = SegmentBytes::new(&*file, file.length()?);
        let scan = match place {
            Some(place) => Ok(SegmentScan::resume(bytes, manifest.store, entry, place)),
            None => SegmentScan::new(bytes, manifest.store, entry, Some(status.newest.next()))?,
        };
        // Nothing was written to the segment yet.
        let Ok(mut scan) = scan else { return Ok(()) };
        while let Some((_, record)) = scan.next_record()? {
            if self.newest.is_some_and(|newest| record.at > newest) {
                status.edges += edges_of(record.body, manifest);
            }
        }
        let place = scan.place();
        self.ends.insert(entry.number, place);
        status.newest = CommitTimestamp(place.next.0 - 1);
        status.wall_clock = place.wall_clock;
        status.bytes += place.position;
        Ok(())
    }
}

/// The number of edges that a commit puts or deletes; 0 if its body cannot be read.
fn edges_of(body: &[u8], manifest: &Manifest) -> u64 {
    let Ok(commit) = LoggedCommit::decode_canonical(body, manifest.options.topology) else { return 0 };
    let appended = commit.appended.as_ref().map_or(0, LoggedEdges::len);
    let edges = commit.effects.adjacencies.iter().map(|adjacency| adjacency.changes.len()).sum::<usize>();
    (appended + edges) as u64
}
