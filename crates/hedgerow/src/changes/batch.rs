//! Changes in memory, in columns, with the keys of their vertices.

use super::{Change, ChangeToken, ChangedEdge, ChangedVertex};
use hedgerow_encoding::{EdgeList, list_of_record};
use hedgerow_log::{LogRecord, LoggedCommit, StoreError, logged_edge};
use hedgerow_model as model;
use hedgerow_model::{
    CommitTimestamp, EdgeChange, EdgeValue, GrowingCatalog, Key, KeyRef, LabelId, Topology, VertexChange,
    VertexId,
};
use hedgerow_pipeline::{Error as Cause, KeysAtCommit};
use hedgerow_sync::Arc;
use std::ops::Range;
use std::time::{Duration, SystemTime};

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
    vertices: Vec<model::Record>,
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
    fn push(&mut self, first: &Key, second: Option<&Key>) {
        let number = |key: &Key| key.as_u64().unwrap_or_default();
        match self {
            Keys::Dense => {}
            Keys::Numbers(keys) => keys.push([number(first), second.map_or(0, number)]),
            Keys::Texts(texts, ends) => {
                texts.push_str(first.as_str().unwrap_or_default());
                let end = texts.len();
                texts.push_str(second.and_then(Key::as_str).unwrap_or_default());
                ends.push([end, texts.len()]);
            }
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

/// The choice of changes that a subscription passes on, by label and keys.
pub(super) type Passes<'f> = &'f dyn Fn(Option<LabelId>, &Key, Option<&Key>) -> bool;

impl Changes {
    pub(super) fn new(kind: model::KeyKind, catalog: Arc<GrowingCatalog>, token: ChangeToken) -> Self {
        let keys = match kind {
            model::KeyKind::Dense => Keys::Dense,
            model::KeyKind::Number => Keys::Numbers(Vec::new()),
            model::KeyKind::String => Keys::Texts(String::new(), Vec::new()),
        };
        let (commits, items, vertices) = (Vec::new(), Vec::new(), Vec::new());
        Changes {
            commits,
            items,
            keys,
            vertices,
            records: Vec::new(),
            record_ends: Vec::new(),
            catalog,
            token,
        }
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

    pub(super) fn keys_of(&self, position: usize) -> [KeyRef<'_>; 2] {
        self.keys.get(position, &self.items[position])
    }

    fn get(&self, position: usize) -> Change<'_> {
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
            Kind::DeleteVertex => Change::DeleteVertex(vertex(const { &model::Record::EMPTY })),
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

    /// Adds what `passes` of the changes of a commit.
    pub(super) fn add(
        &mut self,
        record: &LogRecord<'_>,
        topology: Topology,
        keys: KeysAtCommit<'_>,
        passes: Passes<'_>,
    ) -> Result<(), Cause> {
        let before = self.items.len();
        let edge = logged_edge(record.body, topology);
        match edge.filter(|(label, _)| self.catalog.record_schema(*label).is_none()) {
            Some((label, change)) => self.add_edge(label, change, keys, passes),
            None => {
                let added = self.add_commit(record, topology, keys, passes);
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

    fn add_commit(
        &mut self,
        record: &LogRecord<'_>,
        topology: Topology,
        keys: KeysAtCommit<'_>,
        passes: Passes<'_>,
    ) -> Result<(), Cause> {
        let mut commit = LoggedCommit::decode_canonical(record.body, topology).map_err(|error| {
            let what = format!("the commit of timestamp {} cannot be read: {error}", record.at);
            StoreError::Damaged { path: keys.location(), offset: 0, what }
        })?;
        commit.sort_appended(topology);
        let edges = &commit.effects.adjacencies;
        // A vertex that is put may have the key of one that is deleted.
        for of_label in edges {
            for change in of_label.changes.iter().filter(|change| change.value.is_none()) {
                self.add_edge(of_label.label, change, keys, passes);
            }
        }
        for put in [false, true] {
            for effect in commit.effects.vertices.iter().filter(|effect| effect.is_put() == put) {
                self.add_vertex(effect, keys, passes);
            }
        }
        for of_label in edges {
            let puts = of_label.changes.iter().filter(|change| change.value.is_some());
            match commit.record_labels.binary_search(&of_label.label) {
                Err(_) => puts.for_each(|change| self.add_edge(of_label.label, change, keys, passes)),
                Ok(_) => {
                    for change in puts {
                        self.add_record(of_label.label, change, &commit.effects.records, keys, passes)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn add_vertex(&mut self, effect: &model::VertexEffect, keys: KeysAtCommit<'_>, passes: Passes<'_>) {
        let key = keys.key(effect.vertex);
        if !passes(None, &key, None) {
            return;
        }
        let (kind, value) = match &effect.change {
            VertexChange::Put(record) => {
                self.vertices.push(record.clone());
                (Kind::PutVertex, self.vertices.len() as u64 - 1)
            }
            VertexChange::Delete => (Kind::DeleteVertex, 0),
        };
        self.keys.push(&key, None);
        let (first, label) = (effect.vertex, LabelId::DEFAULT);
        self.items.push(Item { kind, label, first, second: first, value, number: 0 });
    }

    #[inline]
    fn add_edge(&mut self, label: LabelId, change: EdgeChange, keys: KeysAtCommit<'_>, passes: Passes<'_>) {
        let kind = if change.value.is_some() { Kind::PutEdge } else { Kind::DeleteEdge };
        let value = change.value.map_or(0, |value| value.0);
        if let Some(ends) = self.ends(label, change, keys, passes) {
            self.push_edge((kind, label, change), (value, 0), &ends);
        }
    }

    /// The keys of the ends of an edge, if it is passed on.
    #[inline]
    fn ends(
        &self,
        label: LabelId,
        change: EdgeChange,
        keys: KeysAtCommit<'_>,
        passes: Passes<'_>,
    ) -> Option<[Key; 2]> {
        let ends = [change.owner(), change.neighbor()].map(|id| keys.key(id));
        passes(Some(label), &ends[0], Some(&ends[1])).then_some(ends)
    }

    #[inline]
    fn push_edge(
        &mut self,
        (kind, label, change): (Kind, LabelId, EdgeChange),
        (value, number): (u64, u64),
        [source, destination]: &[Key; 2],
    ) {
        self.keys.push(source, Some(destination));
        let (first, second) = (change.owner(), change.neighbor());
        self.items.push(Item { kind, label, first, second, value, number });
    }

    /// Adds an edge with a record that is put, or parallel edges that are put or deleted.
    fn add_record(
        &mut self,
        label: LabelId,
        change: EdgeChange,
        records: &model::EffectRecords,
        keys: KeysAtCommit<'_>,
        passes: Passes<'_>,
    ) -> Result<(), Cause> {
        let Some(ends) = self.ends(label, change, keys, passes) else { return Ok(()) };
        let bytes = change.value.and_then(|value| records.get(value)).unwrap_or_default();
        if !self.catalog.are_parallel(label) {
            let number = self.push_record(bytes);
            self.push_edge((Kind::PutRecord, label, change), (number, 0), &ends);
            return Ok(());
        }
        let unreadable = |error| model::ReadError::new("a list of parallel edges", error);
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
        let mut keys = match self.keys {
            Keys::Dense => Keys::Dense,
            Keys::Numbers(_) => Keys::Numbers(Vec::with_capacity(kept.len())),
            Keys::Texts(..) => Keys::Texts(String::new(), Vec::with_capacity(kept.len())),
        };
        for position in kept {
            let [first, second] = self.keys_of(*position).map(KeyRef::to_key);
            keys.push(&first, Some(&second));
        }
        self.keys = keys;
        self.items = kept.iter().map(|position| self.items[*position]).collect();
        let last = self.commits.last().copied();
        self.commits = last.map(|last| Commit { end: self.items.len(), ..last }).into_iter().collect();
        self.commits.retain(|commit| commit.end > 0);
    }
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

    /// Returns the wall-clock time of the commit, in whole microseconds.
    #[must_use]
    pub fn time(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_micros(self.commit.wall_clock)
    }

    /// Returns the wall-clock time of the commit, in microseconds since 1970-01-01 UTC.
    #[must_use]
    pub fn wall_clock(&self) -> u64 {
        self.commit.wall_clock
    }

    /// Returns the number of changes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns true if there are no changes, which never happens.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns the changes.
    pub fn iter(&self) -> impl Iterator<Item = Change<'c>> + use<'c> {
        let changes = self.changes;
        self.items.clone().map(move |position| changes.get(position))
    }

    pub(super) fn catalog(&self) -> &'c Arc<GrowingCatalog> {
        &self.changes.catalog
    }
}
