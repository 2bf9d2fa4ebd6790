//! From recovery to a log that takes commits.

use super::group::GroupCommit;
use super::shelf::Shelf;
use super::sizes::SegmentSizes;
use super::tail::Tail;
use super::writer::SegmentWriter;
use super::{Log, LogOptions, segments};
use crate::error::StoreError;
use crate::planted::{self, PlantedBug};
use crate::segment::FirstTimes;
use crate::store::mark::Mark;
use crate::store::{Lock, Manifest, Recovered, StoreFiles, check_lock, cut_files, make_durable};
use hedgerow_sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use hedgerow_sync::{Condvar, Mutex};

impl Log {
    /// Continues the log that [`StoreFiles::replay`] recovered.
    ///
    /// Makes the recovered commits durable, cuts a torn tail, joins small segments, and puts new
    /// commits into a new segment: nothing is ever appended to an existing one.
    ///
    /// # Errors
    /// The file system's error. Then the store has the same commits, and can be opened again.
    pub fn start(
        mut store: StoreFiles,
        recovered: &Recovered,
        options: LogOptions,
    ) -> Result<Log, StoreError> {
        store.seal(recovered)?;
        store.join_small_segments(options.segment_bytes)?;
        let read_only = store.read_only();
        let StoreFiles { files, mut manifest, lock } = store;
        let Lock::Write(lock) = lock else { return Err(read_only) };
        let number = manifest.next_segment;
        let sizes = SegmentSizes::new(number, &options);
        let file = segments::zeros(&*files, number, sizes.of(number))?;
        if !planted::is(PlantedBug::SkipDirectorySync) {
            files.sync_directory()?;
        }
        segments::list(&mut manifest, number, sizes.of(number));
        manifest.replace(&*files, &*lock).map_err(|failed| failed.error)?;
        cut_files(&*files, &manifest)?;
        let mark = Mark::create(&*files, manifest.store, recovered.last)?;
        let last = FirstTimes { at: recovered.last, wall_clock: recovered.wall_clock };
        let log = Log {
            options,
            sizes,
            salt: crc32c::crc32c(&manifest.store),
            buffered: AtomicUsize::new(0),
            is_half_full: AtomicBool::new(false),
            tail: Mutex::new(Tail::new(manifest.store, sizes, number, last)),
            grown: Condvar::new(),
            written: AtomicU64::new(recovered.last.0),
            group: GroupCommit::new(recovered.last),
            writer: Mutex::new(SegmentWriter::new(number, file, mark)),
            shelf: Shelf::default(),
            manifest: Mutex::new(manifest),
            files,
            lock: Mutex::new(Some(lock)),
        };
        // Unlisted segments are empty, were joined, or were dropped from the manifest before.
        log.remove_unlisted()?;
        Ok(log)
    }
}

impl StoreFiles {
    /// Makes the recovered content of segments durable, and seals them. The next manifest contains
    /// the seals.
    fn seal(&mut self, recovered: &Recovered) -> Result<(), StoreError> {
        let Lock::Write(lock) = &self.lock else { return Err(self.read_only()) };
        check_lock(&*self.files, &**lock)?;
        for open in &recovered.open {
            if let Some(sealed) = open.content {
                make_durable(&*self.files, open.number, open.synced, sealed.end)?;
            }
        }
        seal_all(&mut self.manifest, recovered);
        self.manifest.durable = recovered.last;
        Ok(())
    }
}

/// Seals every segment, or drops it if it is empty.
fn seal_all(manifest: &mut Manifest, recovered: &Recovered) {
    let content =
        |number| recovered.open.iter().find(|open| open.number == number).and_then(|open| open.content);
    for entry in &mut manifest.segments {
        if entry.sealed.is_none() && !planted::is(PlantedBug::LeaveTornTail) {
            entry.sealed = content(entry.number);
        }
    }
    manifest.segments.retain(|entry| entry.sealed.is_some() || content(entry.number).is_some());
}
