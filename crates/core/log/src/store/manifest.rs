//! The manifest: the options, the checkpoint and the segments of a store, in one small file that is
//! replaced atomically.

use crate::body::{decode_catalog, encode_catalog, has_newer_types};
use crate::checkpoint::CheckpointEntry;
use crate::error::StoreError;
use crate::files::{FileError, FileOperation, FileSystem, HeldLock, OpenMode};
use crate::planted::{self, PlantedBug};
use crate::segment::{LAST_COUNT, SealedSegment, SegmentEntry};
use crate::store::LOCK;
use hedgerow_encoding::wire::{DecodeError, Reader, put_bytes, put_varint};
use hedgerow_model::{Catalog, CommitTimestamp, KeyKind, Topology};
use std::io;
use std::path::Path;

/// The name of the manifest's file.
pub(crate) const MANIFEST: &str = "MANIFEST";

/// The name under which the next manifest is written.
pub(super) const NEXT: &str = "MANIFEST.new";

const MAGIC: &[u8; 8] = b"HEDGEMAN";
/// The newest version. All versions up to it can be read.
const VERSION: u32 = 4;
/// The first version whose streams have limits and a state. Written only for stores with such
/// streams.
const WITH_STREAMS: u32 = 4;
/// The first version with properties of type `u64`. Written only for stores with such properties,
/// so that older versions of this software read all other stores, and refuse these.
const WITH_U64: u32 = 3;
/// The first version with the lengths of segments and the newest durable commit.
const WITH_LENGTHS: u32 = 2;
/// Bytes of the magic, the version and the length of the content.
const HEADER_LENGTH: usize = 16;

/// Maximum bytes of the file: a million segments, or very many labels.
const LARGEST: u64 = 64 << 20;

/// Bytes of the file that labels leave to segments: enough for some ten thousand segments.
const ROOM_FOR_SEGMENTS: u64 = 1 << 20;

/// The options, the checkpoint and the segments of a store, and the needs of its log's readers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// The id of the store, unique.
    pub store: [u8; 16],
    /// Number of times that the manifest was replaced.
    pub generation: u64,
    /// The options with which the graph was created.
    pub options: StoreOptions,
    /// The log contains every record after this timestamp.
    pub oldest_readable: CommitTimestamp,
    /// The wall-clock time of the commit at `oldest_readable`, in microseconds since 1970-01-01
    /// UTC; 0 if there is none.
    pub oldest_wall_clock: u64,
    /// The newest checkpoint.
    pub checkpoint: Option<CheckpointEntry>,
    /// The read position of each durable stream, ascending by name. The log is kept from the oldest
    /// of them on.
    pub streams: Vec<StreamEntry>,
    /// The timestamp back to which states must be readable, if set.
    pub history: Option<CommitTimestamp>,
    /// The segments of the log, ascending by number.
    pub segments: Vec<SegmentEntry>,
    /// The number of the next new segment. Numbers are not reused.
    pub next_segment: u64,
    /// Every commit up to this one was durable when the manifest was written: a log that ends
    /// earlier is damaged.
    pub durable: CommitTimestamp,
}

/// The options with which a graph was created. They are fixed, except for the catalog, to which
/// labels can be added.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct StoreOptions {
    /// The name of the engine, after [`OWN_FILES`] if it keeps edges in its own files.
    pub engine: String,
    /// The kind of keys.
    pub keys: KeyKind,
    /// The direction of edges, and the ends from which they are stored.
    pub topology: Topology,
    /// True if the endpoints of an edge must exist.
    pub strict: bool,
    /// The labels and schemas.
    pub catalog: Catalog,
}

/// The prefix of [`StoreOptions::engine`] if the engine keeps edges in its own files.
pub const OWN_FILES: &str = "files:";

impl StoreOptions {
    /// The name of the engine, as on the command line.
    #[must_use]
    pub fn engine_name(&self) -> &str {
        self.engine.strip_prefix(OWN_FILES).unwrap_or(&self.engine)
    }
}

/// The read position of a durable stream, and the state of its reader there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamEntry {
    /// The stream.
    pub name: String,
    /// The timestamp up to which the stream was read.
    pub position: CommitTimestamp,
    /// The wall-clock time of the commit at the position, in microseconds since 1970-01-01 UTC; 0
    /// if there is none.
    pub wall_clock: u64,
    /// The log is not kept for the stream if it would have to keep more bytes than this.
    pub most_bytes: u64,
    /// The log is not kept for the stream if the first commit that it has not read is older than
    /// the newest complete segment by more than this, in microseconds.
    pub most_age: u64,
    /// The state of the reader, in bytes of its choice.
    pub state: Box<[u8]>,
}

