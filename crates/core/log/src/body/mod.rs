//! The changes of one commit, as the body of a record.
//!
//! The body contains resolved [`Effects`], so that replaying it gives the same state on every
//! engine, and other data for a replay: the keys of new vertices, a changed catalog, the position
//! of an importer. `docs/format.md` specifies the layout.

mod appended;
mod catalog;
mod edges;
mod gaps;
mod keys;
mod summary;
#[cfg(test)]
mod tests;
mod vertices;

pub use appended::LoggedEdges;
pub(crate) use catalog::{decode_catalog, encode_catalog, has_newer_types};
pub use summary::{CommitSummary, EdgeSummary};

use crate::error::StoreError;
use crate::segment::LogRecord;
use hedgerow_encoding::wire::{DecodeError, Reader, put_bytes};
use hedgerow_model::{
    AppendedEdges, Catalog, EdgeChange, Effects, Key, LabelId, StoredEdge, Topology, VertexId,
};
use std::path::PathBuf;

/// The changes of one commit, to be logged.
#[derive(Clone, Copy)]
pub struct CommitRef<'a> {
    /// The changes.
    pub effects: &'a Effects,
    /// The vertices created, ascending, with their keys. Empty without a dictionary.
    pub keys: &'a [(VertexId, Key)],
    /// The labels and schemas from this commit on, if they changed.
    pub catalog: Option<&'a Catalog>,
    /// The position of an importer in its input, in its own format.
    pub input: Option<&'a [u8]>,
    /// The labels whose edges have records, ascending: the values of their changes are numbers in
    /// [`Effects::records`].
    pub record_labels: &'a [LabelId],
    /// Edges to put, logged in the order of arrival, instead of edges in the effects.
    pub appended: Option<AppendedEdges<'a>>,
    /// The vertices deleted, ascending, with the keys that they had, for those who follow the log:
    /// another vertex may have the id by then. Empty without a dictionary.
    pub former_keys: &'a [(VertexId, Key)],
}

impl<'a> CommitRef<'a> {
    /// A commit that consists only of these changes.
    #[must_use]
    pub fn of(effects: &'a Effects) -> Self {
        CommitRef {
            effects,
            keys: &[],
            catalog: None,
            input: None,
            record_labels: &[],
            appended: None,
            former_keys: &[],
        }
    }
}

/// The changes of one commit, read from the log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoggedCommit {
    /// The changes.
    pub effects: Effects,
    /// The vertices created, ascending, with their keys.
    pub keys: Vec<(VertexId, Key)>,
    /// The labels and schemas from this commit on, if they changed.
    pub catalog: Option<Catalog>,
    /// The position of an importer in its input.
    pub input: Option<Box<[u8]>>,
    /// The labels of edges with records, ascending.
    pub record_labels: Vec<LabelId>,
    /// Edges to put, in the order of arrival. Set only by [`LoggedCommit::decode_canonical`].
    pub appended: Option<LoggedEdges>,
    /// The vertices deleted, ascending, with the keys that they had. Empty in a graph with dense
    /// ids, and in commits of earlier versions.
    pub former_keys: Vec<(VertexId, Key)>,
}

/// The body of a record, ready to be logged. Can be reused.
#[derive(Clone, Debug, Default)]
pub struct Body {
    pub(crate) bytes: Vec<u8>,
    /// CRC32C of the bytes: the part of a record's checksum that does not depend on its position.
    pub(crate) checksum: u32,
}

const VERTICES: u8 = 1;
const KEYS: u8 = 2;
const EDGES: u8 = 4;
const CATALOG: u8 = 8;
const INPUT: u8 = 16;
const APPENDED: u8 = 32;
const FORMER_KEYS: u8 = 64;
const ALL: u8 = VERTICES | KEYS | EDGES | CATALOG | INPUT | APPENDED | FORMER_KEYS;

