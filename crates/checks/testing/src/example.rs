//! A whole engine in one file, the one to read first: `docs/writing-an-engine.md` walks through it.
//!
//! The graph is a sorted map in memory. Every commit is one of effects, every read copies what it
//! returns, and a step of maintenance looks at everything.

use hedgerow_encoding::{
    EntryKey, ReadRows, RowAdjacency, RowRecords, changed_entries, decode_record, encode_record,
};
use hedgerow_erased::{ErasedEngine, Make, NamedEngine};
use hedgerow_model::token::{HeldLocks, LiveTimestamps, Registered, Stamps};
use hedgerow_model::{
    Allowance, Changes, Column, ColumnType, CommitTimestamp, Count, Direction, Engine, EngineError,
    EngineOptions, GraphView, GrowingCatalog, LabelId, LabelSchema, LockUnit, MaintenanceProgress, MemoryUse,
    ReadError, Reclaimed, Record, Staged, Topology, UnitLocks, VertexChange, VertexId, ViewError, ViewState,
};
use hedgerow_sync::{Arc, RwLock};
use rayon::ThreadPool;
use std::collections::{BTreeMap, VecDeque};
use std::ops::{ControlFlow, Range};

/// The engine, for creating graphs by its name.
pub static EXAMPLE: NamedEngine =
    NamedEngine { name: "example", make: Make::InMemory(|options| ErasedEngine::new(Example::new(options))) };

/// A label and one of its stored directions; `None` for the vertices.
type Table = Option<(LabelId, Direction)>;

/// A table, and a vertex with a neighbor in it, or with 0 among the vertices.
type Key = (Table, EntryKey);

/// A record, a value, or a list of parallel edges; `None` if there is no such vertex or neighbor.
type Content = Option<Arc<[u8]>>;

fn vertex_key(vertex: VertexId) -> Key {
    (None, EntryKey::new(vertex, VertexId::new(0)))
}

/// Approximate memory of a version; a deletion counts nothing.
fn bytes_of(content: &Content) -> usize {
    content.as_ref().map_or(0, |content| 64 + content.len())
}

#[derive(Default)]
struct Versions {
    /// The versions of each entry, at least one, newest first. Each has the commit that made it.
    of: BTreeMap<Key, VecDeque<(CommitTimestamp, Content)>>,
    memory: MemoryUse,
}

/// A graph in memory. See the [module](self).
pub struct Example {
    topology: Topology,
    catalog: GrowingCatalog,
    versions: RwLock<Versions>,
}

impl Example {
    /// Creates an empty engine.
    #[must_use]
    pub fn new(EngineOptions { topology, catalog }: EngineOptions) -> Self {
        Example { topology, catalog: (&catalog).into(), versions: RwLock::default() }
    }
}

impl Engine for Example {
    type Snapshot = ();
    type View<'s> = ExampleView<'s>;
    type Room = ();
    type Staged<'l> = Vec<(Key, Content)>;

    fn lock_unit(&self, vertex: VertexId) -> LockUnit {
        LockUnit(vertex.get())
    }

    fn exists(&self, vertex: VertexId) -> bool {
        self.versions.read().of.get(&vertex_key(vertex)).is_some_and(|versions| versions[0].1.is_some())
    }

