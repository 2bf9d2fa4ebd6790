//! The frame of the file: header, chunks, index, trailer. `docs/format.md` describes the bytes.

use super::FORMAT_VERSION;
use super::codec::rows::MAX_ENTRIES;
use super::codec::vertices::MAX_VERTICES;
use hedgerow_encoding::wire::{DecodeError, Reader};
use hedgerow_model::{CommitTimestamp, LabelId};

/// The first bytes of every checkpoint.
pub(super) const MAGIC: [u8; 8] = *b"HEDGECKP";

/// The last bytes of every checkpoint.
const END: [u8; 4] = *b"HGCE";

/// Bytes before the first chunk.
pub(super) const HEADER_BYTES: usize = 64;

/// Bytes of a chunk's header.
pub(super) const CHUNK_HEADER_BYTES: usize = 32;

/// Bytes of the index per chunk.
pub(super) const INDEX_ENTRY_BYTES: usize = 8 + CHUNK_HEADER_BYTES;

/// Bytes after the index.
pub(super) const TRAILER_BYTES: usize = 32;

fn u16(reader: &mut Reader<'_>) -> Result<u16, DecodeError> {
    reader.array().map(u16::from_le_bytes)
}

fn u32(reader: &mut Reader<'_>) -> Result<u32, DecodeError> {
    reader.array().map(u32::from_le_bytes)
}

fn u64(reader: &mut Reader<'_>) -> Result<u64, DecodeError> {
    reader.array().map(u64::from_le_bytes)
}

/// The header of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CheckpointHeader {
    pub(super) store: [u8; 16],
    pub(super) timestamp: CommitTimestamp,
    pub(super) wall_clock: u64,
}

/// The defect of an invalid header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoCheckpointHeader {
    /// The file is not a checkpoint.
    Foreign,
    /// A later version wrote the file.
    Version(u32),
    Damaged(DecodeError),
}

impl From<DecodeError> for NoCheckpointHeader {
    fn from(error: DecodeError) -> Self {
        NoCheckpointHeader::Damaged(error)
    }
}

impl CheckpointHeader {
    pub(super) fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = Vec::with_capacity(HEADER_BYTES);
        bytes.extend(MAGIC);
        bytes.extend(FORMAT_VERSION.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(self.store);
        bytes.extend(self.timestamp.0.to_le_bytes());
        bytes.extend(self.wall_clock.to_le_bytes());
        bytes.extend([0; 12]);
        bytes.extend(crc32c::crc32c(&bytes).to_le_bytes());
        let mut header = [0; HEADER_BYTES];
        header.copy_from_slice(&bytes);
        header
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self, NoCheckpointHeader> {
        let reader = &mut Reader::new(bytes);
        if !bytes.starts_with(&MAGIC) {
            return Err(NoCheckpointHeader::Foreign);
        }
        reader.take(MAGIC.len())?;
        let version = u32(reader)?;
        if version != FORMAT_VERSION {
            return Err(NoCheckpointHeader::Version(version));
        }
        let reserved = u32(reader)?;
        let header = CheckpointHeader {
            store: reader.array()?,
            timestamp: CommitTimestamp(u64(reader)?),
            wall_clock: u64(reader)?,
        };
        let others = reader.take(12)?;
        check(reader, crc32c::crc32c(&bytes[..reader.position()]))?;
        if reserved != 0 || others != [0; 12] {
            return Err(reader.error("something that only a newer version writes").into());
        }
        Ok(header)
    }

    /// Seed of all checksums of this file, so that no part of another file is valid in it.
    pub(super) fn identity(&self) -> u32 {
        crc32c::crc32c(&self.encode()[..HEADER_BYTES - 4])
    }
}

fn check(reader: &mut Reader<'_>, checksum: u32) -> Result<(), DecodeError> {
    let is_right = u32(reader)? == checksum;
    is_right.then_some(()).ok_or(DecodeError { offset: 0, what: "the checksum does not match" })
}

/// The content of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChunkContent {
    /// The description of the whole graph.
    Description,
    /// Vertices with keys and records.
    Vertices,
    /// Edges of a label, by owner.
    Edges(LabelId),
}

