//! Changes in memory, in columns, with the keys of their vertices.

use super::options::Filter;
use super::{Change, ChangeToken, ChangedEdge, ChangedVertex};
use hedgerow_encoding::{EdgeList, list_of_record};
use hedgerow_log::{LogRecord, LoggedCommit, logged_edge};
use hedgerow_model::{
    CommitTimestamp, EdgeChange, EdgeValue, EffectRecords, Effects, GrowingCatalog, Key, KeyKind, KeyRef,
    LabelId, ReadError, Record, Topology, VertexChange, VertexEffect, VertexId,
};
use hedgerow_pipeline::{Error as Cause, KeysAtCommit};
use hedgerow_sync::Arc;
use std::ops::Range;

/// The changes of one pull, commit by commit.
///
/// Holds no lock and retains nothing of the graph. Takes about 50 bytes for each change, and the
/// bytes of text keys and records.
#[derive(Debug)]
pub struct Changes {
    pub(super) commits: Vec<Commit>,
    pub(super) items: Vec<Item>,
    keys: Keys,
    /// The records of the vertices that are put.
    vertices: Vec<Record>,
    /// The records of edges, one after the other, and the end of each.
    records: Vec<u8>,
    record_ends: Vec<usize>,
    catalog: Arc<GrowingCatalog>,
    pub(super) token: ChangeToken,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Commit {
    at: CommitTimestamp,
    wall_clock: u64,
    /// The end of its changes.
    end: usize,
}

/// A change, but for its keys, which are at the same position in their column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub(super) kind: Kind,
    pub(super) label: LabelId,
    /// The vertex, or the source.
    pub(super) first: VertexId,
    /// The destination.
    pub(super) second: VertexId,
    /// The value of an edge, or the position of a record.
    pub(super) value: u64,
    /// The number of a parallel edge.
    pub(super) number: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    PutVertex,
    DeleteVertex,
    PutEdge,
    /// An edge with a record.
    PutRecord,
    /// A parallel edge.
    PutParallel,
    /// An edge, or all parallel edges between two vertices.
    DeleteEdge,
    DeleteParallel,
}

/// The keys of items.
#[derive(Debug)]
enum Keys {
    /// The ids.
    Dense,
    Numbers(Vec<[u64; 2]>),
    /// Texts, one after the other, and the ends of both of each item.
    Texts(String, Vec<[usize; 2]>),
}

impl Keys {
    fn of(kind: KeyKind) -> Self {
        match kind {
            KeyKind::Dense => Keys::Dense,
            KeyKind::Number => Keys::Numbers(Vec::new()),
            KeyKind::String => Keys::Texts(String::new(), Vec::new()),
        }
    }

    fn kind(&self) -> KeyKind {
        match self {
            Keys::Dense => KeyKind::Dense,
            Keys::Numbers(_) => KeyKind::Number,
            Keys::Texts(..) => KeyKind::String,
        }
    }

    /// Adds the keys of an edge, or that of a vertex twice.
    #[inline]
    fn push(&mut self, keys: [KeyRef<'_>; 2]) {
        match (self, keys) {
            (Keys::Numbers(numbers), [KeyRef::Number(first), KeyRef::Number(second)]) => {
                numbers.push([first, second]);
            }
            (Keys::Texts(texts, ends), [KeyRef::Text(first), KeyRef::Text(second)]) => {
                texts.push_str(first);
                let middle = texts.len();
                texts.push_str(second);
                ends.push([middle, texts.len()]);
            }
            // The ids are the keys, and no graph has keys of two kinds.
            _ => {}
        }
    }

    fn truncate(&mut self, length: usize) {
        match self {
            Keys::Dense => {}
            Keys::Numbers(keys) => keys.truncate(length),
            Keys::Texts(texts, ends) => {
                ends.truncate(length);
                texts.truncate(ends.last().map_or(0, |ends| ends[1]));
            }
        }
    }

    fn get(&self, position: usize, item: &Item) -> [KeyRef<'_>; 2] {
        match self {
            Keys::Dense => [item.first, item.second].map(|id| KeyRef::Number(u64::from(id.get()))),
            Keys::Numbers(keys) => keys[position].map(KeyRef::Number),
            Keys::Texts(texts, ends) => {
                let begin = position.checked_sub(1).map_or(0, |before| ends[before][1]);
                let [middle, end] = ends[position];
                [&texts[begin..middle], &texts[middle..end]].map(KeyRef::Text)
            }
        }
    }
}

impl Changes {
    pub(super) fn new(kind: KeyKind, catalog: Arc<GrowingCatalog>, token: ChangeToken) -> Self {
        Changes {
            commits: Vec::new(),
            items: Vec::new(),
            keys: Keys::of(kind),
            vertices: Vec::new(),
            records: Vec::new(),
            record_ends: Vec::new(),
            catalog,
            token,
        }
    }

