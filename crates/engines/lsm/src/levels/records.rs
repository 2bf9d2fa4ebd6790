//! Record files: the records of the edges in an edge file (LSMGraph, 4.2.1: property files).
//!
//! The records of each block form one **chunk**: one record after the other, each as a
//! variable-length number of bytes and the bytes. The block has the place of its chunk, and a
//! checksum, so a scan of only the neighbors does not read the chunk.
//!
//! | part | bytes |
//! |---|---|
//! | the first bytes: [`MAGIC`] | 8 |
//! | version of the format | 4 |
//! | chunks, one after the other: [stretches](hedgerow_log::stretch), compressed if smaller | |
//!
//! Offsets of records are offsets in the uncompressed chunk.

use hedgerow_encoding::DecodeError;
use hedgerow_encoding::wire::{Reader, put_bytes};
use hedgerow_log::files::{File, FileSystem, OpenMode};
use hedgerow_log::stretch::{put_plain_stretch, put_stretch, read_stretch};
use hedgerow_model::{EdgeValue, ReadError, WriteError};
use std::borrow::Cow;

const MAGIC: [u8; 8] = *b"HEDGEREC";

/// Version of the format, the only one that is written and read.
const FORMAT_VERSION: u32 = 1;

const HEADER_BYTES: u64 = 8 + 4;

/// Appends a record to a chunk, or to records in memory. Returns its offset, which stands for the
/// record in a version.
#[doc(hidden)]
pub fn put_record(records: &mut Vec<u8>, record: &[u8]) -> EdgeValue {
    let offset = records.len() as u64;
    put_bytes(records, record);
    EdgeValue(offset)
}

/// Returns the record at an offset.
///
/// # Errors
/// There is no record at the offset.
pub(crate) fn record_at(records: &[u8], offset: EdgeValue) -> Result<&[u8], DecodeError> {
    let begin = usize::try_from(offset.0).ok().and_then(|offset| records.get(offset..));
    match begin {
        Some(begin) => Reader::new(begin).bytes(),
        None => Err(Reader::new(records).error("a record beyond the end of the chunk")),
    }
}

/// The records of a chunk, each of one version. So all records that are read together take no more
/// memory than the chunk, whatever the offsets are.
#[derive(Debug)]
pub(crate) struct DisjointRecords<'r> {
    records: &'r [u8],
    /// Bytes of the records that can still be read.
    left: usize,
}

impl<'r> DisjointRecords<'r> {
    pub(crate) fn new(records: &'r [u8]) -> Self {
        DisjointRecords { records, left: records.len() }
    }

    /// Returns the record at an offset that was not read before.
    ///
    /// # Errors
    /// There is no record at the offset, or records overlap.
    #[inline]
    pub(crate) fn at(&mut self, offset: EdgeValue) -> Result<&'r [u8], DecodeError> {
        let record = record_at(self.records, offset)?;
        match self.left.checked_sub(record.len()) {
            Some(left) => self.left = left,
            None => return Err(Reader::new(self.records).error("records that overlap")),
        }
        Ok(record)
    }
}

/// The place of a chunk in a record file, and the checksum of its bytes there.
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
        file.expect_random_reads();
        let begin = file.read_range(0..length.min(HEADER_BYTES)).map_err(unopened)?;
        match begin == header() {
            true => Ok(RecordFile { file, length }),
            false => Err(ReadError::new(name.to_owned(), "this is no record file of this version")),
        }
    }

    /// Reads the records in a chunk, after comparing it with its checksum. One read of the disk.
    /// Takes at most 1 MiB of memory, or eight times the bytes of the chunk in the file.
    ///
    /// # Errors
    /// The chunk could not be read, is damaged, or is compressed and the feature `compression` of
    /// `hedgerow-log` is off.
    pub(crate) fn read(&self, chunk: ChunkPlace) -> Result<Vec<u8>, ReadError> {
        let bytes = self.read_stored(chunk)?;
        let mut reader = Reader::new(&bytes);
        let records = read_stretch(&mut reader).and_then(|records| reader.end().map(|()| records));
        records.map(Cow::into_owned).map_err(|error| {
            self.unreadable(chunk.offset + error.offset as u64, format!("in a chunk: {}", error.what))
        })
    }

    /// Reads a chunk as it is in the file, after comparing it with its checksum.
    pub(crate) fn read_stored(
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

    /// Returns an error that names the file and the offset.
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
    is_compressed: bool,
    /// The records of the chunk that is not written yet.
    pub(crate) chunk: Vec<u8>,
    /// Memory for the form of the chunk in the file.
    stored: Vec<u8>,
}

