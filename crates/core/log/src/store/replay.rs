//! Replays the log of a store, from a timestamp on.

use super::reading::{SegmentReading, TornTail};
use super::{Manifest, SealedSegment, SegmentEntry, StoreFiles, mark};
use crate::error::StoreError;
use crate::files::{FileError, FileSystem, OpenMode};
use crate::segment::{self, LogRecord, SegmentHeader};
use hedgerow_model::CommitTimestamp;
use std::path::Path;

/// The position of a record.
#[derive(Clone, Copy, Debug)]
pub struct LogPosition<'a> {
    /// The segment's file.
    pub path: &'a Path,
    /// The offset of the record.
    pub offset: u64,
}

/// The result of reading a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// The last commit.
    pub last: CommitTimestamp,
    /// The wall-clock time of the last commit, in microseconds since 1970-01-01 UTC.
    pub wall_clock: u64,
    /// Number of commits passed on.
    pub commits: u64,
    /// The torn tail after the last commit, if any: parts of commits that were never acknowledged
    /// as durable.
    pub torn: Option<TornTail>,
    /// The content of the segments that the manifest does not list as sealed.
    pub(crate) open: Vec<OpenSegment>,
    /// The end of the last commit: the number of its segment, and the offset in the segment.
    end: Option<(u64, u64)>,
}

/// The content of an unsealed segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpenSegment {
    pub(crate) number: u64,
    /// `None` if the segment is empty.
    pub(crate) content: Option<SealedSegment>,
    /// Number of bytes of the segment that were durable when its last batch was written.
    pub(crate) synced: u64,
}

impl Recovered {
    /// The state before anything is read.
    pub(super) fn before(manifest: &Manifest) -> Self {
        let Manifest { oldest_readable: last, oldest_wall_clock: wall_clock, .. } = *manifest;
        Recovered { last, wall_clock, ..Recovered::default() }
    }

    /// Adds the content of the next segment.
    ///
    /// A segment begins when everything before it is durable, so no commits follow a torn tail.
    pub(super) fn add(&mut self, entry: &SegmentEntry, reading: &SegmentReading) -> Result<(), StoreError> {
        if let Some(valid) = reading.valid {
            if let Some(torn) = &self.torn {
                let what = format!("the commit of timestamp {} is not valid", self.last.next());
                return Err(StoreError::damaged(&torn.path, torn.offset as usize, what));
            }
            (self.last, self.wall_clock) = (valid.last, valid.wall_clock);
            self.end = Some((entry.number, valid.end));
        }
        if entry.sealed.is_none() {
            let (content, synced) = (reading.valid, reading.synced);
            self.open.push(OpenSegment { number: entry.number, content, synced });
        }
        if self.torn.is_none() {
            self.torn.clone_from(&reading.torn);
        }
        Ok(())
    }
}

impl StoreFiles {
    /// Passes every commit after `after` to `apply`, in order. Returns the state at the end of the
    /// log.
    ///
    /// Does not read segments that end at or before `after`. O(bytes) of the other segments, with a
    /// window of them in memory.
    ///
    /// # Errors
    /// [`StoreError::OutOfRetention`] if `after` is older than the oldest readable timestamp;
    /// damage, and missing or foreign files, with their place; errors of `apply`.
    pub fn replay<E: From<StoreError>>(
        &self,
        after: CommitTimestamp,
        mut apply: impl FnMut(LogRecord<'_>, LogPosition<'_>) -> Result<(), E>,
    ) -> Result<Recovered, E> {
        self.check_retention(after)?;
        self.check_unlisted()?;
        // Before the log is read, because a process that writes to it advances the mark.
        let durable = self.durable()?;
        let mut recovered = Recovered::before(&self.manifest);
        let mut commits = 0;
        for entry in &self.manifest.segments {
            let path = self.segment_path(entry.number);
            let reading = match entry.sealed {
                Some(sealed) if sealed.last <= after => self.pass_over(entry, sealed)?,
                _ => self.read_segment(entry, recovered.last.next(), |record, offset| {
                    if record.at <= after {
                        return Ok(());
                    }
                    commits += 1;
                    apply(record, LogPosition { path: &path, offset })
                })?,
            };
            recovered.add(entry, &reading)?;
            reading.problem.map_or(Ok(()), Err)?;
        }
        recovered.commits = commits;
        self.check_end(&recovered, durable)?;
        Ok(recovered)
    }

