//! The index of the rows of an edge file: the vertices with a row, the block of each row, and the
//! number of the row in the block. A lookup reads no file without edges of the vertex, and searches
//! nothing in a file with edges of it (LSMGraph, 4.2.2).
//!
//! On disk, it is the set of owners, as a
//! [Roaring bitmap](https://github.com/RoaringBitmap/RoaringFormatSpec) without runs. Each owner
//! has one row, so the rank of an owner, minus the rank of the first owner of the block, is the
//! number of its row in the block.

use super::ranks::{Rank, RankedOwners};
use super::{BlockEntry, unreadable};
use crate::levels::block::Block;
use hedgerow_encoding::DecodeError;
use hedgerow_log::files::File;
use hedgerow_model::{ReadError, VertexId};
use hedgerow_sync::OnceLock;
use hedgerow_sync::atomic::{AtomicBool, Ordering};
use roaring::RoaringBitmap;
use std::ops::{ControlFlow, Range};

/// The first bytes of a Roaring bitmap without runs. With runs, a few bytes could stand for owners
/// that take gigabytes in memory.
const WITHOUT_RUNS: [u8; 4] = 12346_u32.to_le_bytes();

/// The place of the row of a vertex in an edge file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowPlace {
    /// The blocks with a part of the row, at least one.
    pub blocks: Range<usize>,
    /// Number of the row in the first of these blocks; in each further block, it is the first row.
    pub row: usize,
}

/// The rows of an edge file, in memory from the first lookup on.
#[derive(Debug)]
pub(super) struct RowIndex {
    /// The place of the set of owners in the file.
    place: Range<u64>,
    checksum: u32,
    loaded: OnceLock<LoadedRows>,
}

impl RowIndex {
    pub(super) fn new(place: Range<u64>, checksum: u32) -> Self {
        RowIndex { place, checksum, loaded: OnceLock::new() }
    }

    /// Returns the rows of the file with these blocks. O(1); the first call takes
    /// O(owners + blocks), with a read of the disk.
    ///
    /// # Errors
    /// The set of owners could not be read, is damaged, or does not fit the blocks.
    #[inline]
    pub(super) fn get(&self, file: &dyn File, blocks: &[BlockEntry]) -> Result<&LoadedRows, ReadError> {
        match self.loaded.get() {
            Some(loaded) => Ok(loaded),
            None => self.load(file, blocks),
        }
    }

    #[cold]
    fn load(&self, file: &dyn File, blocks: &[BlockEntry]) -> Result<&LoadedRows, ReadError> {
        let bytes = file.read_range(self.place.clone());
        let bytes = bytes.map_err(|error| unreadable(file, self.place.start, error))?;
        let rows = match crc32c::crc32c(&bytes) == self.checksum {
            true => read_owners(&bytes).and_then(|owners| LoadedRows::new(&owners, blocks)),
            false => Err("the checksum of the set of owners is wrong".to_owned()),
        };
        let rows = rows.map_err(|what| unreadable(file, self.place.start, what))?;
        Ok(self.loaded.get_or_init(|| rows))
    }

    /// Returns the bytes in memory. O(1).
    pub(super) fn bytes(&self) -> usize {
        self.loaded.get().map_or(0, |rows| rows.owners.bytes() + size_of_val(&*rows.blocks))
    }
}

/// The rows of an edge file.
#[derive(Debug)]
pub(super) struct LoadedRows {
    owners: RankedOwners,
    owner_count: u64,
    blocks: Box<[BlockIndex]>,
}

/// The rows of a block.
#[derive(Debug)]
struct BlockIndex {
    /// Ranks of the first and of the last owner of the block.
    first: u32,
    last: u32,
    /// True if the owners have been compared with the set.
    is_checked: AtomicBool,
}

