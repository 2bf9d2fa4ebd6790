//! Starting to read blocks before they are needed, so that reading in order waits for the disk once
//! for many blocks, or not at all.

use super::EdgeFile;
use hedgerow_sync::Mutex;
use std::ops::Range;

/// Bytes read ahead of a merge.
const MERGED_BYTES: u64 = 512 << 10;

/// Bytes read ahead of lookups and scans, which may end at any time.
const BYTES: u64 = 256 << 10;

/// Maximum distance between two blocks read one after the other that counts as sequential. Reading
/// the blocks between them takes no longer than reading at two places.
const NEAR: usize = 4;

/// Number of sequential reads before blocks are read ahead.
const SEQUENTIAL: u32 = 2;

/// The progress of reading ahead.
#[derive(Debug, Default)]
pub(super) struct ReadAhead {
    /// End of the blocks that are being read or have been read.
    until: usize,
}

impl ReadAhead {
    /// Starts to read the first of these blocks, which a merge reads one after the other.
    pub(super) fn merge(&mut self, file: &EdgeFile, blocks: &Range<usize>) {
        self.read(file, blocks, MERGED_BYTES);
    }

    /// Starts to read more blocks when at most half of `bytes` are left ahead.
    fn read(&mut self, file: &EdgeFile, blocks: &Range<usize>, bytes: u64) {
        if self.until < file.blocks_within(blocks.start, blocks.end, bytes / 2) {
            let begin = self.until.max(blocks.start);
            self.until = file.blocks_within(blocks.start, blocks.end, bytes);
            file.prefetch(begin..self.until);
        }
    }
}

/// Detects reads of blocks that go forward through a file, and reads ahead of them.
#[derive(Debug, Default)]
pub(crate) struct ForwardReads(Mutex<LastReads>);

#[derive(Debug, Default)]
struct LastReads {
    last: usize,
    /// Number of sequential reads.
    reads: u32,
    ahead: ReadAhead,
}

impl ForwardReads {
    /// Notes that a block is about to be read from the file. O(blocks read ahead). Does nothing
    /// while another thread notes a read.
    pub(crate) fn read(&self, file: &EdgeFile, number: usize) {
        let Some(mut forward) = self.0.try_lock() else { return };
        let is_near = (forward.last + 1..=forward.last + NEAR).contains(&number);
        forward.last = number;
        if !is_near {
            (forward.reads, forward.ahead) = (0, ReadAhead::default());
            return;
        }
        forward.reads = forward.reads.saturating_add(1);
        if forward.reads >= SEQUENTIAL {
            forward.ahead.read(file, &(number..file.blocks()), BYTES);
        }
    }
}
