//! Entries: the effect of one commit on one vertex, or on one neighbor of a vertex.

use hedgerow_encoding::EntryKey;
use hedgerow_encoding::wire::{DecodeError, Reader, put_bytes, put_varint};
use hedgerow_model::{CommitTimestamp, Direction, LabelId, VertexId};
use hedgerow_sync::Arc;
use std::cmp::Reverse;
use std::ops::Range;

/// The number of the vertex table, or of the table of one label in one stored direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Table(u32);

impl Table {
    pub(super) const VERTICES: Table = Table(0);

    pub(super) fn of(label: LabelId, stored: Direction) -> Self {
        Table(1 + 2 * u32::from(label.0) + u32::from(stored == Direction::In))
    }

    pub(super) fn key(self, entry: EntryKey) -> Key {
        Key { table: self, entry }
    }

    pub(super) fn keys(self, entries: Range<EntryKey>) -> Range<Key> {
        self.key(entries.start)..self.key(entries.end)
    }

    /// Returns all keys of all tables.
    pub(super) fn all() -> Range<Key> {
        Table(0).key(EntryKey { owner: 0, neighbor: 0 })
            ..Table(u32::MAX).key(EntryKey { owner: 0, neighbor: 0 })
    }

    /// Returns the label and the direction; `None` for the vertices.
    pub(super) fn adjacency(self) -> Option<(LabelId, Direction)> {
        let number = self.0.checked_sub(1)?;
        Some((LabelId((number / 2) as u16), [Direction::Out, Direction::In][number as usize % 2]))
    }
}

/// The key of an entry. For a vertex the neighbor is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) table: Table,
    pub(super) entry: EntryKey,
}

impl Key {
    pub(super) fn vertex(vertex: VertexId) -> Self {
        Table::VERTICES.key(EntryKey::new(vertex, VertexId::new(0)))
    }

    pub(super) fn alone(self) -> Range<Key> {
        self.table.keys(self.entry.alone())
    }
}

/// A key at a commit. Versions of one key follow each other, the newest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version {
    pub(super) key: Key,
    pub(super) at: Reverse<CommitTimestamp>,
}

impl Version {
    /// Returns the range of all versions of these keys.
    pub(super) fn all_of(keys: &Range<Key>) -> Range<Version> {
        let newest = |key| Version { key, at: Reverse(CommitTimestamp(u64::MAX)) };
        newest(keys.start)..newest(keys.end)
    }
}

/// A record, a value, or a list of parallel edges; `None` if the vertex or the neighbor no longer
/// exists.
pub(super) type Content = Option<Arc<[u8]>>;

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) version: Version,
    pub(super) content: Content,
}

impl Entry {
    pub(super) fn encode(&self, bytes: &mut Vec<u8>) {
        let Version { key: Key { table, entry: EntryKey { owner, neighbor } }, at } = self.version;
        [table.0, owner, neighbor].iter().for_each(|number| put_varint(bytes, u64::from(*number)));
        put_varint(bytes, at.0.0);
        bytes.push(u8::from(self.content.is_some()));
        put_bytes(bytes, self.content.as_deref().unwrap_or_default());
    }

    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Entry, DecodeError> {
        let mut number = || Ok::<_, DecodeError>(reader.varint()? as u32);
        let table = Table(number()?);
        let key = table.key(EntryKey { owner: number()?, neighbor: number()? });
        let version = Version { key, at: Reverse(CommitTimestamp(reader.varint()?)) };
        let exists = reader.flag()?;
        let bytes = reader.bytes()?;
        Ok(Entry { version, content: exists.then(|| bytes.into()) })
    }
}
