//! Reads the commits of a log in order, from any of them on, while the log is written.

use super::browse::until_found_twice;
use super::{Manifest, SegmentEntry};
use crate::error::StoreError;
use crate::files::{FileSystem, OpenMode};
use crate::segment::{LogRecord, SegmentBytes, SegmentPlace, SegmentScan};
use hedgerow_model::CommitTimestamp;
use hedgerow_sync::Arc;
use std::cmp::Ordering;
use std::ops::ControlFlow;

/// A place in the log of a store, from which the next commits are read.
///
/// Takes no lock and changes nothing; another thread or another process may write. Keeps nothing of
/// the log from being removed.
#[derive(Clone, Debug)]
pub struct CommitReader {
    files: Arc<dyn FileSystem>,
    /// The commit to be read next.
    next: CommitTimestamp,
    /// A segment, and the end of what was read of it.
    place: Option<(u64, SegmentPlace)>,
}

impl CommitReader {
    /// A reader of the commits after `at`. Reads nothing yet.
    #[must_use]
    pub fn after(files: Arc<dyn FileSystem>, at: CommitTimestamp) -> Self {
        CommitReader { files, next: at.next(), place: None }
    }

    /// A reader of the commits after `at`, and the wall-clock time of the commit `at`, which is in
    /// a file, or 0 if no commit is before these. O(bytes of the segment before that commit).
    ///
    /// # Errors
    /// As [`CommitReader::read`].
    pub fn from_commit(
        files: Arc<dyn FileSystem>,
        at: CommitTimestamp,
        manifest: impl Fn() -> Result<Manifest, StoreError>,
    ) -> Result<(Self, u64), StoreError> {
        let Manifest { oldest_readable, oldest_wall_clock, .. } = manifest()?;
        match at.cmp(&oldest_readable) {
            Ordering::Less => return Err(StoreError::OutOfRetention { asked: at, oldest: oldest_readable }),
            Ordering::Equal => return Ok((CommitReader::after(files, at), oldest_wall_clock)),
            Ordering::Greater => {}
        }
        let before = CommitTimestamp(at.0 - 1);
        let (mut reader, mut wall_clock) = (CommitReader::after(files, before), 0);
        reader.read::<StoreError>(at, manifest, &mut |record| {
            wall_clock = record.wall_clock;
            Ok(ControlFlow::Continue(()))
        })?;
        Ok((reader, wall_clock))
    }

    /// The commit to be read next.
    #[must_use]
    pub fn next(&self) -> CommitTimestamp {
        self.next
    }

    /// Bytes of the commits to be read in the segments of this manifest; in the first of them of
    /// all commits, if none there was read. `bytes_of` returns those of a segment that may still
    /// grow. O(segments).
    pub fn bytes_left(&self, manifest: &Manifest, bytes_of: impl Fn(&SegmentEntry) -> u64) -> u64 {
        let has_more = |entry: &&SegmentEntry| entry.sealed.is_none_or(|sealed| self.next <= sealed.last);
        let left = |entry: &SegmentEntry| {
            let bytes = entry.sealed.map_or_else(|| bytes_of(entry), |sealed| sealed.end);
            let place = self.place.filter(|(number, _)| *number == entry.number);
            bytes.saturating_sub(place.map_or(0, |(_, place)| place.position))
        };
        manifest.segments.iter().filter(has_more).map(left).sum()
    }

    /// Passes over all commits up to `at`.
    pub fn pass_over(&mut self, at: CommitTimestamp) {
        self.next = self.next.max(at.next());
    }

