//! Reading one segment: its valid records, and what is wrong after them.

use super::{Sealed, SegmentEntry, Store};
use crate::error::StoreError;
use crate::files::Access;
use crate::segment::{self, NoScan, Record, Scan, ScanEnd, SegmentBytes};
use hedgerow_model::Timestamp;
use std::path::{Path, PathBuf};

/// Bytes behind the last commit that are not zeros, and not commits either.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TornTail {
    /// The segment's file.
    pub path: PathBuf,
    /// Where they begin.
    pub offset: u64,
    /// How many there are, up to the last that is not zero.
    pub bytes: u64,
}

/// What was found in a segment.
#[derive(Debug, Default)]
pub(super) struct Reading {
    /// The valid records at its beginning, if there are any.
    pub(super) valid: Option<Sealed>,
    /// So many bytes were durable when the last of its batches was written.
    pub(super) synced: u64,
    /// What a loss of power left behind them.
    pub(super) torn: Option<TornTail>,
    /// Why the segment is not as it should be.
    pub(super) problem: Option<StoreError>,
}

impl Reading {
    pub(super) fn problem(problem: StoreError) -> Self {
        Reading { problem: Some(problem), ..Reading::default() }
    }
}

impl Store {
    pub(super) fn segment_path(&self, number: u64) -> PathBuf {
        self.files.location().join(segment::name_of(number))
    }

    /// Hands over the valid records of a segment, whose first one should have timestamp `next`, and where each begins. A window of it
    /// is in memory.
    ///
    /// Fails if the file system does, or `apply`. Whatever is wrong with the content is in the reading.
    pub(super) fn read_segment<E: From<StoreError>>(
        &self,
        entry: &SegmentEntry,
        next: Timestamp,
        mut apply: impl FnMut(Record<'_>, u64) -> Result<(), E>,
    ) -> Result<Reading, E> {
        let path = self.segment_path(entry.number);
        let file = match self.files.open(&segment::name_of(entry.number), Access::Read) {
            Ok(file) => file,
            Err(error) if error.is_not_found() => return Ok(Reading::problem(StoreError::Missing { path })),
            Err(error) => return Err(StoreError::from(error).into()),
        };
        let length = file.length().map_err(StoreError::from)?;
        // What comes after the end of a sealed segment is none of the log.
        let end = entry.sealed.map_or(length, |sealed| sealed.end.min(length));
        let bytes = SegmentBytes::new(&*file, end);
        let mut reading =
            match Scan::new(bytes, self.manifest.store, entry, next).map_err(StoreError::from)? {
                Ok(mut scan) => {
                    while let Some((offset, record)) = scan.next_record().map_err(StoreError::from)? {
                        apply(record, offset)?;
                    }
                    judge(entry, &mut scan, &path, next)?
                }
                Err(NoScan::Unused(torn)) if entry.sealed.is_none() => {
                    Reading { torn: torn_tail(&path, 0, torn), ..Reading::default() }
                }
                Err(refusal) => Reading::problem(refusal.explain(&path, next)),
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

/// What is to be said of a segment whose valid records were read, the first of timestamp `first`.
fn judge(
    entry: &SegmentEntry,
    scan: &mut Scan<'_>,
    path: &Path,
    first: Timestamp,
) -> Result<Reading, StoreError> {
    let (end, last) = (scan.position(), Timestamp(scan.next_timestamp().0 - 1));
    let held = Sealed { first, last, end, wall_clock: scan.wall_clock() };
    let valid = (last >= first).then_some(held);
    let invalid = || {
        let what = format!("the commit of timestamp {} is not valid", last.next());
        Some(StoreError::damaged(path, end as usize, what))
    };
    let synced = scan.synced();
    if let Some(sealed) = entry.sealed {
        let problem = if valid == Some(sealed) { None } else { invalid() };
        return Ok(Reading { valid, synced, problem, torn: None });
    }
    Ok(match scan.end()? {
        ScanEnd::Damaged => Reading { valid, synced, problem: invalid(), torn: None },
        ScanEnd::Torn(length) => Reading { valid, synced, torn: torn_tail(path, end, length), problem: None },
        ScanEnd::Clean => Reading { valid, synced, ..Reading::default() },
    })
}

/// What there is from `offset` on that is not zeros.
fn torn_tail(path: &Path, offset: u64, length: u64) -> Option<TornTail> {
    (length > 0).then(|| TornTail { path: path.to_owned(), offset, bytes: length })
}

impl NoScan {
    fn explain(self, path: &Path, next: Timestamp) -> StoreError {
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
