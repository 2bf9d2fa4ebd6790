//! Reading one segment: its valid records, and what is wrong after them.

use super::{Sealed, SegmentEntry, Store};
use crate::error::StoreError;
use crate::files::Access;
use crate::segment::{self, NoScan, Record, Scan, ScanEnd, length_without_zeros};
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
    fn problem(problem: StoreError) -> Self {
        Reading { problem: Some(problem), ..Reading::default() }
    }
}

impl Store {
    pub(super) fn segment_path(&self, number: u64) -> PathBuf {
        self.files.location().join(segment::name_of(number))
    }

    /// Hands over the valid records of a segment, whose first one should have timestamp `next`, and where each begins. All of it
    /// is read into `memory`, which can be used for the next one.
    ///
    /// Fails if the file system does, or `apply`. Whatever is wrong with the content is in the reading.
    pub(super) fn read_segment<E: From<StoreError>>(
        &self,
        entry: &SegmentEntry,
        next: Timestamp,
        memory: &mut Vec<u8>,
        mut apply: impl FnMut(Record<'_>, u64) -> Result<(), E>,
    ) -> Result<Reading, E> {
        let path = self.segment_path(entry.number);
        match self.files.open(&segment::name_of(entry.number), Access::Read) {
            Ok(file) => file.read_into(memory, 0).map_err(StoreError::from)?,
            Err(error) if error.is_not_found() => return Ok(Reading::problem(StoreError::Missing { path })),
            Err(error) => return Err(StoreError::from(error).into()),
        }
        let bytes = match entry.sealed {
            // What comes after is none of the log.
            Some(sealed) => memory.get(..sealed.end as usize).unwrap_or(memory),
            None => &memory[..],
        };
        let mut scan = match Scan::new(bytes, self.manifest.store, entry.number, next) {
            Ok(scan) => scan,
            Err(NoScan::Unused) if entry.sealed.is_none() => {
                return Ok(Reading { torn: torn_tail(&path, bytes, 0), ..Reading::default() });
            }
            Err(refusal) => return Ok(Reading::problem(refusal.explain(&path, next))),
        };
        while let Some((offset, record)) = scan.next_record() {
            apply(record, offset as u64)?;
        }
        Ok(judge(entry, &scan, &path, bytes, next))
    }
}

/// What is to be said of a segment whose valid records were read, the first of timestamp `first`.
fn judge(entry: &SegmentEntry, scan: &Scan<'_>, path: &Path, bytes: &[u8], first: Timestamp) -> Reading {
    let (end, last) = (scan.position(), Timestamp(scan.next_timestamp().0 - 1));
    let held = Sealed { first, last, end: end as u64, wall_clock: scan.wall_clock() };
    let valid = (last >= first).then_some(held);
    let invalid = || {
        let what = format!("the commit of timestamp {} is not valid", last.next());
        Some(StoreError::damaged(path, end, what))
    };
    match (entry.sealed, scan.end()) {
        (Some(sealed), _) if valid == Some(sealed) => Reading { valid, ..Reading::default() },
        (Some(_), _) | (None, ScanEnd::Damaged) => {
            Reading { valid, problem: invalid(), ..Reading::default() }
        }
        (None, ScanEnd::Torn | ScanEnd::Clean) => {
            let (torn, synced) = (torn_tail(path, bytes, end), scan.synced());
            Reading { valid, synced, torn, problem: None }
        }
    }
}

/// What there is from `offset` on that is not zeros.
fn torn_tail(path: &Path, bytes: &[u8], offset: usize) -> Option<TornTail> {
    let length = length_without_zeros(&bytes[offset..]);
    (length > 0).then(|| TornTail { path: path.to_owned(), offset: offset as u64, bytes: length as u64 })
}

impl NoScan {
    fn explain(self, path: &Path, next: Timestamp) -> StoreError {
        let path = path.to_owned();
        match self {
            NoScan::Unused | NoScan::Damaged => {
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
