//! Replays the commits of a log into a graph.

use crate::durable::gathered::{Gathered, vertex_bound};
use crate::durable::vertex_set::VertexBits;
use crate::error::Error;
use crate::records::{check_encoded, check_parallel};
use crate::store::Store;
use hedgerow_log::{LogPosition, LogRecord, LoggedCommit, StoreError, logged_edge};
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{
    AdjacencyEffects, AppendedEdges, Changes, ColumnType, CommitTimestamp, EdgeChange, EdgeValue, Effects,
    GraphView, Key, LabelId, Record, SchemaError, VertexChange, VertexEffect, VertexId,
};
use hedgerow_sequencer::VertexCounts;

/// Commits of fewer edges are gathered, even if the engine could append them.
const APPENDED_ALONE: usize = 1 << 10;

/// The reason that an intact commit does not belong to this graph.
struct Foreign(String);

fn foreign<T>(what: impl Into<String>) -> Result<T, Foreign> {
    Err(Foreign(what.into()))
}

/// A replay in progress. All locks are held, and the graph is not shared.
pub(super) struct Replay<'r, 'h> {
    store: &'r Store,
    held: &'r mut HeldLocks<'h>,
    /// The vertices that exist after the commits so far.
    existing: VertexBits,
    /// Commits that are checked and have their keys restored, but are not applied yet.
    gathered: Gathered,
    /// Approximate number of changes to apply together.
    at_once: usize,
}

impl<'r, 'h> Replay<'r, 'h> {
    pub fn new(store: &'r Store, held: &'r mut HeldLocks<'h>, at_once: usize) -> Result<Self, Error> {
        let (bound, mut existing) = (held.counts().vertex_bound, VertexBits::default());
        store.latest(held)?.each_vertex(0..bound, |vertex| existing.insert(vertex))?;
        Ok(Replay { store, held, existing, gathered: Gathered::default(), at_once })
    }

    /// Replays the commit of a log record. Returns the importer's position stored with it.
    pub fn commit(
        &mut self,
        record: &LogRecord<'_>,
        place: LogPosition<'_>,
    ) -> Result<Option<Box<[u8]>>, Error> {
        let damaged = |Foreign(what)| StoreError::Damaged {
            path: place.path.to_owned(),
            offset: place.offset,
            what: format!("the commit of timestamp {} {what}", record.at),
        };
        let edge = logged_edge(record.body, self.store.topology);
        if let Some((label, change)) =
            edge.filter(|(label, _)| self.store.catalog.record_schema(*label).is_none())
        {
            self.commit_edge(label, change, record.at).map_err(damaged)?;
            self.finish_if_large()?;
            return Ok(None);
        }
        let mut commit = self.read(record).map_err(damaged)?;
        if let Some(edges) = &mut commit.appended
            && edges.len() >= APPENDED_ALONE.min(self.at_once)
            && self.store.may_append(edges.label)
        {
            self.finish()?;
            let schema = self.store.catalog.label(edges.label);
            let has_values = schema.is_some_and(|schema| schema.edges.column().width() > 0);
            let appended = Some(edges.to_append(has_values));
            self.apply(&commit.effects, appended, record.at, vertex_bound(&commit.effects))?;
            return Ok(commit.input);
        }
        commit.sort_appended(self.store.topology);
        let changes_records = commit
            .effects
            .adjacencies
            .iter()
            .any(|edges| self.store.catalog.record_schema(edges.label).is_some());
        if changes_records || commit.effects.len() >= self.at_once {
            // The commit is sorted, and large enough by itself, or needs the earlier records of
            // edges.
            self.finish()?;
            let bound = vertex_bound(&commit.effects);
            commit.add_other_ends(self.store.topology);
            self.apply(&commit.effects, None, record.at, bound)?;
        } else {
            self.gathered.add(commit.effects, record.at);
            self.finish_if_large()?;
        }
        Ok(commit.input)
    }

    fn decode(&self, record: &LogRecord<'_>) -> Result<LoggedCommit, Foreign> {
        let commit = LoggedCommit::decode_canonical(record.body, self.store.topology);
        commit.map_err(|error| Foreign(format!("cannot be read: {error}")))
    }

    /// Replays the most frequent commit, of a single edge.
    #[inline]
    fn commit_edge(
        &mut self,
        label: LabelId,
        change: EdgeChange,
        at: CommitTimestamp,
    ) -> Result<(), Foreign> {
        self.check_values(label, [change].into_iter())?;
        self.check_ends([change].into_iter(), &[], &[])?;
        self.gathered.add_edge(label, change, at);
        Ok(())
    }

