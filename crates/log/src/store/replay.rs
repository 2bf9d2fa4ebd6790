//! Reading the log of a store, from a timestamp on.

use super::reading::{Reading, TornTail};
use super::{Manifest, Sealed, SegmentEntry, Store, mark};
use crate::error::StoreError;
use crate::files::{Access, FileError, FileSystem};
use crate::segment::{self, Record, SegmentHeader};
use hedgerow_model::Timestamp;
use std::path::Path;

/// Where a record stands.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The segment's file.
    pub path: &'a Path,
    /// Where the record begins.
    pub offset: u64,
}

/// What was found in a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// The last commit.
    pub last: Timestamp,
    /// Its wall-clock time, in microseconds since 1970-01-01 UTC.
    pub wall_clock: u64,
    /// How many commits were handed over.
    pub commits: u64,
    /// What a loss of power left behind the last commit, if anything: of commits of which nobody was told that they
    /// are durable.
    pub torn: Option<TornTail>,
    /// What is in the segments that the manifest does not call sealed.
    pub(crate) open: Vec<OpenSegment>,
    /// Where the last commit ends: the number of its segment, and the offset there.
    end: Option<(u64, u64)>,
}

/// What is in a segment that is not sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpenSegment {
    pub(crate) number: u64,
    /// `None`: nothing.
    pub(crate) content: Option<Sealed>,
    /// So many bytes of it were durable when its last batch was written.
    pub(crate) synced: u64,
}

impl Recovered {
    /// Nothing was read yet.
    pub(super) fn before(manifest: &Manifest) -> Self {
        let Manifest { oldest_readable: last, oldest_wall_clock: wall_clock, .. } = *manifest;
        Recovered { last, wall_clock, ..Recovered::default() }
    }

    /// Takes over what was found in the next segment.
    ///
    /// A segment begins when everything before it is durable: behind a torn tail there are no commits.
    pub(super) fn add(&mut self, entry: &SegmentEntry, reading: &Reading) -> Result<(), StoreError> {
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

impl Store {
    /// Hands over every commit after `after`, in order, and tells what is at the end of the log.
    ///
    /// Segments that end at or before `after` are not read. O(bytes) of the others, of which a window is in memory.
    ///
    /// # Errors
    /// [`StoreError::OutOfRetention`] if `after` is older than what can be read; damage, and missing or foreign
    /// files, with their place; whatever `apply` returns.
    pub fn replay<E: From<StoreError>>(
        &self,
        after: Timestamp,
        mut apply: impl FnMut(Record<'_>, Place<'_>) -> Result<(), E>,
    ) -> Result<Recovered, E> {
        let oldest = self.manifest.oldest_readable;
        if after < oldest {
            return Err(StoreError::OutOfRetention { asked: after, oldest }.into());
        }
        self.check_unlisted()?;
        // Before the log is read: a process that writes to it moves the mark on.
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
                    apply(record, Place { path: &path, offset })
                })?,
            };
            recovered.add(entry, &reading)?;
            reading.problem.map_or(Ok(()), Err)?;
        }
        recovered.commits = commits;
        self.check_end(&recovered, durable)?;
        Ok(recovered)
    }

    /// Every commit up to this is known to have been durable.
    pub(super) fn durable(&self) -> Result<Timestamp, StoreError> {
        let marked = mark::read(&*self.files, self.manifest.store)?;
        Ok(self.manifest.durable.max(marked))
    }

    /// A sealed segment that need not be read, but must be there.
    pub(super) fn pass_over(&self, entry: &SegmentEntry, sealed: Sealed) -> Result<Reading, StoreError> {
        let path = self.segment_path(entry.number);
        match self.files.open(&segment::name_of(entry.number), Access::Read) {
            Ok(_) => Ok(Reading { valid: Some(sealed), ..Reading::default() }),
            Err(error) if error.is_not_found() => Err(StoreError::Missing { path }),
            Err(error) => Err(error.into()),
        }
    }

    /// The log reaches as far as the checkpoint, and as what was durable.
    pub(super) fn check_end(&self, recovered: &Recovered, durable: Timestamp) -> Result<(), StoreError> {
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

    /// There is no segment with commits that is newer than the manifest.
    pub(super) fn check_unlisted(&self) -> Result<(), StoreError> {
        for number in Store::unlisted(&*self.files, &self.manifest)? {
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

    /// The header of a segment; `None` if there is no valid one.
    pub(super) fn read_header(&self, number: u64) -> Result<Option<SegmentHeader>, StoreError> {
        let file = match self.files.open(&segment::name_of(number), Access::Read) {
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

    /// The segments that are there without being listed: prepared and not listed yet, or forgotten and not removed yet.
    pub(crate) fn unlisted(files: &dyn FileSystem, manifest: &Manifest) -> Result<Vec<u64>, FileError> {
        let names = files.list()?;
        let numbers = names.iter().filter_map(|name| segment::number_of(name));
        let is_listed = |number| manifest.segments.iter().any(|segment| segment.number == number);
        let mut unlisted: Vec<u64> = numbers.filter(|number| !is_listed(*number)).collect();
        unlisted.sort_unstable();
        Ok(unlisted)
    }
}
