//! Creating segments, ahead of their use if there is a log maintainer.

use super::Log;
use super::shelf::NewSegment;
use crate::error::{LogError, StoreError};
use crate::files::{File, FileError, FileSystem, OpenMode};
use crate::planted::{self, PlantedBug};
use crate::segment;
use crate::store::{self, Manifest, NotReplaced, SealedSegment, SegmentEntry};
use hedgerow_sync::atomic::Ordering;

/// Number of zeros synced at a time, so that concurrent commits do not wait for all of them.
const SYNCED_ZEROS: u64 = 4 << 20;

/// Number of zeros written at a time: a page. The kernel keeps the bytes of one write as one unit
/// in its page cache, and each later small write and sync would visit every page of that unit.
const WRITTEN_ZEROS: u64 = 4 << 10;

impl Log {
    /// Returns true if [`Log::maintain`] should create the next segment now: half of the current
    /// one is full, and there is no next one. O(1), lock-free.
    #[must_use]
    pub fn needs_maintenance(&self) -> bool {
        self.is_half_full.load(Ordering::Relaxed) && self.shelf.is_empty()
    }

    /// Creates the next segment, if there is none yet, so that no commit has to wait for it. To be
    /// called from a background thread when [`Log::needs_maintenance`] returns true; otherwise the
    /// commit that needs a segment creates it.
    ///
    /// # Errors
    /// There is no space for a segment now (creation is retried when a segment is needed), or the
    /// manifest could not be replaced. Poisons the log if the new manifest may be in place.
    pub fn maintain(&self) -> Result<(), StoreError> {
        self.shelf.fill(|| self.make_segment())
    }

    /// Creates an empty segment: durable, and listed in the manifest.
    pub(super) fn make_segment(&self) -> Result<NewSegment, StoreError> {
        let number = self.manifest.lock().next_segment;
        let length = self.sizes.of(number);
        // Otherwise another process may use this number.
        self.check_lock()?;
        let file = zeros(&*self.files, number, length)?;
        self.sync_directory()?;
        if planted::is(PlantedBug::ListSegmentLate) {
            list(&mut self.manifest.lock(), number, length);
        } else {
            self.change_manifest(|manifest| list(manifest, number, length))?;
        }
        Ok(NewSegment { number, file })
    }

    fn sync_directory(&self) -> Result<(), StoreError> {
        if planted::is(PlantedBug::SkipDirectorySync) {
            return Ok(());
        }
        // Changes that a failed sync should have made durable are lost for good.
        self.files.sync_directory().map_err(|error| StoreError::Log(self.poison(error.into())))
    }

    /// Checks that the store still belongs to this log. Always succeeds after a close.
    ///
    /// # Errors
    /// Another process may have locked the store, or the file system failed. Either poisons the
    /// log.
    pub fn check_lock(&self) -> Result<(), StoreError> {
        let checked =
            self.lock.lock().as_deref().map_or(Ok(()), |lock| store::check_lock(&*self.files, lock));
        checked.map_err(|error| StoreError::Log(self.poison(error)))
    }

    /// Changes the manifest, durably. Fails after a close: the store may belong to another process.
    pub(super) fn change_manifest(&self, change: impl FnOnce(&mut Manifest)) -> Result<(), StoreError> {
        self.try_change_manifest(|manifest| {
            change(manifest);
            Ok(())
        })
    }

    /// Changes the manifest, durably, unless `change` refuses. An error in replacing the manifest
    /// poisons the log, unless it is certain that the former manifest is in place.
    pub(super) fn try_change_manifest(
        &self,
        change: impl FnOnce(&mut Manifest) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut manifest = self.manifest.lock();
        if let Some(refusal @ LogError::Poisoned { .. }) = &self.tail.lock().refusal {
            return Err(refusal.clone().into());
        }
        let mut next = Manifest { durable: self.durable(), ..manifest.clone() };
        change(&mut next)?;
        let replaced = match self.lock.lock().as_deref() {
            Some(lock) => next.replace(&*self.files, lock),
            None => return Err(LogError::Closed.into()),
        };
        match replaced {
            Ok(()) => {
                *manifest = next;
                Ok(())
            }
            Err(NotReplaced { error, is_former_in_place: true }) => Err(error),
            Err(NotReplaced { error, .. }) => {
                drop(manifest);
                Err(StoreError::Log(self.poison(error)))
            }
        }
    }

    /// Records the content of a complete segment. The next manifest contains it.
    pub(super) fn seal(&self, number: u64, sealed: SealedSegment) {
        let mut manifest = self.manifest.lock();
        let entry = manifest.segments.iter_mut().find(|entry| entry.number == number);
        entry.into_iter().for_each(|entry| entry.sealed = Some(sealed));
    }
}

/// Creates a file of zeros for a segment, durable except for its directory entry.
pub(super) fn zeros(files: &dyn FileSystem, number: u64, length: u64) -> Result<Box<dyn File>, FileError> {
    let name = segment::name_of(number);
    // A leftover of an earlier attempt cannot be trusted.
    match files.remove(&name) {
        Err(error) if !error.is_not_found() => return Err(error),
        _ => {}
    }
    let file = files.open(&name, OpenMode::Create)?;
    let zeros = [0; WRITTEN_ZEROS as usize];
    let mut offset = 0;
    while offset < length {
        let count = (length - offset).min(WRITTEN_ZEROS);
        file.write_all_at(&zeros[..count as usize], offset)?;
        offset += count;
        if offset == length || offset.is_multiple_of(SYNCED_ZEROS) {
            file.sync()?;
        }
    }
    Ok(file)
}

/// Adds a new segment.
pub(super) fn list(manifest: &mut Manifest, number: u64, length: u64) {
    manifest.segments.push(SegmentEntry { number, length, sealed: None });
    manifest.next_segment = number + 1;
}