impl Body {
    /// The bytes of the body.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Encodes `commit`, whose edges are stored according to `topology`. O(changes).
    ///
    /// Writes only one entry of an edge that is stored twice.
    pub fn encode(&mut self, commit: &CommitRef<'_>, topology: Topology) {
        let CommitRef { effects, keys, catalog, input, record_labels, appended, former_keys } = *commit;
        debug_assert!(effects.is_sorted() && (appended.is_none() || effects.adjacencies.is_empty()));
        let section = |present: bool, flag: u8| if present { flag } else { 0 };
        let flags = section(!effects.vertices.is_empty(), VERTICES)
            | section(!keys.is_empty(), KEYS)
            | section(!effects.adjacencies.is_empty(), EDGES)
            | section(catalog.is_some(), CATALOG)
            | section(input.is_some(), INPUT)
            | section(appended.is_some(), APPENDED)
            | section(!former_keys.is_empty(), FORMER_KEYS);
        self.bytes.clear();
        self.bytes.push(flags);
        if !effects.vertices.is_empty() {
            vertices::encode(&mut self.bytes, &effects.vertices);
        }
        if !keys.is_empty() {
            keys::encode(&mut self.bytes, keys);
        }
        if !effects.adjacencies.is_empty() {
            edges::encode(&mut self.bytes, effects, topology, record_labels);
        }
        catalog.into_iter().for_each(|catalog| encode_catalog(&mut self.bytes, catalog));
        input.into_iter().for_each(|input| put_bytes(&mut self.bytes, input));
        appended.into_iter().for_each(|edges| appended::encode(&mut self.bytes, &edges));
        if !former_keys.is_empty() {
            keys::encode(&mut self.bytes, former_keys);
        }
        self.checksum = crc32c::crc32c(&self.bytes);
    }

    /// Encodes a commit of one edge between existing vertices. O(1).
    pub fn encode_edge(&mut self, edge: &StoredEdge, topology: Topology) {
        self.bytes.clear();
        self.bytes.push(EDGES);
        edges::encode_one(&mut self.bytes, edge, topology);
        self.checksum = crc32c::crc32c(&self.bytes);
    }
}

/// Decodes the body of a commit that changed a single edge: its label and canonical entry. `None`
/// for any other body, or invalid bytes. O(1).
#[inline]
#[must_use]
pub fn logged_edge(bytes: &[u8], topology: Topology) -> Option<(LabelId, EdgeChange)> {
    let mut reader = Reader::new(bytes);
    let is_one = reader.byte() == Ok(EDGES);
    is_one.then(|| edges::decode_one(&mut reader, topology))?.filter(|_| reader.end().is_ok())
}

/// Returns true if the commit with this body may delete vertices. O(1).
#[inline]
#[must_use]
pub fn may_delete_vertices(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|flags| flags & VERTICES != 0)
}

impl LogRecord<'_> {
    /// The commit, as [`LoggedCommit::decode_canonical`] returns it.
    ///
    /// # Errors
    /// [`StoreError::Damaged`], in the store at this path.
    pub fn decode(
        &self,
        topology: Topology,
        path: impl FnOnce() -> PathBuf,
    ) -> Result<LoggedCommit, StoreError> {
        LoggedCommit::decode_canonical(self.body, topology).map_err(|error| self.damaged(path(), &error))
    }

    /// The keys that the commit gives to vertices: to those that it creates, and to those that it
    /// deletes, which it may have created itself. Edges are decoded only if vertices are deleted.
    /// O(vertices that it creates or changes); O(changes) if it deletes some.
    ///
    /// # Errors
    /// As [`LogRecord::decode`].
    pub fn keys(
        &self,
        topology: Topology,
        path: impl FnOnce() -> PathBuf,
    ) -> Result<Vec<(VertexId, Key)>, StoreError> {
        if self.body.first().is_some_and(|flags| flags & FORMER_KEYS != 0) {
            let LoggedCommit { mut keys, former_keys, .. } = self.decode(topology, path)?;
            keys.extend(former_keys);
            return Ok(keys);
        }
        created_keys(self.body).map_err(|error| self.damaged(path(), &error))
    }

    fn damaged(&self, path: PathBuf, error: &DecodeError) -> StoreError {
        let what = format!("the commit of timestamp {} cannot be read: {error}", self.at);
        StoreError::Damaged { path, offset: 0, what }
    }
}