    fn stage<'l>(
        &'l self,
        locks: &HeldLocks<'l>,
        changes: Changes<'l>,
        (): &'l mut (),
        allowance: Allowance,
        _pool: Option<&ThreadPool>,
    ) -> Result<Staged<Self::Staged<'l>>, EngineError> {
        let Changes::Commit { effects, .. } = changes else { return Ok(Staged::none(Vec::new())) };
        let vertices = effects.vertices.iter().map(|effect| match &effect.change {
            VertexChange::Put(record) => (vertex_key(effect.vertex), Some(encode_record(record).into())),
            VertexChange::Delete => (vertex_key(effect.vertex), None),
        });
        let (mut changes, newest): (Vec<(Key, Content)>, _) = (vertices.collect(), self.latest(locks)?);
        let mut outcome = changed_entries(
            effects,
            self.topology,
            |label| self.catalog.label(label),
            |label, stored, entry| Ok(newest.content((Some((label, stored)), entry))),
            |label, stored, entry, content| {
                changes.push(((Some((label, stored)), entry), content.map(Into::into)));
            },
        )?;
        // Nothing is deferred: each entry is compared with the one that it replaces.
        outcome.deferred.clear();
        let mut growth = 0;
        changes.retain(|(key @ (table, EntryKey { owner, neighbor }), content)| {
            let before = newest.content(*key);
            growth += bytes_of(content) as isize - bytes_of(&before) as isize;
            if before.is_some() != content.is_some()
                && let Some((label, stored)) = *table
                && self.topology.is_canonical_entry(stored, VertexId::new(*owner), VertexId::new(*neighbor))
                && !self.catalog.are_parallel(label)
            {
                outcome.count(label, u64::from(content.is_some()), u64::from(before.is_some()));
            }
            before != *content
        });
        outcome.edges.sort_by_key(|edges| edges.label);
        allowance.check(self.memory().total_bytes(), growth)?;
        let is_change = !changes.is_empty();
        Ok(Staged::commit(changes, outcome, is_change))
    }

    fn apply(&self, _locks: &mut HeldLocks<'_>, stamps: Stamps, changes: Vec<(Key, Content)>) {
        let Versions { of, memory } = &mut *self.versions.write();
        for (key, content) in changes {
            let versions = of.entry(key).or_default();
            let newest = versions.front().map_or(0, |(_, content)| bytes_of(content));
            memory.live_bytes = memory.live_bytes + bytes_of(&content) - newest;
            memory.retained_bytes += newest;
            // The stamp proves that no reader sees this version, which the new one replaces.
            if versions.front().is_some_and(|(born, _)| *born >= stamps.first().editable_from()) {
                memory.retained_bytes -= versions.pop_front().map_or(0, |(_, content)| bytes_of(&content));
            }
            versions.push_front((stamps.first().at(), content));
        }
    }

    fn add_label(&self, label: &LabelSchema) {
        self.catalog.push(label.clone());
    }

    fn open_snapshot(&self, _at: &Registered) -> Result<(), EngineError> {
        Ok(())
    }

    fn view<'s>(&'s self, (): &'s (), at: &'s Registered) -> ExampleView<'s> {
        ExampleView { engine: self, state: ViewState::Registered(at), table: None }
    }

    fn latest<'l>(&'l self, locks: &'l HeldLocks<'_>) -> Result<ExampleView<'l>, ReadError> {
        Ok(ExampleView { engine: self, state: ViewState::Locked(locks), table: None })
    }

    fn maintain(
        &self,
        live: &LiveTimestamps,
        _units: &UnitLocks<'_>,
        _budget_bytes: usize,
    ) -> Result<MaintenanceProgress, EngineError> {
        let Versions { of, memory } = &mut *self.versions.write();
        let mut reclaimed = Reclaimed::default();
        of.retain(|_, versions| {
            let mut newer = None;
            versions.retain(|(born, content)| {
                let is_seen = |end| !live.decides(end) || live.holder(*born..end).is_some();
                let is_needed = newer.replace(*born).is_none_or(is_seen);
                reclaimed.versions += usize::from(!is_needed);
                reclaimed.bytes += if is_needed { 0 } else { bytes_of(content) };
                is_needed
            });
            while versions.back().is_some_and(|(_, content)| content.is_none()) {
                versions.pop_back();
            }
            !versions.is_empty()
        });
        memory.retained_bytes -= reclaimed.bytes;
        Ok(reclaimed.into())
    }

    fn memory(&self) -> MemoryUse {
        self.versions.read().memory
    }
}

/// A table of a state of the graph: of a view the vertices, of an adjacency its edges.
#[derive(Clone, Copy)]
pub struct ExampleView<'s> {
    engine: &'s Example,
    state: ViewState<'s>,
    table: Table,
}

