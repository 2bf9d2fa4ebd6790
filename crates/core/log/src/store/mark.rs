//! The mark: the commit up to which the log is durable, stored after each sync in a small separate
//! file.
//!
//! A segment that lost its last batches, or was replaced by an older copy of itself, looks like a
//! log that ends there. The manifest records only the durable end of the log when the manifest was
//! written. The mark records every sync; it is written after the sync has returned and is not
//! synced itself, so it costs commits nothing and may be late, but never early.

use crate::error::StoreError;
use crate::files::{File, FileError, FileSystem, OpenMode};
use hedgerow_model::CommitTimestamp;

/// The name of the mark's file.
pub(crate) const MARK: &str = "DURABLE";

const MAGIC: &[u8; 8] = b"HEDGEDUR";
const LENGTH: usize = 36;

/// The mark of a store, open for updates.
#[derive(Debug)]
pub(crate) struct Mark {
    file: Box<dyn File>,
    store: [u8; 16],
    at: CommitTimestamp,
}

impl Mark {
    /// Creates a mark, replacing the previous one: every commit up to `at` is durable.
    pub(crate) fn create(
        files: &dyn FileSystem,
        store: [u8; 16],
        at: CommitTimestamp,
    ) -> Result<Self, FileError> {
        let file = files.open(MARK, OpenMode::Create)?;
        file.write_all_at(&encode(store, at), 0)?;
        Ok(Mark { file, store, at })
    }

    /// Records that every commit up to `at` is durable. Works in place, so it cannot fail on a full
    /// disk.
    pub(crate) fn set(&mut self, at: CommitTimestamp) -> Result<(), FileError> {
        if at > self.at {
            self.file.write_all_at(&encode(self.store, at), 0)?;
            self.at = at;
        }
        Ok(())
    }
}

/// The commit up to which the store was durable according to the mark; [`CommitTimestamp::ZERO`]
/// without a valid mark of this store: a loss of power may have taken it.
pub(crate) fn read(files: &dyn FileSystem, store: [u8; 16]) -> Result<CommitTimestamp, StoreError> {
    let file = match files.open(MARK, OpenMode::Read) {
        Ok(file) => file,
        Err(error) if error.is_not_found() => return Ok(CommitTimestamp::ZERO),
        Err(error) => return Err(error.into()),
    };
    let mut bytes = [0; LENGTH];
    if file.length()? != LENGTH as u64 {
        return Ok(CommitTimestamp::ZERO);
    }
    file.read_exact_at(&mut bytes, 0)?;
    let mut at = [0; 8];
    at.copy_from_slice(&bytes[24..32]);
    let at = CommitTimestamp(u64::from_le_bytes(at));
    Ok(if bytes == encode(store, at) { at } else { CommitTimestamp::ZERO })
}

fn encode(store: [u8; 16], at: CommitTimestamp) -> [u8; LENGTH] {
    let mut bytes = [0; LENGTH];
    bytes[..8].copy_from_slice(MAGIC);
    bytes[8..24].copy_from_slice(&store);
    bytes[24..32].copy_from_slice(&at.0.to_le_bytes());
    let checksum = crc32c::crc32c(&bytes[..32]);
    bytes[32..].copy_from_slice(&checksum.to_le_bytes());
    bytes
}
