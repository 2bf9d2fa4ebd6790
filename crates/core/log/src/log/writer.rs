//! The work of a round's leader: writing the pieces of a batch to their places, and syncing them.

use super::group::Goal;
use super::tail::{PendingBatch, SegmentPiece};
use super::{Durability, Log};
use crate::error::StoreError;
use crate::files::{File, FileError};
use crate::planted::{self, PlantedBug};
use crate::store::mark::Mark;

/// Minimum number of durable bytes that are evicted from memory at a time.
const EVICTED_AT_ONCE: u64 = 1 << 20;

/// Writes the current segment.
#[derive(Debug)]
pub(super) struct SegmentWriter {
    segment: u64,
    file: Box<dyn File>,
    /// Number of durable bytes of the segment.
    synced: u64,
    written: u64,
    /// Number of bytes of the segment that need not stay in memory.
    evicted: u64,
    /// Records the durable commits.
    mark: Mark,
    /// A buffer for reuse.
    spare: Vec<u8>,
}

impl SegmentWriter {
    pub(super) fn new(segment: u64, file: Box<dyn File>, mark: Mark) -> Self {
        SegmentWriter { segment, file, synced: 0, written: 0, evicted: 0, mark, spare: Vec::new() }
    }

    pub(super) fn spare(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.spare)
    }

    /// Writes a batch. Returns true if it and everything before it is durable.
    ///
    /// Checks the lock after the write, before the batch is acknowledged: another writer that
    /// missed the batch read the log before the batch was written, so it had replaced the lock file
    /// by then.
    pub(super) fn write(&mut self, log: &Log, batch: PendingBatch, goal: Goal) -> Result<bool, StoreError> {
        let last = batch.last;
        for mut piece in batch.pieces {
            if piece.segment != self.segment {
                self.roll(log, &piece)?;
            }
            self.write_piece(&mut piece, log.salt)?;
            if piece.bytes.capacity() > self.spare.capacity() {
                self.spare = piece.bytes;
            }
        }
        let is_due = log.options.durability == Durability::Buffered
            && self.written - self.synced >= log.options.unsynced_bytes;
        let sync = goal == Goal::Sync || is_due;
        if planted::is(PlantedBug::MarkEarly) {
            self.mark.set(last)?;
        }
        if sync {
            self.sync()?;
        }
        log.check_lock()?;
        if sync {
            self.mark.set(last)?;
        }
        Ok(sync)
    }

    /// Continues in the next segment. Everything in the current segment is durable before anything
    /// is written to the next one.
    fn roll(&mut self, log: &Log, piece: &SegmentPiece) -> Result<(), StoreError> {
        if !planted::is(PlantedBug::SkipSyncAtRoll) {
            self.sync()?;
        }
        let next = log.shelf.take(|| log.make_segment())?;
        assert_eq!(next.number, piece.segment, "segments are used in the order in which they are made");
        if let Some((number, sealed)) = piece.sealed_before {
            log.seal(number, sealed);
        }
        (self.segment, self.file) = (next.number, next.file);
        (self.synced, self.written, self.evicted) = (0, 0, 0);
        Ok(())
    }

    fn write_piece(&mut self, piece: &mut SegmentPiece, salt: u32) -> Result<(), StoreError> {
        let claimed = match planted::is(PlantedBug::ClaimTooMuch) {
            true => piece.position + piece.bytes.len() as u64,
            false => self.synced,
        };
        piece.begin_batch(salt, claimed);
        let written = match planted::is(PlantedBug::IgnoreShortWrite) {
            true => self.file.write_at(&piece.bytes, piece.position).map(drop),
            false => self.file.write_all_at(&piece.bytes, piece.position),
        };
        match written {
            Err(_) if planted::is(PlantedBug::IgnoreWriteError) => {}
            written => written?,
        }
        self.written = piece.position + piece.bytes.len() as u64;
        Ok(())
    }

    fn sync(&mut self) -> Result<(), FileError> {
        let skip = planted::is(PlantedBug::SkipSync)
            || planted::is(PlantedBug::AcknowledgeEarly) && self.written - self.synced < 200;
        if skip || self.written == self.synced {
            return Ok(());
        }
        match self.file.sync() {
            Err(_) if planted::is(PlantedBug::RetrySync) => self.file.sync()?,
            synced => synced?,
        }
        self.synced = self.written;
        if self.synced - self.evicted >= EVICTED_AT_ONCE {
            // The log is read only at the next opening: pages that readers need are worth more.
            self.file.evict(self.evicted..self.synced);
            self.evicted = self.synced;
        }
        Ok(())
    }
}