impl ExampleView<'_> {
    /// Copies the existing entries with these keys, so that no lock is held while they are used.
    fn entries(&self, table: Table, keys: Range<EntryKey>) -> Vec<(EntryKey, Arc<[u8]>)> {
        let existing = |((_, entry), versions): (&Key, &VecDeque<(CommitTimestamp, Content)>)| {
            let seen = versions.partition_point(|(born, _)| *born > self.state.timestamp());
            Some((*entry, versions.get(seen)?.1.clone()?))
        };
        let range = (table, keys.start)..(table, keys.end);
        let entries: Vec<_> = self.engine.versions.read().of.range(range).filter_map(existing).collect();
        if let ViewState::Locked(locks) = self.state {
            // A vertex must be locked even if it has no entries.
            let mut owners = entries.iter().map(|(entry, _)| entry.owner).chain([keys.start.owner]);
            let unlocked = owners.find(|vertex| !locks.covers(LockUnit(*vertex)));
            assert_eq!(unlocked, None, "a vertex is used without its lock");
        }
        entries
    }

    fn content(&self, (table, entry): Key) -> Content {
        self.entries(table, entry.alone()).pop().map(|(_, content)| content)
    }

    /// Returns the edges of a label in a direction, and the type of their values.
    fn edges(&self, label: LabelId, direction: Direction) -> Result<(Self, ColumnType), ViewError> {
        let schema = self.engine.catalog.label(label).ok_or(ViewError::UnknownLabel(label))?;
        let stored = self.engine.topology.stored(direction).ok_or(ViewError::NoReverse)?;
        Ok((ExampleView { table: Some((label, stored)), ..*self }, schema.edges.column()))
    }
}

impl GraphView for ExampleView<'_> {
    type Adjacency<'v, W: Column>
        = RowAdjacency<ExampleView<'v>, W>
    where
        Self: 'v;
    type EdgeRecords<'v>
        = RowRecords<ExampleView<'v>>
    where
        Self: 'v;

    fn timestamp(&self) -> CommitTimestamp {
        self.state.timestamp()
    }

    fn topology(&self) -> Topology {
        self.engine.topology
    }

    fn vertex_bound(&self) -> u32 {
        self.state.vertex_bound()
    }

    fn vertex_count(&self) -> u64 {
        self.state.vertex_count()
    }

    fn edge_count(&self, label: LabelId) -> Count {
        self.state.edge_count(label)
    }

    fn parallel_edge_count(&self, label: LabelId) -> Count {
        self.state.parallel_edge_count(label)
    }

    fn contains_vertex(&self, vertex: VertexId) -> Result<bool, ReadError> {
        Ok(self.content(vertex_key(vertex)).is_some())
    }

    fn scan_vertices<B>(
        &self,
        range: Range<u32>,
        mut visit: impl FnMut(VertexId) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        self.visit(EntryKey::rows(range), |entry, _| Ok(visit(VertexId::new(entry.owner))))
    }

    fn vertex_record(&self, vertex: VertexId) -> Result<Option<Record>, ReadError> {
        let record = self.content(vertex_key(vertex)).map(|content| decode_record(&content)).transpose();
        record.map_err(|error| ReadError::new(format!("the record of vertex {vertex}"), error))
    }

    fn adjacency<W: Column>(
        &self,
        label: LabelId,
        direction: Direction,
    ) -> Result<Self::Adjacency<'_, W>, ViewError> {
        self.edges(label, direction).and_then(|(edges, column)| RowAdjacency::new(edges, label, column))
    }

    fn edge_records(&self, label: LabelId, direction: Direction) -> Result<Self::EdgeRecords<'_>, ViewError> {
        self.edges(label, direction).and_then(|(edges, column)| RowRecords::new(edges, label, column))
    }
}

impl ReadRows for ExampleView<'_> {
    fn visit<B>(
        &self,
        keys: Range<EntryKey>,
        mut visit: impl FnMut(EntryKey, &[u8]) -> Result<ControlFlow<B>, ReadError>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let mut flows =
            self.entries(self.table, keys).into_iter().map(|(entry, content)| visit(entry, &content));
        let end = flows.find(|flow| !matches!(flow, Ok(ControlFlow::Continue(()))));
        end.unwrap_or(Ok(ControlFlow::Continue(())))
    }
}