    /// Fails if commits after `after` are no longer in the log.
    pub(super) fn check_retention(&self, after: CommitTimestamp) -> Result<(), StoreError> {
        let oldest = self.manifest.oldest_readable;
        match after < oldest {
            true => Err(StoreError::OutOfRetention { asked: after, oldest }),
            false => Ok(()),
        }
    }

    /// The newest commit known to have been durable: a writer advances it after each sync. Reads a
    /// few bytes.
    ///
    /// # Errors
    /// The file system's error.
    pub fn durable(&self) -> Result<CommitTimestamp, StoreError> {
        let marked = mark::read(&*self.files, self.manifest.store)?;
        Ok(self.manifest.durable.max(marked))
    }

    /// Checks a sealed segment that need not be read, but must exist.
    pub(super) fn pass_over(
        &self,
        entry: &SegmentEntry,
        sealed: SealedSegment,
    ) -> Result<SegmentReading, StoreError> {
        let path = self.segment_path(entry.number);
        match self.files.open(&segment::name_of(entry.number), OpenMode::Read) {
            Ok(_) => Ok(SegmentReading { valid: Some(sealed), ..SegmentReading::default() }),
            Err(error) if error.is_not_found() => Err(StoreError::Missing { path }),
            Err(error) => Err(error.into()),
        }
    }

    /// Checks that the log reaches the checkpoint and the durable commits.
    pub(super) fn check_end(
        &self,
        recovered: &Recovered,
        durable: CommitTimestamp,
    ) -> Result<(), StoreError> {
        let last = recovered.last;
        let reached = self.manifest.checkpoint.map_or(durable, |checkpoint| checkpoint.at.max(durable));
        if last >= reached {
            return Ok(());
        }
        let (path, offset) = match (recovered.end, self.manifest.segments.last()) {
            (Some((segment, offset)), _) => (self.segment_path(segment), offset),
            (None, Some(entry)) => (self.segment_path(entry.number), 0),
            (None, None) => (self.files.location(), 0),
        };
        let what =
            format!("the log ends with the commit of timestamp {last}, and that of {reached} was durable");
        Err(StoreError::Damaged { path, offset, what })
    }

    /// Checks that no segment with commits is newer than the manifest.
    pub(super) fn check_unlisted(&self) -> Result<(), StoreError> {
        for number in StoreFiles::unlisted(&*self.files, &self.manifest)? {
            if number < self.manifest.next_segment {
                continue;
            }
            if self.read_header(number)?.is_some_and(|header| header.store == self.manifest.store) {
                let what = "it is newer than the manifest, which does not list it: one of the two comes from another time";
                return Err(StoreError::Foreign { path: self.segment_path(number), what });
            }
        }
        Ok(())
    }

    /// Reads the header of a segment; `None` if it is invalid.
    pub(super) fn read_header(&self, number: u64) -> Result<Option<SegmentHeader>, StoreError> {
        let file = match self.files.open(&segment::name_of(number), OpenMode::Read) {
            Ok(file) => file,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let mut header = [0; segment::HEADER_LENGTH];
        let is_there = file.length()? >= header.len() as u64;
        if is_there {
            file.read_exact_at(&mut header, 0)?;
        }
        Ok(SegmentHeader::decode(&header).ok())
    }

    /// The segments that exist but are not listed: created but not listed yet, or dropped but not
    /// removed yet.
    pub(crate) fn unlisted(files: &dyn FileSystem, manifest: &Manifest) -> Result<Vec<u64>, FileError> {
        let names = files.list()?;
        let numbers = names.iter().filter_map(|name| segment::number_of(name));
        let is_listed = |number| manifest.segments.iter().any(|segment| segment.number == number);
        let mut unlisted: Vec<u64> = numbers.filter(|number| !is_listed(*number)).collect();
        unlisted.sort_unstable();
        Ok(unlisted)
    }
}