    /// No changes of the same graph, at a position.
    pub(super) fn none_at(&self, token: ChangeToken) -> Self {
        Changes::new(self.keys.kind(), Arc::clone(&self.catalog), token)
    }

    /// Returns the number of changes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns true if there are no changes. The position has moved all the same if commits had
    /// nothing that the subscription passes on.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns the position after these changes, at which another subscription can go on.
    #[must_use]
    pub fn token(&self) -> ChangeToken {
        self.token
    }

    /// Returns the commits, in order, of which the subscription passes on something.
    pub fn commits(&self) -> impl Iterator<Item = CommitChanges<'_>> {
        let mut begin = 0;
        self.commits.iter().map(move |commit| {
            let items = begin..commit.end;
            begin = commit.end;
            CommitChanges { changes: self, commit: *commit, items }
        })
    }

    /// Returns all changes, commit by commit.
    pub fn iter(&self) -> impl Iterator<Item = Change<'_>> {
        (0..self.items.len()).map(|position| self.get(position))
    }

    /// The vertices that are put or deleted, and the ends of edges, ascending.
    pub(super) fn vertices_by_id(&self) -> Vec<VertexId> {
        let mut vertices: Vec<_> = self.items.iter().flat_map(|item| [item.first, item.second]).collect();
        vertices.sort_unstable();
        vertices.dedup();
        vertices
    }

    pub(super) fn keys_of(&self, position: usize) -> [KeyRef<'_>; 2] {
        self.keys.get(position, &self.items[position])
    }

    pub(super) fn get(&self, position: usize) -> Change<'_> {
        let item = &self.items[position];
        let [source, destination] = self.keys.get(position, item);
        let vertex = |record| ChangedVertex { id: item.first, key: source, record, catalog: &self.catalog };
        let edge = |number, value, record| ChangedEdge {
            label: item.label,
            ids: (item.first, item.second),
            source,
            destination,
            number,
            value,
            record,
            catalog: &self.catalog,
        };
        let value = Some(EdgeValue(item.value));
        match item.kind {
            Kind::PutVertex => Change::PutVertex(vertex(&self.vertices[item.value as usize])),
            Kind::DeleteVertex => Change::DeleteVertex(vertex(const { &Record::EMPTY })),
            Kind::PutEdge => Change::PutEdge(edge(None, value, None)),
            Kind::PutRecord => Change::PutEdge(edge(None, value, Some(self.record(item.value)))),
            Kind::PutParallel => {
                Change::PutEdge(edge(Some(item.number), value, Some(self.record(item.value))))
            }
            Kind::DeleteEdge => Change::DeleteEdge(edge(None, None, None)),
            Kind::DeleteParallel => Change::DeleteEdge(edge(Some(item.number), None, None)),
        }
    }

    fn record(&self, number: u64) -> &[u8] {
        let number = number as usize;
        let begin = number.checked_sub(1).map_or(0, |before| self.record_ends[before]);
        &self.records[begin..self.record_ends[number]]
    }

    fn push_record(&mut self, record: &[u8]) -> u64 {
        self.records.extend_from_slice(record);
        self.record_ends.push(self.records.len());
        self.record_ends.len() as u64 - 1
    }

    /// Adds the changes of a commit that the filter chooses.
    pub(super) fn add(
        &mut self,
        record: &LogRecord<'_>,
        topology: Topology,
        keys: KeysAtCommit<'_>,
        filter: &Filter,
    ) -> Result<(), Cause> {
        let before = self.items.len();
        let edge = logged_edge(record.body, topology);
        match edge.filter(|(label, _)| self.catalog.record_schema(*label).is_none()) {
            Some((label, change)) => self.add_edge(label, change, keys, filter)?,
            None => {
                let added = self.add_commit(keys.decode(record)?, keys, filter);
                if added.is_err() {
                    self.items.truncate(before);
                    self.keys.truncate(before);
                }
                added?;
            }
        }
        if before < self.items.len() {
            let LogRecord { at, wall_clock, .. } = *record;
            self.commits.push(Commit { at, wall_clock, end: self.items.len() });
        }
        Ok(())
    }

    /// Adds deletions first: a vertex that is put may have the key of one that is deleted.
    fn add_commit(
        &mut self,
        commit: LoggedCommit,
        keys: KeysAtCommit<'_>,
        filter: &Filter,
    ) -> Result<(), Cause> {
        let LoggedCommit { effects, record_labels, .. } = commit;
        let Effects { vertices, adjacencies, records, .. } = effects;
        for edges in &adjacencies {
            let mut deleted = edges.changes.iter().filter(|change| change.value.is_none());
            deleted.try_for_each(|change| self.add_edge(edges.label, change, keys, filter))?;
        }
        let (put, deleted): (Vec<_>, Vec<_>) = vertices.into_iter().partition(VertexEffect::is_put);
        deleted.into_iter().chain(put).try_for_each(|effect| self.add_vertex(effect, keys, filter))?;
        for edges in &adjacencies {
            let has_records = record_labels.binary_search(&edges.label).is_ok();
            for change in edges.changes.iter().filter(|change| change.value.is_some()) {
                match has_records {
                    false => self.add_edge(edges.label, change, keys, filter)?,
                    true => self.add_record(edges.label, change, &records, keys, filter)?,
                }
            }
        }
        Ok(())
    }

    fn add_vertex(
        &mut self,
        effect: VertexEffect,
        keys: KeysAtCommit<'_>,
        filter: &Filter,
    ) -> Result<(), Cause> {
        let key = keys.key(effect.vertex)?;
        if !filter.has_vertex(&key) {
            return Ok(());
        }
        let (kind, value) = match effect.change {
            VertexChange::Put(record) => {
                self.vertices.push(record);
                (Kind::PutVertex, self.vertices.len() as u64 - 1)
            }
            VertexChange::Delete => (Kind::DeleteVertex, 0),
        };
        self.keys.push([key.as_ref(); 2]);
        let (first, label) = (effect.vertex, LabelId::DEFAULT);
        self.items.push(Item { kind, label, first, second: first, value, number: 0 });
        Ok(())
    }

    #[inline]
    fn add_edge(
        &mut self,
        label: LabelId,
        change: EdgeChange,
        keys: KeysAtCommit<'_>,
        filter: &Filter,
    ) -> Result<(), Cause> {
        let kind = if change.value.is_some() { Kind::PutEdge } else { Kind::DeleteEdge };
        let value = change.value.map_or(0, |value| value.0);
        if let Some(ends) = ends(label, change, keys, filter)? {
            self.push_edge((kind, label, change), (value, 0), &ends);
        }
        Ok(())
    }

    #[inline]
    fn push_edge(
        &mut self,
        (kind, label, change): (Kind, LabelId, EdgeChange),
        (value, number): (u64, u64),
        [source, destination]: &[Key; 2],
    ) {
        self.keys.push([source.as_ref(), destination.as_ref()]);
        let (first, second) = (change.owner(), change.neighbor());
        self.items.push(Item { kind, label, first, second, value, number });
    }

    /// Adds a copy of an edge that was put, without its commit.
    pub(super) fn add_copy(&mut self, edge: &ChangedEdge<'_>) {
        let (kind, value) = match (edge.record, edge.number) {
            (None, _) => (Kind::PutEdge, edge.value.map_or(0, |value| value.0)),
            (Some(record), None) => (Kind::PutRecord, self.push_record(record)),
            (Some(record), Some(_)) => (Kind::PutParallel, self.push_record(record)),
        };
        let (label, (first, second), number) = (edge.label, edge.ids, edge.number.unwrap_or_default());
        self.keys.push([edge.source, edge.destination]);
        self.items.push(Item { kind, label, first, second, value, number });
    }

    /// Adds an edge with a record that is put, or parallel edges that are put or deleted.
    fn add_record(
        &mut self,
        label: LabelId,
        change: EdgeChange,
        records: &EffectRecords,
        keys: KeysAtCommit<'_>,
        filter: &Filter,
    ) -> Result<(), Cause> {
        let Some(ends) = ends(label, change, keys, filter)? else { return Ok(()) };
        let bytes = change.value.and_then(|value| records.get(value)).unwrap_or_default();
        if !self.catalog.are_parallel(label) {
            let number = self.push_record(bytes);
            self.push_edge((Kind::PutRecord, label, change), (number, 0), &ends);
            return Ok(());
        }
        let unreadable = |error| ReadError::new("a list of parallel edges", error);
        for edge in EdgeList::new(list_of_record(bytes).map_err(unreadable)?) {
            let (number, record) = edge.map_err(unreadable)?;
            let (kind, value) = match record {
                Some(record) => (Kind::PutParallel, self.push_record(record)),
                None => (Kind::DeleteParallel, 0),
            };
            self.push_edge((kind, label, change), (value, number), &ends);
        }
        Ok(())
    }

    /// Keeps only some items, in this order, as one commit, the last.
    pub(super) fn keep(&mut self, kept: &[usize]) {
        let mut keys = Keys::of(self.keys.kind());
        kept.iter().for_each(|position| keys.push(self.keys_of(*position)));
        self.keys = keys;
        self.items = kept.iter().map(|position| self.items[*position]).collect();
        let last = self.commits.last().copied();
        self.commits = last.map(|last| Commit { end: self.items.len(), ..last }).into_iter().collect();
        self.commits.retain(|commit| commit.end > 0);
    }
}

