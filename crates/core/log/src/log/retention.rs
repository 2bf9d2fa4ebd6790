//! Retention: checkpoints and other reasons to keep the log, pruning, closing.

use super::Log;
use crate::error::{LogError, StoreError};
use crate::planted::{self, PlantedBug};
use crate::segment;
use crate::store::{
    CheckpointEntry, Manifest, SealedSegment, SegmentEntry, StoreFiles, StreamEntry, cut_files,
};
use hedgerow_model::CommitTimestamp;

impl Manifest {
    /// The timestamp from which on the log is needed: the oldest of checkpoint, streams within
    /// their limits, and history. An engine's own files count as a checkpoint of the commit
    /// `in_files`.
    #[must_use]
    pub fn needed_from(&self, in_files: CommitTimestamp) -> CommitTimestamp {
        let checkpoint = self.checkpoint.map_or(in_files, |checkpoint| checkpoint.at.max(in_files));
        let streams = self.streams.iter().filter(|stream| self.is_within_limits(stream));
        let others = streams.map(|stream| stream.position).chain(self.history);
        others.fold(checkpoint, CommitTimestamp::min)
    }

    /// Returns true if the complete segments that a stream has not read are few and young enough.
    fn is_within_limits(&self, stream: &StreamEntry) -> bool {
        let complete = self.segments.iter().filter_map(|entry| entry.sealed);
        let newest = complete.clone().map(|sealed| sealed.wall_clock).max().unwrap_or_default();
        let mut kept = complete.filter(|sealed| stream.position < sealed.last);
        let is_young = |sealed: &SealedSegment| newest - sealed.wall_clock <= stream.most_age;
        kept.clone().all(|sealed| is_young(&sealed))
            && kept
                .try_fold(0_u64, |bytes, sealed| bytes.checked_add(sealed.end))
                .is_some_and(|bytes| bytes <= stream.most_bytes)
    }
}

impl Log {
    /// Installs a checkpoint, whose file is already durable: the next opening loads it. Returns the
    /// previous checkpoint, whose file is no longer needed.
    ///
    /// # Errors
    /// The manifest could not be replaced. Poisons the log if the new manifest may be in place.
    pub fn install_checkpoint(
        &self,
        checkpoint: CheckpointEntry,
    ) -> Result<Option<CheckpointEntry>, StoreError> {
        // The log must not end before a checkpoint.
        self.wait_durable(checkpoint.at)?;
        let mut before = None;
        self.change_manifest(|manifest| before = manifest.checkpoint.replace(checkpoint))?;
        Ok(before)
    }

    /// Records the position up to which a durable stream has been read, and the state of its
    /// reader, in one atomic step. The log is kept from that position on, within the limits of the
    /// stream.
    ///
    /// # Errors
    /// The manifest could not be replaced. Poisons the log if the new manifest may be in place.
    pub fn set_stream(&self, stream: StreamEntry) -> Result<(), StoreError> {
        // After a loss of power the log has everything that the stream has read.
        self.wait_durable(stream.position)?;
        self.change_manifest(|manifest| {
            manifest.streams.retain(|other| other.name != stream.name);
            let place = manifest.streams.partition_point(|other| other.name < stream.name);
            manifest.streams.insert(place, stream);
        })
    }

    /// Removes a durable stream.
    ///
    /// # Errors
    /// As [`Log::set_stream`].
    pub fn remove_stream(&self, name: &str) -> Result<(), StoreError> {
        self.change_manifest(|manifest| manifest.streams.retain(|stream| stream.name != name))
    }

    /// Sets the timestamp back to which states must be readable. The log is kept from it on.
    ///
    /// # Errors
    /// The manifest could not be replaced. Poisons the log if the new manifest may be in place.
    pub fn set_history(&self, horizon: Option<CommitTimestamp>) -> Result<(), StoreError> {
        self.change_manifest(|manifest| manifest.history = horizon)
    }

    /// Removes the segments that are no longer needed: all of their commits are in the checkpoint
    /// or in the engine's files, which are durable up to `in_files`, read by every stream, and
    /// older than the history to keep. Returns their number. Calls must not run concurrently.
    ///
    /// # Errors
    /// The file system's error. Poisons the log if it is unknown which manifest is in place.
    pub fn prune(&self, in_files: CommitTimestamp) -> Result<usize, StoreError> {
        let pruned = {
            let manifest = self.manifest.lock();
            let needed = match planted::is(PlantedBug::PruneTooMuch) {
                true => self.durable(),
                false => manifest.needed_from(in_files),
            };
            let is_old = |entry: &SegmentEntry| entry.sealed.is_some_and(|sealed| sealed.last <= needed);
            manifest.segments.iter().copied().take_while(is_old).collect::<Vec<_>>()
        };
        let Some(last) = pruned.last().and_then(|entry| entry.sealed) else { return Ok(0) };
        if planted::is(PlantedBug::RemoveBeforeManifest) {
            pruned.iter().try_for_each(|entry| self.files.remove(&segment::name_of(entry.number)))?;
        }
        self.change_manifest(|manifest| {
            manifest.oldest_readable = last.last;
            manifest.oldest_wall_clock = last.wall_clock;
            manifest.segments.drain(..pruned.len());
        })?;
        self.remove_unlisted()?;
        Ok(pruned.len())
    }

    /// Makes everything durable, stops taking commits, cuts the segments after their last records,
    /// and releases the store. The next opening finds it complete.
    ///
    /// The log maintainer must not run concurrently or later. Closing again does nothing.
    ///
    /// # Errors
    /// The file system's error, or the log is poisoned.
    pub fn close(&self) -> Result<(), StoreError> {
        if self.lock.lock().is_none() {
            return Ok(());
        }
        self.flush()?;
        let current = {
            let mut tail = self.tail.lock();
            tail.refusal.get_or_insert(LogError::Closed);
            self.grown.notify_all();
            tail.current()
        };
        // A commit may have been appended in between.
        self.flush()?;
        self.group.close();
        if let (number, Some(sealed)) = current {
            self.seal(number, sealed);
        }
        self.change_manifest(|manifest| manifest.segments.retain(|entry| entry.sealed.is_some()))?;
        self.remove_unlisted()?;
        // No thread is replacing the manifest, and none will.
        let manifest = self.manifest.lock();
        cut_files(&*self.files, &manifest)?;
        *self.lock.lock() = None;
        Ok(())
    }

    /// Removes the files of segments that the manifest does not list.
    pub(super) fn remove_unlisted(&self) -> Result<(), StoreError> {
        self.check_lock()?;
        let manifest = self.manifest.lock();
        for number in StoreFiles::unlisted(&*self.files, &manifest)? {
            // The next segment may be under construction.
            if number < manifest.next_segment {
                match self.files.remove(&segment::name_of(number)) {
                    Err(error) if !error.is_not_found() => return Err(error.into()),
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

impl Drop for Log {
    /// Closes the log, although no buffered commit was acknowledged as durable.
    fn drop(&mut self) {
        // An error cannot be reported here.
        let _ = self.close();
    }
}
