//! Record files: the records of the edges in an edge file (LSMGraph, 4.2.1: property files).
//!
//! The records of each block are one **chunk**: its records one after the other, each a
//! variable-length number of bytes and the bytes. Where a chunk lies, and its checksum, are in the
//! block, so a scan of the neighbors alone does not read it.
//!
//! | part | bytes |
//! |---|---|
//! | the first bytes: [`MAGIC`] | 8 |
//! | version of the format | 4 |
//! | chunks, one after the other | |

use hedgerow_encoding::DecodeError;
use hedgerow_encoding::wire::{Reader, put_bytes};
use hedgerow_log::files::{File, FileSystem, OpenMode};
use hedgerow_model::{EdgeValue, ReadError, WriteError};

const MAGIC: [u8; 8] = *b"HEDGEREC";

/// The version of the format that is written, and the only one that is read.
const FORMAT_VERSION: u32 = 1;

const HEADER_BYTES: u64 = 8 + 4;

/// Appends a record to a chunk, or to records in memory. Returns its offset, which stands for it in
/// a version.
pub(crate) fn put_record(records: &mut Vec<u8>, record: &[u8]) -> EdgeValue {
    let offset = records.len() as u64;
    put_bytes(records, record);
    EdgeValue(offset)
}

/// The record with an offset.
///
/// # Errors
/// There is no record.
pub(crate) fn record_at(records: &[u8], offset: EdgeValue) -> Result<&[u8], DecodeError> {
    let begin = usize::try_from(offset.0).ok().and_then(|offset| records.get(offset..));
    match begin {
        Some(begin) => Reader::new(begin).bytes(),
        None => Err(Reader::new(records).error("a record beyond the end of the chunk")),
    }
}

/// Where a chunk lies in a record file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ChunkPlace {
    offset: u64,
    length: u32,
    checksum: u32,
}

impl ChunkPlace {
    pub(crate) fn put(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.offset.to_le_bytes());
        bytes.extend_from_slice(&self.length.to_le_bytes());
        bytes.extend_from_slice(&self.checksum.to_le_bytes());
    }

    pub(crate) fn read(bytes: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let offset = u64::from_le_bytes(bytes.array()?);
        let (length, checksum) = (u32::from_le_bytes(bytes.array()?), u32::from_le_bytes(bytes.array()?));
        Ok(ChunkPlace { offset, length, checksum })
    }
}

/// A record file.
#[derive(Debug)]
pub(crate) struct RecordFile {
    file: Box<dyn File>,
    length: u64,
}

impl RecordFile {
    /// Opens the file `name`.
    ///
    /// # Errors
    /// The file could not be read, or is no record file.
    pub(crate) fn open(files: &dyn FileSystem, name: &str) -> Result<Self, ReadError> {
        let unopened = |error| ReadError::new(name.to_owned(), error);
        let file = files.open(name, OpenMode::Read).map_err(unopened)?;
        let length = file.length().map_err(unopened)?;
        let begin = file.read_range(0..length.min(HEADER_BYTES)).map_err(unopened)?;
        match begin == header() {
            true => Ok(RecordFile { file, length }),
            false => Err(ReadError::new(name.to_owned(), "this is no record file of this version")),
        }
    }

    /// Reads a chunk, and compares it with its checksum. One read of the disk.
    ///
    /// # Errors
    /// The chunk could not be read, or is damaged.
    pub(crate) fn read(
        &self,
        ChunkPlace { offset, length, checksum }: ChunkPlace,
    ) -> Result<Vec<u8>, ReadError> {
        let end = offset.checked_add(u64::from(length)).filter(|end| *end <= self.length);
        let end = end.ok_or_else(|| self.unreadable(offset, "a chunk ends beyond the end of the file"))?;
        let bytes = self.file.read_range(offset..end).map_err(|error| self.unreadable(offset, error))?;
        match crc32c::crc32c(&bytes) == checksum {
            true => Ok(bytes),
            false => Err(self.unreadable(offset, "the checksum of the chunk is wrong")),
        }
    }

    /// An error that names the file and the offset.
    #[cold]
    fn unreadable(
        &self,
        offset: u64,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> ReadError {
        ReadError::at(self.file.path().display(), offset, source)
    }
}

fn header() -> Vec<u8> {
    [&MAGIC[..], &FORMAT_VERSION.to_le_bytes()].concat()
}

/// Writes a record file.
#[derive(Debug)]
pub(crate) struct RecordFileWriter {
    name: String,
    file: Box<dyn File>,
    written: u64,
    /// The chunk that is not written yet.
    pub(crate) chunk: Vec<u8>,
}

impl RecordFileWriter {
    /// Creates the file `name`, or replaces it.
    ///
    /// # Errors
    /// The file could not be written.
    pub(crate) fn create(files: &dyn FileSystem, name: &str) -> Result<Self, WriteError> {
        let file =
            files.open(name, OpenMode::Create).map_err(|error| WriteError::new(name.to_owned(), error))?;
        let mut writer = RecordFileWriter { name: name.to_owned(), file, written: 0, chunk: header() };
        writer.write()?;
        Ok(writer)
    }

    /// Writes the chunk, and begins the next one.
    ///
    /// # Errors
    /// The file could not be written.
    pub(crate) fn end_chunk(&mut self) -> Result<ChunkPlace, WriteError> {
        let length = u32::try_from(self.chunk.len());
        let length =
            length.map_err(|_| self.failed("the versions of the record of one edge have more than 4 GiB"))?;
        let (offset, checksum) = (self.written, crc32c::crc32c(&self.chunk));
        self.write()?;
        Ok(ChunkPlace { offset, length, checksum })
    }

    fn write(&mut self) -> Result<(), WriteError> {
        self.file.write_all_at(&self.chunk, self.written).map_err(|error| self.failed(error))?;
        self.written += self.chunk.len() as u64;
        self.chunk.clear();
        Ok(())
    }

    fn failed(&self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> WriteError {
        WriteError::new(format!("{} at byte {}", self.name, self.written), source)
    }

    /// The number of bytes so far. O(1).
    pub(crate) fn bytes(&self) -> u64 {
        self.written + self.chunk.len() as u64
    }

    /// Makes the file durable, but not its name.
    ///
    /// # Errors
    /// The file could not be written.
    pub(crate) fn finish(self) -> Result<(), WriteError> {
        self.file.sync().map_err(|error| self.failed(error))
    }
}