    /// Passes the next commits, up to `through`, to `visit`, until it breaks or fails. A commit
    /// with which it fails is passed again next time. `manifest` returns the current manifest of
    /// the store; all commits up to `through` are in files.
    ///
    /// O(bytes of these commits); the first time, also of those before them in their segment.
    ///
    /// # Errors
    /// [`StoreError::OutOfRetention`] if the log no longer has the next commit; errors of
    /// `manifest`; damage of a segment; the file system's error.
    pub fn read<E: From<StoreError>>(
        &mut self,
        through: CommitTimestamp,
        manifest: impl Fn() -> Result<Manifest, StoreError>,
        visit: &mut dyn FnMut(&LogRecord<'_>) -> Result<ControlFlow<()>, E>,
    ) -> Result<(), E> {
        if self.next > through {
            return Ok(());
        }
        until_found_twice(|| self.read_once(through, &manifest()?, visit))
    }

    /// Reads from the segments of this manifest. Returns the problem before which reading ended.
    fn read_once<E: From<StoreError>>(
        &mut self,
        through: CommitTimestamp,
        manifest: &Manifest,
        visit: &mut dyn FnMut(&LogRecord<'_>) -> Result<ControlFlow<()>, E>,
    ) -> Result<Result<(), StoreError>, E> {
        let oldest = manifest.oldest_readable;
        if self.next <= oldest {
            let asked = CommitTimestamp(self.next.0 - 1);
            return Err(StoreError::OutOfRetention { asked, oldest }.into());
        }
        let (mut path, mut offset) = (self.files.location(), 0);
        for entry in &manifest.segments {
            if entry.sealed.is_some_and(|sealed| sealed.last < self.next) {
                continue;
            }
            let segment = self.files.location().join(entry.file_name());
            match self.read_segment(through, manifest, entry, visit)? {
                Read::All => return Ok(Ok(())),
                Read::To(end) => (path, offset) = (segment, end),
                Read::Missing => return Ok(Err(StoreError::Missing { path: segment })),
                Read::Nothing if offset == 0 => {
                    path = segment;
                    break;
                }
                Read::Nothing => break,
            }
        }
        let what = format!("the commit of timestamp {} is missing", self.next);
        Ok(Err(StoreError::Damaged { path, offset, what }))
    }

    fn read_segment<E: From<StoreError>>(
        &mut self,
        through: CommitTimestamp,
        manifest: &Manifest,
        entry: &SegmentEntry,
        visit: &mut dyn FnMut(&LogRecord<'_>) -> Result<ControlFlow<()>, E>,
    ) -> Result<Read, E> {
        let file = match self.files.open(&entry.file_name(), OpenMode::Read) {
            Ok(file) => file,
            Err(error) if error.is_not_found() => return Ok(Read::Missing),
            Err(error) => return Err(StoreError::from(error).into()),
        };
        let length = file.length().map_err(StoreError::from)?;
        let bytes = SegmentBytes::new(&*file, entry.sealed.map_or(length, |sealed| sealed.end.min(length)));
        let scan = match self.place.filter(|(number, _)| *number == entry.number) {
            Some((_, place)) => Ok(SegmentScan::resume(bytes, manifest.store, entry, place)),
            None => SegmentScan::new(bytes, manifest.store, entry, None).map_err(StoreError::from)?,
        };
        let Some(mut scan) = scan.ok().filter(|scan| scan.next_timestamp() <= self.next) else {
            return Ok(Read::Nothing);
        };
        while scan.next_timestamp() < self.next {
            if scan.pass_record().map_err(StoreError::from)?.is_none() {
                return Ok(Read::To(scan.position()));
            }
        }
        let mut flow = ControlFlow::Continue(());
        while flow.is_continue() && self.next <= through {
            match scan.next_record().map_err(StoreError::from)? {
                Some((_, record)) => flow = visit(&record)?,
                None => break,
            }
            self.next = self.next.next();
        }
        self.place = Some((entry.number, scan.place()));
        match flow.is_break() || self.next > through {
            true => Ok(Read::All),
            false => Ok(Read::To(scan.position())),
        }
    }
}

/// The extent to which a segment was read.
enum Read {
    /// All commits that were asked for.
    All,
    /// The valid part, which ends at this position.
    To(u64),
    /// It has no commits yet, or later ones.
    Nothing,
    /// There is no file.
    Missing,
}