impl RecordFileWriter {
    /// Creates the file `name`, or replaces it. Chunks are compressed if they become smaller.
    ///
    /// # Errors
    /// The file could not be written.
    pub(crate) fn create(files: &dyn FileSystem, name: &str) -> Result<Self, WriteError> {
        let file =
            files.open(name, OpenMode::Create).map_err(|error| WriteError::new(name.to_owned(), error))?;
        let (name, chunk, stored) = (name.to_owned(), Vec::new(), header());
        let mut writer = RecordFileWriter { name, file, written: 0, is_compressed: true, chunk, stored };
        writer.write()?;
        Ok(writer)
    }

    /// Compresses later chunks if they become smaller, or never.
    pub(crate) fn set_compressed(&mut self, is_compressed: bool) {
        self.is_compressed = is_compressed;
    }

    /// Writes the chunk, and begins the next one.
    ///
    /// # Errors
    /// The file could not be written.
    pub(crate) fn end_chunk(&mut self) -> Result<ChunkPlace, WriteError> {
        let put = if self.is_compressed { put_stretch } else { put_plain_stretch };
        put(&mut self.stored, &self.chunk);
        // Offsets of records have 32 bits, too.
        let length = u32::try_from(self.chunk.len()).and_then(|_| u32::try_from(self.stored.len()));
        let length =
            length.map_err(|_| self.failed("the versions of the record of one edge have more than 4 GiB"))?;
        let (offset, checksum) = (self.written, crc32c::crc32c(&self.stored));
        self.write()?;
        self.chunk.clear();
        Ok(ChunkPlace { offset, length, checksum })
    }

    fn write(&mut self) -> Result<(), WriteError> {
        self.file.write_all_at(&self.stored, self.written).map_err(|error| self.failed(error))?;
        self.written += self.stored.len() as u64;
        self.stored.clear();
        Ok(())
    }

