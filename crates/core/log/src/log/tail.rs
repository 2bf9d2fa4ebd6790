//! The end of the log in memory, where commits are appended and buffered.

use super::sizes::SegmentSizes;
use crate::body::Body;
use crate::error::LogError;
use crate::segment::{
    BATCH_LENGTH, Binding, FirstTimes, HEADER_LENGTH, SegmentHeader, put_batch, put_record, record_length,
};
use crate::store::SealedSegment;
use hedgerow_model::CommitTimestamp;

/// Size from which on a body is moved instead of copied.
const LARGE_BODY: usize = 256 << 10;

/// Maximum bytes of a body: its length is stored in 32 bits.
const LARGEST_BODY: usize = u32::MAX as usize - 64;

/// Maximum capacity of a buffer that is kept for the next batch.
const LARGEST_SPARE: usize = 4 << 20;

/// The end of the log, where commits are appended.
#[derive(Debug)]
pub(super) struct Tail {
    store: [u8; 16],
    salt: u32,
    sizes: SegmentSizes,
    segment: u64,
    /// Bytes of the segment, which one record may exceed.
    segment_bytes: u64,
    /// The times of the segment's first record; `None` before there is one.
    first: Option<FirstTimes>,
    /// The position of the next frame in the segment.
    position: u64,
    last: FirstTimes,
    batch: PendingBatch,
    /// The last commit before the batch.
    before_batch: CommitTimestamp,
    spare: Vec<u8>,
    /// The error with which commits are refused.
    pub(super) refusal: Option<LogError>,
    /// Number of threads that wait for a commit.
    pub(super) following: usize,
}

/// Commits that are written together.
#[derive(Debug, Default)]
pub(super) struct PendingBatch {
    pub(super) pieces: Vec<SegmentPiece>,
    pub(super) bytes: usize,
    /// The last appended commit, in this batch or before it.
    pub(super) last: CommitTimestamp,
}

/// Contiguous bytes of one segment.
#[derive(Debug)]
pub(super) struct SegmentPiece {
    pub(super) segment: u64,
    pub(super) position: u64,
    pub(super) bytes: Vec<u8>,
    /// The offset of the space for the frame that begins the batch.
    batch_frame: Option<usize>,
    /// The content of the previous segment, if the piece begins a segment.
    pub(super) sealed_before: Option<(u64, SealedSegment)>,
    /// True if the piece is a large body, to which nothing is appended.
    is_body: bool,
}

impl SegmentPiece {
    /// Completes the first frame of the batch: `synced` bytes of the segment were durable before
    /// the batch was written.
    pub(super) fn begin_batch(&mut self, salt: u32, synced: u64) {
        if let Some(start) = self.batch_frame {
            let binding = Binding { salt, segment: self.segment };
            put_batch(&mut self.bytes[start..], binding, self.position + start as u64, synced);
        }
    }
}

impl Tail {
    /// A tail that continues after `last` in the empty segment `segment`.
    pub(super) fn new(store: [u8; 16], sizes: SegmentSizes, segment: u64, last: FirstTimes) -> Self {
        let batch = PendingBatch { last: last.at, ..PendingBatch::default() };
        Tail {
            store,
            salt: crc32c::crc32c(&store),
            sizes,
            segment,
            segment_bytes: sizes.of(segment),
            first: None,
            position: 0,
            last,
            batch,
            before_batch: last.at,
            spare: Vec::new(),
            refusal: None,
            following: 0,
        }
    }

    /// Appends consecutive commits from `first` on, all or none. Returns the first commit of their
    /// batch. O(bytes) for small bodies, O(1) for a large one.
    pub(super) fn append(
        &mut self,
        first: CommitTimestamp,
        wall_clock: u64,
        bodies: &mut [Body],
    ) -> Result<CommitTimestamp, LogError> {
        if let Some(refusal) = &self.refusal {
            return Err(refusal.clone());
        }
        if first != self.last.at.next() {
            return Err(LogError::OutOfOrder { expected: self.last.at.next(), found: first });
        }
        if let Some(body) = bodies.iter().find(|body| body.bytes.len() > LARGEST_BODY) {
            return Err(LogError::TooLarge { bytes: body.bytes.len(), limit: LARGEST_BODY });
        }
        let wall_clock = wall_clock.max(self.last.wall_clock);
        for body in bodies {
            self.append_one(FirstTimes { at: self.last.at.next(), wall_clock }, body);
        }
        Ok(self.before_batch.next())
    }