    /// Decodes and checks a commit of any kind, which contains each edge once.
    fn read(&mut self, record: &LogRecord<'_>) -> Result<LoggedCommit, Foreign> {
        let mut commit = self.decode(record)?;
        self.check(&commit)?;
        self.store.add_keys(&mut commit.effects);
        Ok(commit)
    }

    /// Applies the gathered commits, if they are many.
    fn finish_if_large(&mut self) -> Result<(), Error> {
        if self.gathered.len() >= self.at_once { self.finish() } else { Ok(()) }
    }

    /// Applies the gathered commits.
    pub(super) fn finish(&mut self) -> Result<(), Error> {
        let gathered = std::mem::take(&mut self.gathered);
        if gathered.is_empty() {
            return Ok(());
        }
        let (at, bound) = (gathered.at(), gathered.vertex_bound());
        let pool = self.store.pool_for(gathered.len());
        let effects = {
            let latest = self.store.latest(self.held)?;
            let existed = |vertex| latest.contains_vertex(vertex).map_err(Error::from);
            gathered.into_effects(self.store.topology, existed, pool)?
        };
        self.apply(&effects, None, at, bound)
    }

    /// Applies the changes of one commit, or of several up to `at`. The ids of their vertices are
    /// below `bound`. Some edges may be appended, in the order of arrival.
    fn apply(
        &mut self,
        effects: &Effects,
        appended: Option<AppendedEdges<'_>>,
        at: CommitTimestamp,
        bound: u32,
    ) -> Result<(), Error> {
        let counts = VertexCounts { bound, ..self.count_vertices(effects)? };
        let size = effects.len() + appended.map_or(0, |appended| appended.edges.len());
        let changes = Changes::Commit { effects, appended };
        self.store.restore_changes(self.held, at, (changes, size), counts)
    }

    /// The numbers of vertices created and deleted.
    fn count_vertices(&self, effects: &Effects) -> Result<VertexCounts, Error> {
        let latest = self.store.latest(self.held)?;
        let mut counts = VertexCounts::default();
        for VertexEffect { vertex, change } in &effects.vertices {
            match change {
                VertexChange::Put(_) => {
                    counts.added += u64::from(!latest.contains_vertex(*vertex)?);
                }
                VertexChange::Delete => counts.removed += 1,
            }
        }
        Ok(counts)
    }

    /// Checks that a commit can be the next. Restores the keys of its new vertices, and marks them
    /// as existing.
    fn check(&mut self, commit: &LoggedCommit) -> Result<(), Foreign> {
        let LoggedCommit { effects, keys, catalog, appended, .. } = commit;
        if catalog.as_ref().is_some_and(|catalog| *catalog != self.store.catalog.to_catalog()) {
            return foreign("changes labels or properties, which this version does not know how to");
        }
        for edges in &effects.adjacencies {
            match self.store.catalog.record_schema(edges.label) {
                Some(schema) if self.store.catalog.are_parallel(edges.label) => {
                    check_records(commit, edges, |record| check_parallel(schema, record).map(drop))?;
                }
                Some(schema) => check_records(commit, edges, |record| check_encoded(schema, record))?,
                None if commit.record_labels.contains(&edges.label) => {
                    return foreign(format!("has records on edges of label number {}", edges.label.0));
                }
                None => self.check_values(edges.label, edges.changes.iter())?,
            }
        }
        if let Some(edges) = appended {
            match self.store.catalog.record_schema(edges.label) {
                Some(_) => {
                    return foreign(format!("has no records on edges of label number {}", edges.label.0));
                }
                None => self.check_values(edges.label, edges.changes())?,
            }
        }
        let (created, deleted) = self.check_vertices(effects)?;
        let mut edges = effects.adjacencies.iter();
        edges.try_for_each(|edges| self.check_ends(edges.changes.iter(), &created, &deleted))?;
        if let Some(edges) = appended {
            self.check_ends(edges.changes(), &created, &deleted)?;
        }
        self.restore_keys(keys, &created, &deleted)?;
        created.iter().for_each(|vertex| self.existing.insert(*vertex));
        deleted.iter().for_each(|vertex| self.existing.remove(*vertex));
        Ok(())
    }