    fn failed(&self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> WriteError {
        WriteError::new(format!("{} at byte {}", self.name, self.written), source)
    }

    /// Returns the number of bytes so far, without the chunk that is not written yet. O(1).
    pub(crate) fn bytes(&self) -> u64 {
        self.written
    }

    /// Makes the file durable, but not its name.
    ///
    /// # Errors
    /// The file could not be written.
    pub(crate) fn finish(self) -> Result<(), WriteError> {
        self.file.sync().map_err(|error| self.failed(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_testing::simulated::SimulatedFiles;
    use proptest::prelude::*;

    const NAME: &str = "a.records";

    fn directory() -> SimulatedFiles {
        let files = SimulatedFiles::new(1);
        files.create_directory().unwrap();
        files
    }

    /// Returns a file with one chunk of these records.
    fn written(files: &SimulatedFiles, records: &[Vec<u8>], is_compressed: bool) -> (RecordFile, ChunkPlace) {
        let mut writer = RecordFileWriter::create(files, NAME).unwrap();
        writer.set_compressed(is_compressed);
        records.iter().for_each(|record| _ = put_record(&mut writer.chunk, record));
        let place = writer.end_chunk().unwrap();
        writer.finish().unwrap();
        (RecordFile::open(files, NAME).unwrap(), place)
    }

    /// Returns a file that has these bytes as a chunk, with the right checksum.
    fn with_chunk(stored: &[u8]) -> (RecordFile, ChunkPlace) {
        let files = directory();
        let file = files.open(NAME, OpenMode::Create).unwrap();
        file.write_all_at(&[&header(), stored].concat(), 0).unwrap();
        let (length, checksum) = (stored.len() as u32, crc32c::crc32c(stored));
        (RecordFile::open(&files, NAME).unwrap(), ChunkPlace { offset: HEADER_BYTES, length, checksum })
    }

    #[test]
    fn chunks_are_compressed_if_they_become_smaller() {
        let alike = vec![b"knows since 2026".to_vec(); 20];
        let short = vec![vec![1, 2, 3]];
        for (records, is_compressed, is_smaller) in
            [(&alike, true, true), (&alike, false, false), (&short, true, false), (&vec![], true, false)]
        {
            let (file, place) = written(&directory(), records, is_compressed);
            let mut expected = Vec::new();
            records.iter().for_each(|record| _ = put_record(&mut expected, record));
            assert_eq!((place.length as usize) < expected.len(), is_smaller, "{records:?}");
            assert_eq!(file.read(place), Ok(expected));
        }
    }

    #[test]
    fn a_chunk_that_promises_too_much_is_refused() {
        let alike = vec![vec![7; 1000]; 20];
        let (file, place) = written(&directory(), &alike, true);
        let stored = file.file.read_range(place.offset..file.length).unwrap();
        // The form is followed by the length of the records, in three bytes.
        let promises = |length: u64| {
            let mut changed = vec![stored[0]];
            hedgerow_encoding::wire::put_varint(&mut changed, length);
            changed.extend_from_slice(&stored[4..]);
            let (file, place) = with_chunk(&changed);
            file.read(place).map(|records| records.len()).map_err(|error| error.to_string())
        };
        assert_eq!(promises(20 * 1002), Ok(20 * 1002));
        for length in [0, 20 * 1002 - 1, 20 * 1002 + 1, 1 << 20, (1 << 20) + 1, 1 << 40, u64::MAX] {
            let error = promises(length).unwrap_err();
            assert!(error.contains("a.records at byte") && error.contains("in a chunk: "), "{error}");
        }
    }

    #[test]
    fn records_that_overlap_are_refused() {
        let mut records = Vec::new();
        let offset = put_record(&mut records, &[1; 50]);
        let empty = put_record(&mut records, &[]);
        let mut disjoint = DisjointRecords::new(&records);
        assert_eq!(disjoint.at(offset), Ok(&[1; 50][..]));
        assert_eq!(disjoint.at(empty), Ok(&[][..]));
        assert_eq!(disjoint.at(offset).unwrap_err().what, "records that overlap");
        assert!(disjoint.at(EdgeValue(53)).is_err() && disjoint.at(EdgeValue(u64::MAX)).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_chunk_or_an_error(
            form in 0..3u8,
            rest in prop::collection::vec(prop_oneof![0..40u8, any::<u8>()], 0..60),
        ) {
            let (file, place) = with_chunk(&[&[form][..], &rest].concat());
            if let Ok(records) = file.read(place) {
                (0..80).for_each(|offset| _ = record_at(&records, EdgeValue(offset)));
            }
        }

        #[test]
        fn a_changed_chunk_with_its_checksum_is_read_or_an_error(
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        ) {
            let (file, place) = written(&directory(), &vec![b"knows since 2026".to_vec(); 20], true);
            let mut stored = file.file.read_range(place.offset..file.length).unwrap();
            for (place, byte) in changes {
                let place = place.index(stored.len());
                stored[place] = byte;
            }
            let (file, place) = with_chunk(&stored);
            prop_assert!(file.read(place).map_or(true, |records| records.len() <= 1 << 20));
        }
    }
}