impl ChunkContent {
    fn code(self) -> (u8, u16) {
        match self {
            ChunkContent::Description => (0, 0),
            ChunkContent::Vertices => (1, 0),
            ChunkContent::Edges(label) => (2, label.0),
        }
    }

    fn of_code(kind: u8, label: u16) -> Option<Self> {
        match (kind, label) {
            (0, 0) => Some(ChunkContent::Description),
            (1, 0) => Some(ChunkContent::Vertices),
            (2, label) => Some(ChunkContent::Edges(LabelId(label))),
            _ => None,
        }
    }

    /// The maximum number of entries of a chunk.
    fn most_entries(self) -> usize {
        match self {
            ChunkContent::Description => 1,
            ChunkContent::Vertices => MAX_VERTICES,
            ChunkContent::Edges(_) => MAX_ENTRIES,
        }
    }
}

/// A part of a checkpoint that can be read on its own, and the range that it covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckpointChunk {
    /// The kind of content.
    pub content: ChunkContent,
    /// Number of vertices or edges.
    pub entries: u32,
    /// The first vertex, or the [position](hedgerow_model::EdgeChange::position_of) of the first
    /// edge.
    pub first: u64,
    /// The last vertex, or the position of the last edge.
    pub last: u64,
    /// The chunk's offset in the file.
    pub offset: u64,
    /// Bytes of the body, which follows the chunk's header.
    pub length: u32,
    /// Checksum of the chunk's place in this file, its header and its body.
    pub(super) checksum: u32,
}

impl CheckpointChunk {
    /// The header without the checksum.
    fn coverage(&self) -> [u8; CHUNK_HEADER_BYTES - 4] {
        let (kind, label) = self.content.code();
        let mut bytes = [0; CHUNK_HEADER_BYTES - 4];
        bytes[0] = kind;
        bytes[2..4].copy_from_slice(&label.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.entries.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.first.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.last.to_le_bytes());
        bytes[24..].copy_from_slice(&self.length.to_le_bytes());
        bytes
    }

    /// The checksum of the chunk with this body, in the file of this identity.
    pub(super) fn checksum_of(&self, identity: u32, body: &[u8]) -> u32 {
        crc32c::crc32c_append(self.checksum_before_body(identity), body)
    }

    /// The part of the checksum that does not depend on the body.
    pub(super) fn checksum_before_body(&self, identity: u32) -> u32 {
        let checksum = crc32c::crc32c_append(identity, &self.offset.to_le_bytes());
        crc32c::crc32c_append(checksum, &self.coverage())
    }

    pub(super) fn header(&self) -> [u8; CHUNK_HEADER_BYTES] {
        let mut bytes = [0; CHUNK_HEADER_BYTES];
        let (coverage, checksum) = bytes.split_at_mut(CHUNK_HEADER_BYTES - 4);
        coverage.copy_from_slice(&self.coverage());
        checksum.copy_from_slice(&self.checksum.to_le_bytes());
        bytes
    }

    pub(super) fn put_index_entry(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.offset.to_le_bytes());
        bytes.extend(self.header());
    }

    fn read_index_entry(bytes: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let offset = u64(bytes)?;
        let (kind, reserved, label) = (bytes.byte()?, bytes.byte()?, u16(bytes)?);
        let content = ChunkContent::of_code(kind, label).filter(|_| reserved == 0);
        let content = content.ok_or_else(|| bytes.error("an unknown kind of chunk"))?;
        Ok(CheckpointChunk {
            content,
            offset,
            entries: u32(bytes)?,
            first: u64(bytes)?,
            last: u64(bytes)?,
            length: u32(bytes)?,
            checksum: u32(bytes)?,
        })
    }

    /// The offset of the next chunk, or of the index.
    pub(super) fn end(&self) -> u64 {
        self.offset.saturating_add(CHUNK_HEADER_BYTES as u64 + u64::from(self.length))
    }
}

