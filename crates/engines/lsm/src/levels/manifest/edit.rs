//! The state that the manifest describes, and its changes.

use super::PREFIX;
use crate::levels::edge_file::EdgeFile;
use hedgerow_encoding::DecodeError;
use hedgerow_encoding::wire::{Reader, put_bytes, put_varint};
use hedgerow_log::files::FileSystem;
use hedgerow_model::{ColumnType, CommitTimestamp, Counts, CountsBeside, EngineError, LabelId, WriteError};
use hedgerow_sync::Arc;
use std::collections::BTreeMap;

/// The lowest possible level.
pub(crate) const MAX_LEVEL: u32 = 63;

/// An edge file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileEntry {
    /// Number of the file. On level 0, newer files have greater numbers.
    pub number: u64,
    /// Number of the adjacency, assigned by the engine.
    pub adjacency: u32,
    /// The level of the file; 0 is the newest.
    pub level: u32,
    /// Length in bytes, including the records of the edges.
    pub bytes: u64,
}

impl FileEntry {
    /// Returns the name of the edge file with this number.
    #[must_use]
    pub fn name_of(number: u64) -> String {
        format!("{PREFIX}{number:08}.edges")
    }

    /// Returns the number of an edge file by its name, or by the name of the file with its records;
    /// `None` for other names.
    pub(super) fn number_of(name: &str) -> Option<u64> {
        let number = name.strip_prefix(PREFIX)?.split_once('.')?.0.parse().ok()?;
        let edges = FileEntry::name_of(number);
        (name == edges || name == EdgeFile::records_name(&edges)).then_some(number)
    }

    /// Removes the file and the file with its records, if they exist.
    ///
    /// # Errors
    /// A file could not be removed.
    pub(crate) fn remove(&self, files: &dyn FileSystem, column: ColumnType) -> Result<(), EngineError> {
        let name = FileEntry::name_of(self.number);
        let records = (column == ColumnType::Record).then(|| EdgeFile::records_name(&name));
        for name in [Some(name), records].into_iter().flatten() {
            match files.remove(&name) {
                Err(error) if !error.is_not_found() => return Err(WriteError::new(name, error).into()),
                _ => {}
            }
        }
        Ok(())
    }
}

/// The commit that the last flush reached, and the data kept with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlushPoint {
    /// The files have all changes up to this commit, and none after it.
    pub durable_through: CommitTimestamp,
    /// The size of the graph at [`FlushPoint::durable_through`].
    pub counts: Counts,
    /// Data of the store other than the graph, in an encoding of the store.
    pub note: Vec<u8>,
}

/// The edge files, and the point of the last flush.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LevelState {
    /// The edge files, by number.
    pub files: BTreeMap<u64, FileEntry>,
    /// The point that the last flush reached.
    pub flushed: FlushPoint,
}

impl LevelState {
    pub(super) fn apply(&mut self, edit: &Edit) {
        for number in &edit.removed {
            self.files.remove(number);
        }
        self.files.extend(edit.added.iter().map(|file| (file.number, *file)));
        self.flushed = edit.flushed.clone();
    }

    /// Returns the edit that leads from the empty state to this one.
    pub(super) fn as_edit(&self) -> Edit {
        Edit {
            added: self.files.values().copied().collect(),
            removed: Vec::new(),
            flushed: self.flushed.clone(),
        }
    }
}

/// A change of the state: a flush adds files and advances the commit, a compaction replaces files.
///
/// Encoded as variable-length numbers: the commit; the vertex bound, the number of vertices, the
/// number of labels; per label, the numbers of its edges, of uncertain ones among them, and of its
/// parallel edges; the length of the note, the note; the number of added files; per added file, its
/// number, adjacency, level and bytes; the number of removed files, and their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edit {
    /// New files.
    pub added: Vec<FileEntry>,
    /// Numbers of files that are no longer read.
    pub removed: Vec<u64>,
    /// The point of the last flush after the edit.
    pub flushed: FlushPoint,
}

impl Edit {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_varint(&mut bytes, self.flushed.durable_through.0);
        put_counts(&mut bytes, &self.flushed.counts);
        put_bytes(&mut bytes, &self.flushed.note);
        let added = self
            .added
            .iter()
            .flat_map(|file| [file.number, u64::from(file.adjacency), u64::from(file.level), file.bytes]);
        let removed = std::iter::once(self.removed.len() as u64).chain(self.removed.iter().copied());
        put_varint(&mut bytes, self.added.len() as u64);
        added.chain(removed).for_each(|number| put_varint(&mut bytes, number));
        bytes
    }

    /// Returns the edit that these bytes consist of, and the number of the bytes.
    pub(super) fn decode(bytes: &mut Reader<'_>) -> Result<(Self, usize), DecodeError> {
        let flushed = FlushPoint {
            durable_through: CommitTimestamp(bytes.varint()?),
            counts: read_counts(bytes)?,
            note: bytes.bytes()?.to_vec(),
        };
        let file = |bytes: &mut Reader<'_>| {
            let (number, adjacency, level) = (bytes.varint()?, small(bytes)?, small(bytes)?);
            if level > MAX_LEVEL {
                return Err(bytes.error("a level that does not exist"));
            }
            Ok(FileEntry { number, adjacency, level, bytes: bytes.varint()? })
        };
        let added = (0..bytes.count()?).map(|_| file(bytes)).collect::<Result<_, _>>()?;
        let removed = (0..bytes.count()?).map(|_| bytes.varint()).collect::<Result<_, _>>()?;
        bytes.end()?;
        Ok((Edit { added, removed, flushed }, bytes.position()))
    }
}

fn put_counts(bytes: &mut Vec<u8>, counts: &Counts) {
    let labels = counts.edges.len().max(counts.beside.as_ref().map_or(0, |beside| beside.len()));
    let head = [u64::from(counts.vertex_bound), counts.vertices, labels as u64];
    let of_labels = (0..labels).flat_map(|label| {
        // The catalog checked that its labels fit in 16 bits.
        let CountsBeside { parallel, uncertain } = counts.beside_of(LabelId(label as u16));
        [counts.edges.get(label).copied().unwrap_or(0), uncertain, parallel]
    });
    head.into_iter().chain(of_labels).for_each(|number| put_varint(bytes, number));
}

fn read_counts(bytes: &mut Reader<'_>) -> Result<Counts, DecodeError> {
    let mut counts = Counts { vertex_bound: small(bytes)?, vertices: count(bytes)?, ..Counts::default() };
    let mut beside = Vec::new();
    for _ in 0..bytes.count()? {
        counts.edges.push(count(bytes)?);
        let uncertain = count(bytes)?;
        beside.push(CountsBeside { parallel: count(bytes)?, uncertain });
    }
    if beside.iter().any(|beside| *beside != CountsBeside::default()) {
        counts.beside = Some(Arc::new(beside));
    }
    Ok(counts)
}

/// Reads a count, which can grow without an overflow.
fn count(bytes: &mut Reader<'_>) -> Result<u64, DecodeError> {
    let number = bytes.varint()?;
    if number < 1 << 56 { Ok(number) } else { Err(bytes.error("a count that is too large")) }
}

/// Reads a number below 2^32.
fn small(bytes: &mut Reader<'_>) -> Result<u32, DecodeError> {
    let number = bytes.varint()?;
    u32::try_from(number).map_err(|_| bytes.error("a number that is too large"))
}
