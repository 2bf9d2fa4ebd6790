//! Copies the segments of the log.

use super::Source;
use super::destination::Destination;
use crate::error::StoreError;
use crate::files::{File, FileError, OpenMode, pieces};
use crate::store::reading::SegmentReading;
use crate::store::{Recovered, SealedSegment, SegmentEntry, StoreFiles};
use hedgerow_model::CommitTimestamp;
use std::io;

impl Source<'_> {
    /// Copies the valid records of all segments. Returns the segments of the copy, all sealed.
    ///
    /// Stops behind the durable commits if a writer is there, which may be changing later ones.
    pub(super) fn copy_log(
        &self,
        destination: &mut Destination,
    ) -> Result<(Vec<SegmentEntry>, Recovered), StoreError> {
        if !self.is_written {
            self.store.check_unlisted()?;
        }
        // The backup that wrote the older copy made its commits durable in the source.
        let durable = destination.older_last()?.max(self.durable);
        let mut recovered = Recovered::before(&self.store.manifest);
        let mut segments = Vec::new();
        for entry in &self.store.manifest.segments {
            let is_there = entry.sealed.is_some() && destination.older_segment(entry) == entry.sealed;
            let reading = match is_there {
                true => SegmentReading { valid: entry.sealed, ..SegmentReading::default() },
                false => self.read(entry, recovered.last.next())?,
            };
            recovered.add(entry, &reading)?;
            if let Some(content) = reading.valid {
                destination.copy_segment(&self.store, entry, content)?;
                segments.push(SegmentEntry { sealed: Some(content), ..*entry });
            }
            if self.is_written && entry.sealed.is_none() && recovered.last >= durable {
                break;
            }
        }
        self.store.check_end(&recovered, self.durable.max(self.stored()))?;
        Ok((segments, recovered))
    }

    /// Reads a segment of the source, and makes what was read durable there: a commit that the
    /// source can still lose would be in the copy only.
    fn read(&self, entry: &SegmentEntry, next: CommitTimestamp) -> Result<SegmentReading, StoreError> {
        let read = || self.store.check_records(entry, next);
        let mut reading = read()?;
        if let (true, Some(problem)) = (self.is_written, &reading.problem) {
            // A writer may have written between two reads; damage stays where it is.
            let before = problem.to_string();
            reading = read()?;
            reading.problem.take_if(|problem| problem.to_string() != before);
        }
        if let Some(problem) = reading.problem.take() {
            return Err(problem);
        }
        if entry.sealed.is_none() && reading.valid.is_some() {
            let file = self.store.files.open(&entry.file_name(), OpenMode::Read)?;
            file.sync().or_else(|error| if cannot_sync(&error) { Ok(()) } else { Err(error) })?;
        }
        Ok(reading)
    }
}

/// Returns true if a file system, which is read-only then, has no syncs.
fn cannot_sync(error: &FileError) -> bool {
    matches!(error.source.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::ReadOnlyFilesystem)
}

impl Destination {
    /// Returns true if the older copy has commits in segments that its store did not make: the copy
    /// was opened and written to.
    pub(super) fn has_later_segments(&self, next: u64) -> bool {
        let segments = self.older.iter().flat_map(|older| &older.manifest.segments);
        segments.filter(|segment| segment.sealed.is_some()).any(|segment| segment.number >= next)
    }

    /// The content of a segment in the older copy.
    pub(super) fn older_segment(&self, entry: &SegmentEntry) -> Option<SealedSegment> {
        let mut segments = self.older.as_ref()?.manifest.segments.iter();
        segments.find(|older| older.number == entry.number)?.sealed
    }

    /// Copies the content of a segment, except for the part that is there.
    fn copy_segment(
        &mut self,
        source: &StoreFiles,
        entry: &SegmentEntry,
        content: SealedSegment,
    ) -> Result<(), StoreError> {
        let name = entry.file_name();
        let older = self.older_segment(entry);
        let begin = match (self.copied.get(&name), older) {
            (Some(copied), _) => *copied,
            (None, Some(older)) => {
                self.check_older_segment(entry, older)?;
                if older == content {
                    self.keep(&name, content.end);
                    return Ok(());
                }
                let (copy, read) =
                    (self.files.open(&name, OpenMode::Read)?, source.files.open(&name, OpenMode::Read)?);
                if older.end >= content.end || !is_same(&*copy, &*read, older.end)? {
                    return Err(self.other_commits());
                }
                self.keep(&name, older.end);
                older.end
            }
            (None, None) => 0,
        };
        if begin == content.end {
            return Ok(());
        }
        self.announce(source.manifest.next_segment)?;
        let read = source.files.open(&name, OpenMode::Read)?;
        let mut copy = self.write(&name, if begin > 0 { OpenMode::Write } else { OpenMode::Create })?;
        copy.copy(&*read, begin..content.end)?;
        copy.cut(content.end)?;
        self.finish(copy, &name, content.end)
    }

    /// Checks the content of a segment of the older copy.
    fn check_older_segment(&self, entry: &SegmentEntry, sealed: SealedSegment) -> Result<(), StoreError> {
        let Some(older) = &self.older else { return Ok(()) };
        let entry = SegmentEntry { sealed: Some(sealed), ..*entry };
        let reading = older.check_records(&entry, sealed.first)?;
        reading.problem.map_or(Ok(()), |problem| Err(StoreError::of_older_backup(problem)))
    }
}

/// Returns true if the first `end` bytes of two files are the same.
fn is_same(one: &dyn File, other: &dyn File, end: u64) -> Result<bool, FileError> {
    for piece in pieces(0..end) {
        if one.read_range(piece.clone())? != other.read_range(piece)? {
            return Ok(false);
        }
    }
    Ok(true)
}