/// Reads a single entry of an index.
#[cfg(any(test, feature = "simulation"))]
pub(super) fn read_index_entry(bytes: &[u8]) -> Result<CheckpointChunk, DecodeError> {
    CheckpointChunk::read_index_entry(&mut Reader::new(bytes))
}

/// The chunks of an index, which is read piece by piece.
#[derive(Debug, Default)]
pub(super) struct ChunkIndex {
    chunks: Vec<CheckpointChunk>,
}

impl ChunkIndex {
    /// Adds the next entries. Fails unless chunks are contiguous and in the order of their content.
    pub(super) fn add(&mut self, bytes: &[u8]) -> Result<(), DecodeError> {
        let mut reader = Reader::new(bytes);
        while reader.remaining() > 0 {
            let begin = reader.position();
            let chunk = CheckpointChunk::read_index_entry(&mut reader)?;
            let is_in_order = match self.chunks.last() {
                None => chunk.content == ChunkContent::Description && chunk.offset == HEADER_BYTES as u64,
                Some(before) => {
                    let follows = (before.content, before.last) < (chunk.content, chunk.first);
                    before.end() == chunk.offset && chunk.content != ChunkContent::Description && follows
                }
            };
            let entries = chunk.entries as usize;
            let is_possible =
                (1..=chunk.content.most_entries()).contains(&entries) && chunk.first <= chunk.last;
            if !(is_in_order && is_possible) {
                return Err(DecodeError { offset: begin, what: "a chunk out of order" });
            }
            self.chunks.push(chunk);
        }
        Ok(())
    }

    /// Returns all chunks of a file whose index begins at `offset`.
    pub(super) fn finish(self, offset: u64) -> Result<Vec<CheckpointChunk>, DecodeError> {
        match self.chunks.last() {
            Some(last) if last.end() == offset => Ok(self.chunks),
            _ => Err(DecodeError { offset: 0, what: "chunks that don't end where the index begins" }),
        }
    }
}

/// The trailer of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trailer {
    pub(super) index_offset: u64,
    pub(super) chunks: u64,
    /// Checksum of the index, seeded with the identity of the file.
    pub(super) index_checksum: u32,
}

impl Trailer {
    pub(super) fn encode(&self, identity: u32) -> [u8; TRAILER_BYTES] {
        let mut bytes = Vec::with_capacity(TRAILER_BYTES);
        bytes.extend(self.index_offset.to_le_bytes());
        bytes.extend(self.chunks.to_le_bytes());
        bytes.extend(self.index_checksum.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(crc32c::crc32c_append(identity, &bytes).to_le_bytes());
        bytes.extend(END);
        let mut trailer = [0; TRAILER_BYTES];
        trailer.copy_from_slice(&bytes);
        trailer
    }

    /// Decodes the trailer of a file of `file_length` bytes.
    pub(super) fn decode(bytes: &[u8], identity: u32, file_length: u64) -> Result<Self, DecodeError> {
        let reader = &mut Reader::new(bytes);
        let (index_offset, chunks) = (u64(reader)?, u64(reader)?);
        let (index_checksum, reserved) = (u32(reader)?, u32(reader)?);
        check(reader, crc32c::crc32c_append(identity, &bytes[..reader.position()]))?;
        let end = reader.take(END.len())?;
        let index_bytes = chunks.checked_mul(INDEX_ENTRY_BYTES as u64);
        let length = index_bytes.and_then(|index| index.checked_add(index_offset));
        let length = length.and_then(|length| length.checked_add(TRAILER_BYTES as u64));
        if end != END || reserved != 0 || length != Some(file_length) {
            return Err(reader.error("an end that belongs to another file"));
        }
        Ok(Trailer { index_offset, chunks, index_checksum })
    }
}
