//! Entries: what one commit made of one vertex, or of one neighbour of a vertex.

use hedgerow_encoding::wire::{DecodeError, Reader, put_bytes, put_varint};
use hedgerow_model::{Direction, LabelId, Timestamp, VertexId};
use hedgerow_sync::Arc;
use std::cmp::Reverse;
use std::ops::Range;

/// The vertices, or one label in one stored direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Table(u32);

impl Table {
    pub(super) const VERTICES: Table = Table(0);

    pub(super) fn of(label: LabelId, stored: Direction) -> Self {
        Table(1 + 2 * u32::from(label.0) + u32::from(stored == Direction::In))
    }

    /// The label and the direction; `None` of the vertices.
    pub(super) fn adjacency(self) -> Option<(LabelId, Direction)> {
        let number = self.0.checked_sub(1)?;
        Some((LabelId((number / 2) as u16), [Direction::Out, Direction::In][number as usize % 2]))
    }
}

/// What an entry is about. Keys ascend in the order in which graphs are scanned. Of a vertex the neighbour is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) table: Table,
    pub(super) owner: u32,
    pub(super) neighbour: u32,
}

impl Key {
    pub(super) const ALL: Range<Key> = Key { table: Table(0), owner: 0, neighbour: 0 }..Key {
        table: Table(u32::MAX),
        owner: 0,
        neighbour: 0,
    };

    pub(super) fn vertex(vertex: VertexId) -> Self {
        Key { table: Table::VERTICES, owner: vertex.get(), neighbour: 0 }
    }

    pub(super) fn edge(table: Table, owner: VertexId, neighbour: VertexId) -> Self {
        Key { table, owner: owner.get(), neighbour: neighbour.get() }
    }

    /// This key alone. The largest vertex id is below the largest number.
    pub(super) fn alone(self) -> Range<Key> {
        self..Key { neighbour: self.neighbour + 1, ..self }
    }

    /// All keys of a table whose owners are in `range`.
    pub(super) fn owned(table: Table, range: Range<u32>) -> Range<Key> {
        let key = |owner| Key { table, owner, neighbour: 0 };
        key(range.start)..key(range.end.max(range.start))
    }
}

/// A key at a commit. Versions of one key follow each other, the newest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version {
    pub(super) key: Key,
    pub(super) at: Reverse<Timestamp>,
}

impl Version {
    /// What all versions of these keys are in.
    pub(super) fn all_of(keys: &Range<Key>) -> Range<Version> {
        let newest = |key| Version { key, at: Reverse(Timestamp(u64::MAX)) };
        newest(keys.start)..newest(keys.end)
    }
}

/// A record, a value, a list of parallel edges; `None` says that the vertex or the neighbour exists no more.
pub(super) type Content = Option<Arc<[u8]>>;

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) version: Version,
    pub(super) content: Content,
}

impl Entry {
    pub(super) fn encode(&self, bytes: &mut Vec<u8>) {
        let Version { key: Key { table, owner, neighbour }, at } = self.version;
        [table.0, owner, neighbour].iter().for_each(|number| put_varint(bytes, u64::from(*number)));
        put_varint(bytes, at.0.0);
        bytes.push(u8::from(self.content.is_some()));
        put_bytes(bytes, self.content.as_deref().unwrap_or_default());
    }

    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Entry, DecodeError> {
        let mut number = || Ok::<_, DecodeError>(reader.varint()? as u32);
        let key = Key { table: Table(number()?), owner: number()?, neighbour: number()? };
        let version = Version { key, at: Reverse(Timestamp(reader.varint()?)) };
        let exists = reader.flag()?;
        let bytes = reader.bytes()?;
        Ok(Entry { version, content: exists.then(|| bytes.into()) })
    }
}