impl StreamEntry {
    /// A stream that was read up to `position`, without limits or state.
    #[must_use]
    pub fn new(name: &str, position: CommitTimestamp) -> Self {
        let (most_bytes, most_age) = (u64::MAX, u64::MAX);
        StreamEntry {
            name: name.to_owned(),
            position,
            wall_clock: 0,
            most_bytes,
            most_age,
            state: Box::default(),
        }
    }

    fn encode(&self, bytes: &mut Vec<u8>, version: u32) {
        put_bytes(bytes, self.name.as_bytes());
        put_varint(bytes, self.position.0);
        if version >= WITH_STREAMS {
            put_varints(bytes, &[self.wall_clock, self.most_bytes, self.most_age]);
            put_bytes(bytes, &self.state);
        }
    }

    fn decode(reader: &mut Reader<'_>, version: u32) -> Result<Self, DecodeError> {
        let entry = StreamEntry::new(reader.text()?, CommitTimestamp(reader.varint()?));
        if version < WITH_STREAMS {
            return Ok(entry);
        }
        let (wall_clock, most_bytes, most_age) = (reader.varint()?, reader.varint()?, reader.varint()?);
        Ok(StreamEntry { wall_clock, most_bytes, most_age, state: reader.bytes()?.into(), ..entry })
    }
}

/// A failure to replace the manifest.
#[derive(Debug)]
pub(crate) struct NotReplaced {
    pub(crate) error: StoreError,
    /// True if the former manifest is certainly in place: only the next one, in a separate file,
    /// could not be written.
    pub(crate) is_former_in_place: bool,
}

impl From<StoreError> for NotReplaced {
    fn from(error: StoreError) -> Self {
        NotReplaced { error, is_former_in_place: false }
    }
}

const KEY_KINDS: [KeyKind; 3] = [KeyKind::Number, KeyKind::String, KeyKind::Dense];
const TOPOLOGIES: [Topology; 3] = [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected];

impl Manifest {
    /// The name of the manifest's file.
    pub const FILE: &str = MANIFEST;

    /// The manifest of a new store.
    pub(crate) fn new(store: [u8; 16], options: StoreOptions) -> Self {
        Manifest {
            store,
            generation: 0,
            options,
            oldest_readable: CommitTimestamp::ZERO,
            oldest_wall_clock: 0,
            checkpoint: None,
            streams: Vec::new(),
            history: None,
            segments: Vec::new(),
            next_segment: 1,
            durable: CommitTimestamp::ZERO,
        }
    }

    /// Encodes the file.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(MAGIC);
        let version = match () {
            () if self
                .streams
                .iter()
                .any(|stream| *stream != StreamEntry::new(&stream.name, stream.position)) =>
            {
                WITH_STREAMS
            }
            () if has_newer_types(&self.options.catalog) => WITH_U64,
            () => WITH_LENGTHS,
        };
        bytes.extend(version.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(self.store);
        put_varint(&mut bytes, self.generation);
        self.options.encode(&mut bytes);
        put_varints(&mut bytes, &[self.oldest_readable.0, self.oldest_wall_clock]);
        bytes.push(u8::from(self.checkpoint.is_some()));
        if let Some(CheckpointEntry { number, at, length }) = self.checkpoint {
            put_varints(&mut bytes, &[number, at.0, length]);
        }
        put_varint(&mut bytes, self.streams.len() as u64);
        self.streams.iter().for_each(|stream| stream.encode(&mut bytes, version));
        bytes.push(u8::from(self.history.is_some()));
        self.history.iter().for_each(|history| put_varint(&mut bytes, history.0));
        put_varint(&mut bytes, self.segments.len() as u64);
        for SegmentEntry { number, length, sealed } in &self.segments {
            put_varints(&mut bytes, &[*number, *length]);
            bytes.push(u8::from(sealed.is_some()));
            if let Some(SealedSegment { first, last, end, wall_clock }) = *sealed {
                put_varints(&mut bytes, &[first.0, last.0, end, wall_clock]);
            }
        }
        put_varints(&mut bytes, &[self.next_segment, self.durable.0]);
        let length = (bytes.len() - HEADER_LENGTH) as u32;
        bytes[12..HEADER_LENGTH].copy_from_slice(&length.to_le_bytes());
        bytes.extend(crc32c::crc32c(&bytes).to_le_bytes());
        bytes
    }

