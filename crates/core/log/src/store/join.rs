//! Joins small segments, so that a store has few segments however often it is opened.

use super::{SealedSegment, SegmentEntry, StoreFiles};
use crate::body::Body;
use crate::error::StoreError;
use crate::files::{File, FileError, FileSystem, OpenMode, PIECE};
use crate::planted::{self, PlantedBug};
use crate::segment::{
    self, BATCH_LENGTH, Binding, FirstTimes, LogRecord, SegmentHeader, put_batch, put_record,
};

/// Minimum number of segments that are joined.
const FEWEST: usize = 8;

/// The index of the oldest segment to join with all newer ones; `None` if nothing should be joined.
///
/// No segment is more than half of the result, so a record is copied at most once for each doubling
/// of its segment. If nothing is joined, one of the newest segments has more bytes than the others
/// together, so the number of segments grows with the logarithm of the log's bytes, up to `most`
/// bytes.
fn oldest_to_join(segments: &[SegmentEntry], most: u64) -> Option<usize> {
    let (mut bytes, mut largest, mut oldest) = (0, 0, None);
    for (index, entry) in segments.iter().enumerate().rev() {
        let end = entry.sealed?.end;
        (bytes, largest) = (bytes + end, end.max(largest));
        if bytes > most {
            break;
        }
        if segments.len() - index >= FEWEST && largest <= bytes / 2 {
            oldest = Some(index);
        }
    }
    oldest
}

impl StoreFiles {
    /// Joins the newest segments if many of them are small: copies their records to a new segment
    /// of at most `most` bytes, which replaces them in the manifest. Every segment must be sealed.
    ///
    /// The caller writes the manifest that lists the new segment, after a sync of the directory.
    /// Until then the old segments are the log; their files may be removed only afterwards.
    ///
    /// # Errors
    /// The file system's error. A damaged segment is no error: then nothing is joined.
    pub(crate) fn join_small_segments(&mut self, most: u64) -> Result<(), StoreError> {
        let Some(oldest) = oldest_to_join(&self.manifest.segments, most) else { return Ok(()) };
        // An unlisted segment with a higher number than the manifest has would look like a later
        // one.
        let number = self.manifest.next_segment;
        if !planted::is(PlantedBug::JoinUnannounced) {
            self.manifest.next_segment += 1;
            self.replace_manifest()?;
        }
        if let Some(joined) = self.join(oldest, number)? {
            self.manifest.next_segment = number + 1;
            self.manifest.segments.truncate(oldest);
            self.manifest.segments.push(joined);
        }
        Ok(())
    }

    /// Writes segment `number` with the records of the segments from index `oldest` on, durably
    /// except for its directory entry. Returns `None` if one of these segments is damaged.
    fn join(&self, oldest: usize, number: u64) -> Result<Option<SegmentEntry>, StoreError> {
        let mut joined = JoinedSegment::create(&*self.files, self.manifest.store, number)?;
        let mut next = None;
        for entry in &self.manifest.segments[oldest..] {
            let Some(sealed) = entry.sealed else { return Ok(None) };
            let mut is_later = true;
            let reading = self.read_segment(entry, next.unwrap_or(sealed.first), |record, _| {
                is_later &= record.wall_clock >= joined.last.wall_clock;
                if is_later { joined.append(record) } else { Ok(()) }
            })?;
            if !is_later || reading.problem.is_some() {
                return Ok(None);
            }
            next = Some(sealed.last.next());
        }
        joined.finish()
    }
}

/// A joined segment that is being written.
struct JoinedSegment {
    file: Box<dyn File>,
    store: [u8; 16],
    number: u64,
    first: Option<FirstTimes>,
    last: FirstTimes,
    /// Number of bytes written.
    written: u64,
    /// Bytes still to be written.
    bytes: Vec<u8>,
    /// The body of a record. A buffer for reuse.
    body: Body,
}

impl JoinedSegment {
    fn create(files: &dyn FileSystem, store: [u8; 16], number: u64) -> Result<Self, FileError> {
        Ok(JoinedSegment {
            file: files.open(&segment::name_of(number), OpenMode::Create)?,
            store,
            number,
            first: None,
            last: FirstTimes::default(),
            written: 0,
            bytes: Vec::new(),
            body: Body::default(),
        })
    }

    fn append(&mut self, record: LogRecord<'_>) -> Result<(), StoreError> {
        let times = FirstTimes { at: record.at, wall_clock: record.wall_clock };
        let binding = Binding { salt: crc32c::crc32c(&self.store), segment: self.number };
        let first = *self.first.get_or_insert_with(|| {
            let LogRecord { at: first, wall_clock, .. } = record;
            let header = SegmentHeader { store: self.store, number: self.number, first, wall_clock };
            self.bytes.extend(header.encode());
            let batch = self.bytes.len();
            self.bytes.extend([0; BATCH_LENGTH]);
            put_batch(&mut self.bytes[batch..], binding, batch as u64, 0);
            times
        });
        self.body.bytes.clear();
        self.body.bytes.extend_from_slice(record.body);
        self.body.checksum = crc32c::crc32c(record.body);
        let position = self.written + self.bytes.len() as u64;
        put_record(&mut self.bytes, binding, position, first, times, &self.body);
        self.bytes.extend_from_slice(record.body);
        self.last = times;
        if self.bytes.len() as u64 >= PIECE {
            self.write()?;
        }
        Ok(())
    }

    fn write(&mut self) -> Result<(), FileError> {
        self.file.write_all_at(&self.bytes, self.written)?;
        self.written += self.bytes.len() as u64;
        self.bytes.clear();
        Ok(())
    }

    /// Makes the segment durable. Returns its entry, or `None` if it is empty.
    fn finish(mut self) -> Result<Option<SegmentEntry>, StoreError> {
        self.write()?;
        if !planted::is(PlantedBug::SkipSyncOfJoined) {
            self.file.sync()?;
        }
        let (number, end, FirstTimes { at: last, wall_clock }) = (self.number, self.written, self.last);
        Ok(self.first.map(|first| {
            let sealed = SealedSegment { first: first.at, last, end, wall_clock };
            SegmentEntry { number, length: end, sealed: Some(sealed) }
        }))
    }
}
