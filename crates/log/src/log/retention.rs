//! What is kept: checkpoints and other reasons, pruning, closing.

use super::Log;
use crate::error::{LogError, StoreError};
use crate::planted::{self, PlantedBug};
use crate::segment;
use crate::store::{CheckpointEntry, Manifest, SegmentEntry, Store, StreamEntry};
use hedgerow_model::Timestamp;

impl Manifest {
    /// The log is needed from this timestamp on: the oldest of checkpoint, streams and history.
    #[must_use]
    pub fn needed_from(&self) -> Timestamp {
        let checkpoint = self.checkpoint.map_or(Timestamp::ZERO, |checkpoint| checkpoint.at);
        let others = self.streams.iter().map(|stream| stream.position).chain(self.history);
        others.fold(checkpoint, Timestamp::min)
    }
}

impl Log {
    /// Makes a checkpoint, whose file is durable already, the one that the next opening starts from. Gives the one before, whose
    /// file is not needed any more.
    ///
    /// # Errors
    /// The manifest could not be replaced, which poisons the log.
    pub fn install_checkpoint(
        &self,
        checkpoint: CheckpointEntry,
    ) -> Result<Option<CheckpointEntry>, StoreError> {
        // The log never ends before a checkpoint.
        self.wait_durable(checkpoint.at)?;
        let mut before = None;
        self.change_manifest(|manifest| before = manifest.checkpoint.replace(checkpoint))?;
        Ok(before)
    }

    /// Notes how far a durable stream has been read, or forgets the stream. The log is kept from there on.
    ///
    /// # Errors
    /// The manifest could not be replaced, which poisons the log.
    pub fn set_stream(&self, name: &str, position: Option<Timestamp>) -> Result<(), StoreError> {
        self.change_manifest(|manifest| {
            manifest.streams.retain(|stream| stream.name != name);
            manifest.streams.extend(position.map(|position| StreamEntry { name: name.to_owned(), position }));
            manifest.streams.sort_by(|one, other| one.name.cmp(&other.name));
        })
    }

    /// Notes how far back states are to be readable. The log is kept from there on.
    ///
    /// # Errors
    /// The manifest could not be replaced, which poisons the log.
    pub fn set_history(&self, horizon: Option<Timestamp>) -> Result<(), StoreError> {
        self.change_manifest(|manifest| manifest.history = horizon)
    }

    /// Removes the segments that nobody needs: all of whose commits are in the checkpoint, read by every stream, and older
    /// than the history that is to be kept. Says how many.
    ///
    /// # Errors
    /// The file system's. If the manifest could not be replaced, the log is poisoned.
    pub fn prune(&self) -> Result<usize, StoreError> {
        let pruned = {
            let manifest = self.manifest.lock();
            let needed = match planted::is(PlantedBug::PruneTooMuch) {
                true => self.durable(),
                false => manifest.needed_from(),
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

    /// Makes everything durable, takes no more commits, and gives the store free. The next opening finds that nothing is missing.
    ///
    /// Nobody maintains the log meanwhile or later. To close again changes nothing.
    ///
    /// # Errors
    /// The file system's, or that the log is poisoned.
    pub fn close(&self) -> Result<(), StoreError> {
        if self.lock.lock().is_none() {
            return Ok(());
        }
        self.flush()?;
        let current = {
            let mut tail = self.tail.lock();
            tail.refusal.get_or_insert(LogError::Closed);
            tail.current()
        };
        // A commit may have come in between.
        self.flush()?;
        if let (number, Some(sealed)) = current {
            self.seal(number, sealed);
        }
        self.change_manifest(|manifest| manifest.segments.retain(|entry| entry.sealed.is_some()))?;
        self.remove_unlisted()?;
        // Nobody is replacing the manifest meanwhile, and nobody will.
        let _manifest = self.manifest.lock();
        *self.lock.lock() = None;
        Ok(())
    }

    /// Removes the files of segments that the manifest does not list.
    pub(super) fn remove_unlisted(&self) -> Result<(), StoreError> {
        self.check_lock()?;
        let manifest = self.manifest.lock();
        for number in Store::unlisted(&*self.files, &manifest)? {
            // The one after the last may be in the making.
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
    /// Writes what waits in memory; nobody was promised anything about it.
    fn drop(&mut self) {
        if self.tail.get_mut().buffered() > 0 {
            // There is nobody to tell.
            let _ = self.flush();
        }
    }
}