    /// Decodes the bytes of the file at `path`, which is used only in errors. Total: any bytes give
    /// a manifest or an error.
    ///
    /// # Errors
    /// If the bytes are not a manifest, are damaged, or come from a later version.
    pub fn decode(bytes: &[u8], path: &Path) -> Result<Self, StoreError> {
        let damaged = |offset: usize, what: &str| StoreError::damaged(path, offset, what);
        let Some(header) = bytes.first_chunk::<HEADER_LENGTH>() else {
            return Err(damaged(bytes.len(), "it is shorter than any manifest"));
        };
        let number =
            |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        if &header[..8] != MAGIC {
            return Err(damaged(0, "it is no manifest"));
        }
        let Some((content, checksum)) = bytes.split_last_chunk::<4>() else {
            return Err(damaged(bytes.len(), "it is shorter than any manifest"));
        };
        // Later versions keep the checksum in this place, too.
        if u32::from_le_bytes(*checksum) != crc32c::crc32c(content) {
            return Err(damaged(0, "its checksum is wrong"));
        }
        let version = number(8);
        if version > VERSION {
            return Err(StoreError::NewerFormat { path: path.to_owned(), version });
        }
        if version == 0 {
            return Err(damaged(8, "there is no version 0 of the format"));
        }
        let content = content.get(HEADER_LENGTH..).unwrap_or_default();
        if content.len() != number(12) as usize {
            return Err(damaged(12, "its length is wrong"));
        }
        let manifest = Manifest::decode_content(&mut Reader::new(content), version);
        manifest.map_err(|error| StoreError::undecodable(path, HEADER_LENGTH, error))
    }

    fn decode_content(reader: &mut Reader<'_>, version: u32) -> Result<Self, DecodeError> {
        let added = |reader: &mut Reader<'_>| if version >= WITH_LENGTHS { reader.varint() } else { Ok(0) };
        let manifest = Manifest {
            store: reader.array()?,
            generation: reader.varint()?,
            options: StoreOptions::decode(reader)?,
            oldest_readable: CommitTimestamp(reader.varint()?),
            oldest_wall_clock: reader.varint()?,
            checkpoint: optional(reader, |reader| {
                Ok(CheckpointEntry {
                    number: reader.varint()?,
                    at: CommitTimestamp(reader.varint()?),
                    length: reader.varint()?,
                })
            })?,
            streams: list(reader, |reader| StreamEntry::decode(reader, version))?,
            history: optional(reader, |reader| Ok(CommitTimestamp(reader.varint()?)))?,
            segments: list(reader, |reader| {
                let (number, length) = (reader.varint()?, added(reader)?);
                Ok(SegmentEntry { number, length, sealed: optional(reader, SealedSegment::decode)? })
            })?,
            next_segment: reader.varint()?,
            durable: CommitTimestamp(added(reader)?),
        };
        reader.end()?;
        let numbers = manifest.segments.iter().map(|segment| segment.number);
        if !numbers.chain([manifest.next_segment]).is_sorted_by(|one, next| one < next) {
            return Err(reader.error("the segments do not ascend"));
        }
        let Manifest { generation, oldest_readable, next_segment, durable, .. } = manifest;
        let checkpoint =
            manifest.checkpoint.map_or((0, 0), |checkpoint| (checkpoint.number, checkpoint.at.0));
        let counters = [generation, oldest_readable.0, next_segment, durable.0, checkpoint.0, checkpoint.1];
        let sealed = manifest.segments.iter().filter_map(|segment| Some(segment.sealed?.last.0));
        let streams = manifest.streams.iter().map(|stream| stream.position.0);
        if counters.into_iter().chain(sealed).chain(streams).any(|count| count > LAST_COUNT) {
            return Err(reader.error("a number that leaves no room for further ones"));
        }
        Ok(manifest)
    }