    fn append_one(&mut self, times: FirstTimes, body: &mut Body) {
        let needed = (BATCH_LENGTH + record_length(body.bytes.len())) as u64;
        let sealed_before = match self.first {
            Some(first) if self.position + needed > self.segment_bytes => Some(self.end_segment(first)),
            _ => None,
        };
        self.open_piece(times, sealed_before);
        self.put(times, body);
        self.last = times;
        self.batch.last = times.at;
    }

    /// Ends the segment; the next frame begins the next one.
    fn end_segment(&mut self, first: FirstTimes) -> (u64, SealedSegment) {
        let sealed = self.content(first);
        let ended = (self.segment, sealed);
        (self.segment, self.position, self.first) = (self.segment + 1, 0, None);
        self.segment_bytes = self.sizes.of(self.segment);
        ended
    }

    /// The segment in which the next commit will be, and the bytes of those before it there.
    pub(super) fn end(&self) -> (u64, u64) {
        (self.segment, self.position)
    }

    fn content(&self, first: FirstTimes) -> SealedSegment {
        let FirstTimes { at, wall_clock } = self.last;
        SealedSegment { first: first.at, last: at, end: self.position, wall_clock }
    }

    /// The number of the tail's segment, and its content; `None` if it is empty.
    pub(super) fn current(&self) -> (u64, Option<SealedSegment>) {
        (self.segment, self.first.map(|first| self.content(first)))
    }

    /// Ensures that the last piece accepts appends. Adds the header of a new segment, and space for
    /// the first frame of a new batch.
    fn open_piece(&mut self, times: FirstTimes, sealed_before: Option<(u64, SealedSegment)>) {
        let in_batch = self.batch.pieces.last().filter(|piece| piece.segment == self.segment);
        if in_batch.is_some_and(|piece| !piece.is_body) {
            return;
        }
        let begins_batch = in_batch.is_none();
        let mut bytes = std::mem::take(&mut self.spare);
        if self.first.is_none() {
            let (store, number) = (self.store, self.segment);
            let header = SegmentHeader { store, number, first: times.at, wall_clock: times.wall_clock };
            bytes.extend(header.encode());
            debug_assert_eq!(bytes.len(), HEADER_LENGTH);
            self.first = Some(times);
        }
        let batch_frame = begins_batch.then_some(bytes.len());
        if begins_batch {
            bytes.extend([0; BATCH_LENGTH]);
        }
        let (segment, position) = (self.segment, self.position);
        self.position += bytes.len() as u64;
        self.batch.bytes += bytes.len();
        let piece = SegmentPiece { segment, position, bytes, batch_frame, sealed_before, is_body: false };
        self.batch.pieces.push(piece);
    }

    /// Appends a record to the last piece, and a large body as a separate piece.
    fn put(&mut self, times: FirstTimes, body: &mut Body) {
        let Some(piece) = self.batch.pieces.last_mut() else { return };
        let (segment, length, before) = (self.segment, body.bytes.len(), piece.bytes.len());
        let binding = Binding { salt: self.salt, segment };
        put_record(&mut piece.bytes, binding, self.position, self.first.unwrap_or(times), times, body);
        let header = piece.bytes.len() - before;
        if length < LARGE_BODY {
            piece.bytes.extend_from_slice(&body.bytes);
        } else {
            let (position, bytes) = (self.position + header as u64, std::mem::take(&mut body.bytes));
            let (batch_frame, sealed_before) = (None, None);
            self.batch.pieces.push(SegmentPiece {
                segment,
                position,
                bytes,
                batch_frame,
                sealed_before,
                is_body: true,
            });
        }
        self.position += (header + length) as u64;
        self.batch.bytes += header + length;
    }

    /// Takes the batch, and continues with the buffer `spare`.
    pub(super) fn take(&mut self, mut spare: Vec<u8>) -> PendingBatch {
        spare.clear();
        if spare.capacity() <= LARGEST_SPARE && spare.capacity() > self.spare.capacity() {
            self.spare = spare;
        }
        let next = PendingBatch { last: self.batch.last, ..PendingBatch::default() };
        self.before_batch = self.batch.last;
        std::mem::replace(&mut self.batch, next)
    }

    /// Number of buffered bytes.
    pub(super) fn buffered(&self) -> usize {
        self.batch.bytes
    }

    /// Returns true if half of the segment is full.
    pub(super) fn is_half_full(&self) -> bool {
        self.position >= self.segment_bytes / 2
    }

    /// The last appended commit.
    pub(super) fn last(&self) -> CommitTimestamp {
        self.last.at
    }
}
