//! Edge files: the versions of edges of one adjacency, sorted, in blocks. Written once, never
//! changed.
//!
//! The design follows the edge file of a segment (LSMGraph, 4.2.1), with the offsets of rows moved
//! into the blocks, so the index has an entry per block instead of per vertex. The
//! [rank of an owner](row_index) leads to its row in its block. Records are in a
//! [record file](crate::levels::records).
//!
//! | part | bytes |
//! |---|---|
//! | the first bytes: [`MAGIC`] | 8 |
//! | version of the format | 4 |
//! | type of the values | 4 |
//! | checksum of the header | 4 |
//! | [blocks](crate::levels::block), one after the other | |
//! | index: an [entry](BlockEntry) per block | 28 each |
//! | [the owners](row_index), as a Roaring bitmap | |
//! | footer: offset of the index, numbers of blocks and of versions, bytes of the owners | 8 each |
//! | checksum of the index; of the owners | 4 each |
//! | [entries](EntryCounts): puts, deletions, puts that ascend, deletions that ascend | 8 each |
//! | checksum of the footer | 4 |
//! | the last bytes: [`END`] | 4 |

mod entry_counts;
mod ranks;
mod read_ahead;
mod reader;
mod row_index;
#[cfg(test)]
mod tests;
mod versions;
mod writer;

pub use entry_counts::EntryCounts;
pub(crate) use read_ahead::ForwardReads;
pub use reader::EdgeFile;
pub use row_index::RowPlace;
pub use versions::EdgeFileVersions;
pub use writer::EdgeFileWriter;

use hedgerow_encoding::DecodeError;
use hedgerow_encoding::wire::Reader;
use hedgerow_log::files::File;
use hedgerow_model::{ColumnType, ReadError, VertexId};

const MAGIC: [u8; 8] = *b"HEDGEEDG";
const END: [u8; 4] = *b"HGED";

/// Version of the format, the only one that is written and read.
const FORMAT_VERSION: u32 = 2;

const HEADER_BYTES: usize = 8 + 4 + 4 + 4;
const ENTRY_BYTES: usize = 4 + 4 + 4 + 4 + 8 + 4;
const FOOTER_BYTES: usize = 8 + 8 + 8 + 8 + 4 + 4 + EntryCounts::BYTES + 4 + 4;

/// The place of a block, and the range of its edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BlockEntry {
    first_owner: VertexId,
    /// First neighbor of the first owner, whose row may begin in an earlier block.
    first_neighbor: VertexId,
    last_owner: VertexId,
    length: u32,
    offset: u64,
    checksum: u32,
}

impl BlockEntry {
    fn put(&self, bytes: &mut Vec<u8>) {
        let ids = [self.first_owner, self.first_neighbor, self.last_owner];
        ids.iter().for_each(|id| bytes.extend_from_slice(&id.get().to_le_bytes()));
        bytes.extend_from_slice(&self.length.to_le_bytes());
        bytes.extend_from_slice(&self.offset.to_le_bytes());
        bytes.extend_from_slice(&self.checksum.to_le_bytes());
    }

    fn read(bytes: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut id = || {
            let id = u32::from_le_bytes(bytes.array()?);
            VertexId::try_from(u64::from(id)).map_err(|_| bytes.error("a number that is no vertex id"))
        };
        let (first_owner, first_neighbor, last_owner) = (id()?, id()?, id()?);
        let length = u32::from_le_bytes(bytes.array()?);
        let offset = u64::from_le_bytes(bytes.array()?);
        let checksum = u32::from_le_bytes(bytes.array()?);
        Ok(BlockEntry { first_owner, first_neighbor, last_owner, length, offset, checksum })
    }
}

fn header(column: ColumnType) -> Vec<u8> {
    let mut header = MAGIC.to_vec();
    header.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
    header.extend_from_slice(&code_of(column).to_le_bytes());
    with_checksum(header)
}

fn with_checksum(mut bytes: Vec<u8>) -> Vec<u8> {
    let checksum = crc32c::crc32c(&bytes);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    bytes
}

/// Returns the number that stands for a type of values in files.
fn code_of(column: ColumnType) -> u32 {
    match column {
        ColumnType::Unit => 0,
        ColumnType::U32 => 1,
        ColumnType::U64 => 2,
        ColumnType::I64 => 3,
        ColumnType::F32 => 4,
        ColumnType::F64 => 5,
        ColumnType::Record => 6,
    }
}

/// Returns an error that names the file and the offset.
#[cold]
fn unreadable(
    file: &dyn File,
    offset: u64,
    source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> ReadError {
    ReadError::at(file.path().display(), offset, source)
}