    /// Reads the manifest of a store; `None` if the store has none.
    pub(crate) fn read(files: &dyn FileSystem) -> Result<Option<Self>, StoreError> {
        let file = match files.open(MANIFEST, OpenMode::Read) {
            Ok(file) => file,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let length = file.length()?;
        if length > LARGEST {
            let what = format!("it has {length} bytes, more than the {LARGEST} of any manifest");
            return Err(StoreError::Damaged { path: file.path().to_owned(), offset: LARGEST, what });
        }
        Manifest::decode(&file.read_range(0..length)?, file.path()).map(Some)
    }

    /// Fails if this manifest leaves no room for segments. O(labels + segments).
    pub(crate) fn check_room(&self, files: &dyn FileSystem) -> Result<(), StoreError> {
        check_length(files, self.encode().len(), LARGEST - ROOM_FOR_SEGMENTS)
    }

    /// Replaces the manifest of a store by this one, which becomes the next generation, durably.
    ///
    /// If the store no longer belongs to `lock`, fails and changes nothing.
    pub(crate) fn replace(&mut self, files: &dyn FileSystem, lock: &dyn HeldLock) -> Result<(), NotReplaced> {
        check_lock(files, lock)?;
        let found = Manifest::read(files)?.map(|found| (found.store, found.generation));
        let known = (self.generation > 0).then_some((self.store, self.generation));
        if found != known {
            let what = "was replaced by another process";
            return Err(StoreError::Overtaken { path: files.location().join(MANIFEST), what }.into());
        }
        let next = Manifest { generation: self.generation + 1, ..self.clone() };
        let bytes = next.encode();
        check_length(files, bytes.len(), LARGEST)?;
        let is_former_in_place = !planted::is(PlantedBug::OverwriteManifest);
        write_next(files, &bytes).map_err(|error| NotReplaced { error: error.into(), is_former_in_place })?;
        put_in_place(files).map_err(StoreError::from)?;
        *self = next;
        Ok(())
    }
}

/// Fails if a manifest of `bytes` bytes is larger than `largest`.
fn check_length(files: &dyn FileSystem, bytes: usize, largest: u64) -> Result<(), StoreError> {
    if bytes as u64 <= largest {
        return Ok(());
    }
    let larger = io::Error::other(format!("{bytes} bytes are more than a manifest can have"));
    Err(FileError::new(FileOperation::Write, files.location().join(NEXT), larger).into())
}

/// Fails if another process may have locked the store.
pub(crate) fn check_lock(files: &dyn FileSystem, lock: &dyn HeldLock) -> Result<(), StoreError> {
    match lock.is_held()? {
        true => Ok(()),
        false => {
            let what = "was removed or replaced while it was locked";
            Err(StoreError::Overtaken { path: files.location().join(LOCK), what })
        }
    }
}

/// Writes the next manifest to a separate file, durably.
pub(super) fn write_next(files: &dyn FileSystem, bytes: &[u8]) -> Result<(), FileError> {
    let overwrite = planted::is(PlantedBug::OverwriteManifest);
    let file = files.open(if overwrite { MANIFEST } else { NEXT }, OpenMode::Create)?;
    file.write_all_at(bytes, 0)?;
    match planted::is(PlantedBug::SkipManifestSync) {
        true => Ok(()),
        false => file.sync(),
    }
}

/// Puts the next manifest in the place of the former one, durably.
pub(super) fn put_in_place(files: &dyn FileSystem) -> Result<(), FileError> {
    if !planted::is(PlantedBug::OverwriteManifest) {
        files.rename(NEXT, MANIFEST)?;
    }
    match planted::is(PlantedBug::SkipDirectorySync) {
        true => Ok(()),
        false => files.sync_directory(),
    }
}

impl StoreOptions {
    fn encode(&self, bytes: &mut Vec<u8>) {
        put_bytes(bytes, self.engine.as_bytes());
        let number = |position: Option<usize>| position.unwrap_or_default() as u8;
        bytes.push(number(KEY_KINDS.iter().position(|kind| *kind == self.keys)));
        bytes.push(number(TOPOLOGIES.iter().position(|topology| *topology == self.topology)));
        bytes.push(u8::from(self.strict));
        encode_catalog(bytes, &self.catalog);
    }

    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let engine = reader.text()?.to_owned();
        let keys = KEY_KINDS.get(usize::from(reader.byte()?)).copied();
        let keys = keys.ok_or_else(|| reader.error("an unknown kind of keys"))?;
        let topology = TOPOLOGIES.get(usize::from(reader.byte()?)).copied();
        let topology = topology.ok_or_else(|| reader.error("an unknown topology"))?;
        let (strict, catalog) = (reader.flag()?, decode_catalog(reader)?);
        Ok(StoreOptions { engine, keys, topology, strict, catalog })
    }
}

impl SealedSegment {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let (first, last) = (CommitTimestamp(reader.varint()?), CommitTimestamp(reader.varint()?));
        if last < first {
            return Err(reader.error("a segment ends before it begins"));
        }
        Ok(SealedSegment { first, last, end: reader.varint()?, wall_clock: reader.varint()? })
    }
}

fn put_varints(bytes: &mut Vec<u8>, numbers: &[u64]) {
    numbers.iter().for_each(|number| put_varint(bytes, *number));
}

fn optional<'a, T>(
    reader: &mut Reader<'a>,
    decode: impl FnOnce(&mut Reader<'a>) -> Result<T, DecodeError>,
) -> Result<Option<T>, DecodeError> {
    match reader.flag()? {
        true => decode(reader).map(Some),
        false => Ok(None),
    }
}

fn list<'a, T>(
    reader: &mut Reader<'a>,
    mut decode: impl FnMut(&mut Reader<'a>) -> Result<T, DecodeError>,
) -> Result<Vec<T>, DecodeError> {
    (0..reader.count()?).map(|_| decode(reader)).collect()
}