    /// Checks that the label exists, and that its column can hold the values.
    #[inline]
    fn check_values(
        &self,
        label: LabelId,
        mut changes: impl Iterator<Item = EdgeChange>,
    ) -> Result<(), Foreign> {
        let LabelId(number) = label;
        let Some(schema) = self.store.catalog.label(label) else {
            return foreign(format!("has edges of label number {number}, which does not exist"));
        };
        let column = schema.edges.column();
        let most = match column {
            ColumnType::Unit => 0,
            ColumnType::U32 | ColumnType::F32 => u64::from(u32::MAX),
            ColumnType::U64 | ColumnType::I64 | ColumnType::F64 | ColumnType::Record => u64::MAX,
        };
        let fits = |value: EdgeValue| value.0 <= most;
        match changes.all(|change| change.value.is_none_or(fits)) {
            true => Ok(()),
            false => foreign(format!("has edges of label number {number} with values that are no {column}")),
        }
    }

    /// The vertices created and deleted, both ascending.
    fn check_vertices(&self, effects: &Effects) -> Result<(Vec<VertexId>, Vec<VertexId>), Foreign> {
        let (mut created, mut deleted) = (Vec::new(), Vec::new());
        for effect in &effects.vertices {
            let (vertex, existed) = (effect.vertex, self.existing.contains(effect.vertex));
            match &effect.change {
                VertexChange::Put(record) => {
                    if let Err(error) = self.store.check_record(record) {
                        return foreign(format!(
                            "gives vertex {vertex} a record that it cannot have: {error}"
                        ));
                    }
                    created.extend((!existed).then_some(vertex));
                }
                VertexChange::Delete if existed => deleted.push(vertex),
                VertexChange::Delete => {
                    return foreign(format!("deletes vertex {vertex}, which does not exist"));
                }
            }
        }
        Ok((created, deleted))
    }

    /// Checks that the endpoints of all edges to put exist at that point.
    #[inline]
    fn check_ends(
        &self,
        changes: impl Iterator<Item = EdgeChange>,
        created: &[VertexId],
        deleted: &[VertexId],
    ) -> Result<(), Foreign> {
        let exists = |vertex: &VertexId| {
            self.existing.contains(*vertex) && deleted.binary_search(vertex).is_err()
                || created.binary_search(vertex).is_ok()
        };
        for change in changes.filter(|change| change.value.is_some()) {
            if let Some(end) = [change.owner(), change.neighbor()].into_iter().find(|end| !exists(end)) {
                return foreign(format!("puts an edge of vertex {end}, which does not exist"));
            }
        }
        Ok(())
    }

    /// Restores the keys of new vertices, and removes the keys of deleted vertices.
    fn restore_keys(
        &self,
        keys: &[(VertexId, Key)],
        created: &[VertexId],
        deleted: &[VertexId],
    ) -> Result<(), Foreign> {
        if self.store.dictionary.is_dense() {
            return if keys.is_empty() {
                Ok(())
            } else {
                foreign("has keys, which are the ids in this graph")
            };
        }
        if !keys.iter().map(|(id, _)| id).eq(created) {
            return foreign("has other keys than new vertices");
        }
        deleted.iter().for_each(|id| self.store.dictionary.forget(*id));
        for (id, key) in keys {
            match self.store.dictionary.restore(key.as_ref(), *id) {
                Ok(true) => {}
                Ok(false) => return foreign(format!("gives the key {key} to a second vertex")),
                Err(error) => return foreign(format!("has a key that does not fit: {error}")),
            }
        }
        Ok(())
    }
}

/// Checks that the edges of a label with records have records of its schema.
fn check_records(
    commit: &LoggedCommit,
    edges: &AdjacencyEffects,
    check: impl Fn(&[u8]) -> Result<(), String>,
) -> Result<(), Foreign> {
    for change in edges.changes.iter() {
        let Some(value) = change.value else { continue };
        let has_records = commit.record_labels.binary_search(&edges.label).is_ok();
        let record = commit.effects.records.get(value).filter(|_| has_records);
        let checked = record.map_or(Err("it has none".to_owned()), &check);
        if let Err(error) = checked {
            let (owner, neighbor) = (change.owner(), change.neighbor());
            return foreign(format!(
                "gives the edge from vertex {owner} to {neighbor} a record that it cannot have: {error}"
            ));
        }
    }
    Ok(())
}

impl Store {
    /// Checks that a vertex can have a record: an empty one, or one of the schema.
    pub(super) fn check_record(&self, record: &Record) -> Result<(), SchemaError> {
        if record.is_empty() { Ok(()) } else { self.catalog.vertices().check(record) }
    }

    /// Frees the ids that no vertex has.
    pub(super) fn finish_restoring(&self, held: &HeldLocks<'_>) -> Result<(), Error> {
        let bound = held.counts().vertex_bound;
        let latest = self.latest(held)?;
        Ok(self.dictionary.restore_free(bound, |visit| latest.each_vertex(0..bound, visit))?)
    }
}