/// The keys of the ends of an edge, if it is passed on.
#[inline]
fn ends(
    label: LabelId,
    change: EdgeChange,
    keys: KeysAtCommit<'_>,
    filter: &Filter,
) -> Result<Option<[Key; 2]>, Cause> {
    if !filter.has_label(label) {
        return Ok(None);
    }
    let ends = [keys.key(change.owner())?, keys.key(change.neighbor())?];
    Ok(filter.has_end(&ends).then_some(ends))
}

/// The changes of one commit: all of them that the subscription passes on.
///
/// Deletions of edges come first, then those of vertices, then puts of vertices and of edges, so
/// that they can be applied in this order. An edge and a vertex change at most once.
#[derive(Clone, Debug)]
pub struct CommitChanges<'c> {
    changes: &'c Changes,
    commit: Commit,
    items: Range<usize>,
}

impl<'c> CommitChanges<'c> {
    /// Returns the commit.
    #[must_use]
    pub fn at(&self) -> CommitTimestamp {
        self.commit.at
    }

    /// Returns the wall-clock time of the commit, in microseconds since 1970-01-01 UTC.
    #[must_use]
    pub fn wall_clock(&self) -> u64 {
        self.commit.wall_clock
    }

    /// Returns the position after the commit, at which another subscription can go on.
    #[must_use]
    pub fn token(&self) -> ChangeToken {
        ChangeToken { at: self.commit.at, wall_clock: self.commit.wall_clock, ..self.changes.token }
    }

    /// Returns the changes; there is at least one.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Change<'c>> + use<'c> {
        let changes = self.changes;
        self.items.clone().map(move |position| changes.get(position))
    }
}