impl LoadedRows {
    /// Creates the rows of blocks with these owners.
    fn new(owners: &RoaringBitmap, blocks: &[BlockEntry]) -> Result<Self, String> {
        let others = || "the owners are others than those of the blocks".to_owned();
        let mut ranked = RankedOwners::new(owners);
        let rank = |owner: VertexId| ranked.rank(owner.get()).map(|rank| rank.rank).ok_or_else(others);
        let mut rows: Vec<BlockIndex> = Vec::with_capacity(blocks.len());
        for (number, entry) in blocks.iter().enumerate() {
            let (first, last) = (rank(entry.first_owner)?, rank(entry.last_owner)?);
            let before = number.checked_sub(1).map(|before| (blocks[before].last_owner, rows[before].last));
            let expected = before.map_or(0, |(owner, rank)| rank + u32::from(owner != entry.first_owner));
            if first != expected {
                return Err(others());
            }
            rows.push(BlockIndex { first, last, is_checked: AtomicBool::new(false) });
        }
        if rows.last().map_or(0, |block| u64::from(block.last) + 1) != owners.len() {
            return Err(others());
        }
        ranked.set_blocks(rows.iter().map(|block| block.last));
        Ok(LoadedRows { owners: ranked, owner_count: owners.len(), blocks: rows.into() })
    }

    /// Returns the number of owners. O(1).
    pub(super) fn owner_count(&self) -> u64 {
        self.owner_count
    }

    /// Returns the place of the row of an owner; `None` if it has none. O(1): two accesses to
    /// memory, or three if owners are sparse; O(log blocks of 448 ids) for a row near rows that
    /// take many blocks.
    #[inline]
    pub(super) fn find(&self, owner: VertexId) -> Option<RowPlace> {
        let Rank { rank, block: begin } = self.owners.rank(owner.get())?;
        let number = self.first_block_of(rank, begin as usize);
        let block = &self.blocks[number];
        let further = match block.last == rank {
            true => self.blocks[number + 1..].partition_point(|block| block.first == rank),
            false => 0,
        };
        Some(RowPlace { blocks: number..number + 1 + further, row: (rank - block.first) as usize })
    }

    /// Returns the first block with the row of an owner, which is not before `begin`.
    /// O(log distance).
    #[inline]
    fn first_block_of(&self, rank: u32, mut begin: usize) -> usize {
        let mut step = 1;
        loop {
            let end = self.blocks.len().min(begin + step);
            if self.blocks[end - 1].last >= rank {
                return begin + self.blocks[begin..end - 1].partition_point(|block| block.last < rank);
            }
            (begin, step) = (end, 2 * step);
        }
    }

    /// Compares the owners of a block with the set, unless an earlier call did. O(1); the first
    /// call takes O(rows).
    ///
    /// # Errors
    /// The owners differ, or are damaged.
    #[inline]
    pub(super) fn check_once(&self, number: usize, block: &Block<'_>) -> Result<(), DecodeError> {
        let is_checked = &self.blocks[number].is_checked;
        if !is_checked.load(Ordering::Relaxed) {
            self.check(number, block)?;
            is_checked.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Compares the owners of a block with the set. O(rows).
    ///
    /// # Errors
    /// The owners differ, or are damaged.
    #[cold]
    pub(super) fn check(&self, number: usize, block: &Block<'_>) -> Result<(), DecodeError> {
        let BlockIndex { first, last, .. } = self.blocks[number];
        let mut next = first;
        let flow = block.visit_owners(|owners| {
            for owner in owners {
                if self.owners.rank(owner.get()).is_none_or(|found| found.rank != next) {
                    return ControlFlow::Break(());
                }
                next += 1;
            }
            ControlFlow::Continue(())
        })?;
        match flow.is_continue() && next == last + 1 {
            true => Ok(()),
            false => Err(DecodeError { offset: 0, what: "its owners are others than the set of owners has" }),
        }
    }
}

/// Returns the owners in these bytes.
fn read_owners(mut bytes: &[u8]) -> Result<RoaringBitmap, String> {
    if !bytes.starts_with(&WITHOUT_RUNS) {
        return Err("this is no set of owners".to_owned());
    }
    let owners = RoaringBitmap::deserialize_from(&mut bytes);
    let owners = owners.map_err(|error| format!("the set of owners cannot be read: {error}"))?;
    match bytes.is_empty() {
        true => Ok(owners),
        false => Err("something follows the set of owners".to_owned()),
    }
}

/// Appends a set of owners. Returns its number of bytes.
pub(super) fn put_owners(owners: &RoaringBitmap, bytes: &mut Vec<u8>) -> u64 {
    let begin = bytes.len();
    // A `Vec` takes everything that is written to it.
    owners.serialize_into(&mut *bytes).expect("writing to memory does not fail");
    (bytes.len() - begin) as u64
}