/// The vertices that a commit creates, with their keys.
fn created_keys(bytes: &[u8]) -> Result<Vec<(VertexId, Key)>, DecodeError> {
    let mut reader = Reader::new(bytes);
    let flags = reader.byte()?;
    if flags & KEYS == 0 {
        return Ok(Vec::new());
    }
    if flags & VERTICES != 0 {
        vertices::decode(&mut reader)?;
    }
    keys::decode(&mut reader)
}

impl LoggedCommit {
    /// The commit, to be logged again, without its appended edges.
    #[must_use]
    pub fn to_log(&self) -> CommitRef<'_> {
        let LoggedCommit { effects, keys, catalog, input, record_labels, appended: _, former_keys } = self;
        let (catalog, input) = (catalog.as_ref(), input.as_deref());
        CommitRef { keys, catalog, input, record_labels, former_keys, ..CommitRef::of(effects) }
    }

    /// Decodes the body of a record of a graph with this topology. O(changes · log changes).
    ///
    /// Allocates memory in proportion to the actual bytes, regardless of the counts in them: at
    /// most 24 bytes per stored entry, value or record, each of which takes at least one byte of
    /// the body.
    ///
    /// # Errors
    /// If the bytes are not a body.
    pub fn decode(bytes: &[u8], topology: Topology) -> Result<Self, DecodeError> {
        let mut commit = LoggedCommit::decode_canonical(bytes, topology)?;
        commit.sort_appended(topology);
        commit.add_other_ends(topology);
        Ok(commit)
    }

    /// Adds the entries of the other ends to the entries decoded by
    /// [`LoggedCommit::decode_canonical`]. O(changes · log changes).
    pub fn add_other_ends(&mut self, topology: Topology) {
        let canonical = std::mem::take(&mut self.effects.adjacencies);
        let stored = canonical.into_iter().flat_map(|edges| edges.with_other_ends(topology, None));
        self.effects.adjacencies.extend(stored);
    }

    /// Turns appended edges into sorted effects: canonical entries; of equal entries, only the
    /// last. O(edges · log edges).
    pub fn sort_appended(&mut self, topology: Topology) {
        let appended = self.appended.take().into_iter();
        self.effects.adjacencies.extend(appended.map(|edges| edges.sorted(topology)));
    }

    /// Like [`LoggedCommit::decode`], but with each edge once, as its canonical entry, for callers
    /// that sort the changes of many commits anyway. Appended edges stay in the order of arrival.
    /// O(changes).
    ///
    /// # Errors
    /// If the bytes are not a body.
    pub fn decode_canonical(bytes: &[u8], topology: Topology) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        let flags = reader.byte()?;
        if flags & !ALL != 0 {
            return Err(reader.error("unknown sections"));
        }
        if flags & EDGES != 0 && flags & APPENDED != 0 {
            return Err(reader.error("edges both sorted and as they came"));
        }
        let mut commit = LoggedCommit::default();
        if flags & VERTICES != 0 {
            commit.effects.vertices = vertices::decode(&mut reader)?;
        }
        if flags & KEYS != 0 {
            commit.keys = keys::decode(&mut reader)?;
        }
        if flags & EDGES != 0 {
            edges::decode(&mut reader, topology, &mut commit)?;
        }
        if flags & CATALOG != 0 {
            commit.catalog = Some(decode_catalog(&mut reader)?);
        }
        if flags & INPUT != 0 {
            commit.input = Some(reader.bytes()?.into());
        }
        if flags & APPENDED != 0 {
            commit.appended = Some(appended::decode(&mut reader)?);
        }
        if flags & FORMER_KEYS != 0 {
            commit.former_keys = keys::decode(&mut reader)?;
        }
        reader.end()?;
        Ok(commit)
    }
}
