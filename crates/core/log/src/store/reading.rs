//! Reads one segment: its valid records, and the problem after them.

use super::{SealedSegment, SegmentEntry, StoreFiles};
use crate::error::StoreError;
use crate::files::OpenMode;
use crate::segment::{self, LogRecord, NoScan, ScanEnd, SegmentBytes, SegmentScan};
use hedgerow_model::CommitTimestamp;
use std::path::{Path, PathBuf};

/// Nonzero bytes after the last commit that are not commits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TornTail {
    /// The segment's file.
    pub path: PathBuf,
    /// The offset of these bytes.
    pub offset: u64,
    /// The number of these bytes, up to the last nonzero one.
    pub bytes: u64,
}

/// The result of reading a segment.
#[derive(Debug, Default)]
pub(super) struct SegmentReading {
    /// The valid records at the segment's beginning, if there are any.
    pub(super) valid: Option<SealedSegment>,
    /// Number of bytes that were durable when the segment's last batch was written.
    pub(super) synced: u64,
    /// The torn tail that a loss of power left after the valid records.
    pub(super) torn: Option<TornTail>,
    /// The problem of the segment.
    pub(super) problem: Option<StoreError>,
}

impl SegmentReading {
    pub(super) fn problem(problem: StoreError) -> Self {
        SegmentReading { problem: Some(problem), ..SegmentReading::default() }
    }
}

impl StoreFiles {
    pub(super) fn segment_path(&self, number: u64) -> PathBuf {
        self.files.location().join(segment::name_of(number))
    }

    /// Passes the valid records of a segment, whose first one should have timestamp `next`, to
    /// `apply`, each with its position. Keeps a window of the segment in memory.
    ///
    /// Fails if the file system or `apply` fails. Errors in the content are in the result.
    pub(super) fn read_segment<E: From<StoreError>>(
        &self,
        entry: &SegmentEntry,
        next: CommitTimestamp,
        mut apply: impl FnMut(LogRecord<'_>, u64) -> Result<(), E>,
    ) -> Result<SegmentReading, E> {
        self.scan_segment(entry, next, |scan| {
            while let Some((offset, record)) = scan.next_record().map_err(StoreError::from)? {
                apply(record, offset)?;
            }
            Ok(())
        })
    }

    /// Like [`StoreFiles::read_segment`], but only checks the records.
    pub(super) fn check_records(
        &self,
        entry: &SegmentEntry,
        next: CommitTimestamp,
    ) -> Result<SegmentReading, StoreError> {
        self.scan_segment(entry, next, |scan| {
            while scan.pass_record()?.is_some() {}
            Ok(())
        })
    }

    /// Scans a segment with `read`, which reads all valid records.
    fn scan_segment<E: From<StoreError>>(
        &self,
        entry: &SegmentEntry,
        next: CommitTimestamp,
        read: impl FnOnce(&mut SegmentScan<'_>) -> Result<(), E>,
    ) -> Result<SegmentReading, E> {
        let path = self.segment_path(entry.number);
        let file = match self.files.open(&segment::name_of(entry.number), OpenMode::Read) {
            Ok(file) => file,
            Err(error) if error.is_not_found() => {
                return Ok(SegmentReading::problem(StoreError::Missing { path }));
            }
            Err(error) => return Err(StoreError::from(error).into()),
        };
        let length = file.length().map_err(StoreError::from)?;
        // Bytes after the end of a sealed segment do not belong to the log.
        let end = entry.sealed.map_or(length, |sealed| sealed.end.min(length));
        let bytes = SegmentBytes::new(&*file, end);
        let mut reading = match SegmentScan::new(bytes, self.manifest.store, entry, Some(next))
            .map_err(StoreError::from)?
        {
            Ok(mut scan) => {
                read(&mut scan)?;
                judge(entry, &mut scan, &path, next)?
            }
            Err(NoScan::Unused(torn)) if entry.sealed.is_none() => {
                SegmentReading { torn: torn_tail(&path, 0, torn), ..SegmentReading::default() }
            }
            Err(refusal) => SegmentReading::problem(refusal.explain(&path, next)),
        };
        if entry.sealed.is_none() && length < entry.length {
            reading.problem.get_or_insert_with(|| {
                let what = format!("the file ends here, and had {} bytes when it was made", entry.length);
                StoreError::Damaged { path, offset: length, what }
            });
        }
        Ok(reading)
    }
}

/// Returns the result for a segment whose valid records were read, the first one at timestamp
/// `first`.
fn judge(
    entry: &SegmentEntry,
    scan: &mut SegmentScan<'_>,
    path: &Path,
    first: CommitTimestamp,
) -> Result<SegmentReading, StoreError> {
    let (end, last) = (scan.position(), CommitTimestamp(scan.next_timestamp().0 - 1));
    let held = SealedSegment { first, last, end, wall_clock: scan.wall_clock() };
    let valid = (last >= first).then_some(held);
    let invalid = || {
        let what = format!("the commit of timestamp {} is not valid", last.next());
        Some(StoreError::damaged(path, end as usize, what))
    };
    let synced = scan.synced();
    if let Some(sealed) = entry.sealed {
        let problem = if valid == Some(sealed) { None } else { invalid() };
        return Ok(SegmentReading { valid, synced, problem, torn: None });
    }
    Ok(match scan.end()? {
        ScanEnd::Damaged => SegmentReading { valid, synced, problem: invalid(), torn: None },
        ScanEnd::Torn(length) => {
            SegmentReading { valid, synced, torn: torn_tail(path, end, length), problem: None }
        }
        ScanEnd::Clean => SegmentReading { valid, synced, ..SegmentReading::default() },
    })
}

/// The torn tail of `length` bytes at `offset`; `None` if `length` is 0.
fn torn_tail(path: &Path, offset: u64, length: u64) -> Option<TornTail> {
    (length > 0).then(|| TornTail { path: path.to_owned(), offset, bytes: length })
}

impl NoScan {
    fn explain(self, path: &Path, next: CommitTimestamp) -> StoreError {
        let path = path.to_owned();
        match self {
            NoScan::Unused(_) | NoScan::Damaged => {
                StoreError::damaged(path, 0, "the header of a segment is not valid")
            }
            NoScan::Foreign => {
                StoreError::Foreign { path, what: "its header names another store or another segment" }
            }
            NoScan::Version(version) => StoreError::NewerFormat { path, version },
            NoScan::Gap(first) => {
                let what = format!("it begins with the commit of timestamp {first}, {next} should come next");
                StoreError::damaged(path, 0, what)
            }
        }
    }
}
