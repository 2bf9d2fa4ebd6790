//! A commit out of the log into a graph that comes back.

use crate::commit::sequencer::VertexCounts;
use crate::error::{Error, Reason};
use crate::storage::Store;
use hedgerow_log::{LoggedCommit, Place, Record as LogRecord, StoreError};
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{
    AdjacencyEffects, ColumnType, Direction, EdgeValue, Effects, Engine, GraphView, Key, LabelId, Prepared,
    Record, SchemaError, StoredEdge, Timestamp, VertexChange, VertexId,
};

/// A commit is not one of this graph, though its bytes are what was written: what is wrong with it.
enum Refusal {
    Foreign(String),
    Failed(Reason),
}

impl From<Reason> for Refusal {
    fn from(reason: Reason) -> Self {
        Refusal::Failed(reason)
    }
}

fn foreign<T>(what: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::Foreign(what.into()))
}

impl<E: Engine> Store<E> {
    /// Makes the commit of a record again. Gives what an importer noted with it. All locks are held, and nobody sees the graph.
    pub(super) fn replay(
        &self,
        held: &HeldLocks<'_>,
        record: &LogRecord<'_>,
        place: Place<'_>,
    ) -> Result<Option<Box<[u8]>>, Error> {
        let damaged = |what: String| StoreError::Damaged {
            path: place.path.to_owned(),
            offset: place.offset,
            what: format!("the commit of timestamp {} {what}", record.at),
        };
        let commit = LoggedCommit::decode(record.body, self.topology);
        let commit = commit.map_err(|error| damaged(format!("cannot be read: {error}")))?;
        let replayed = self.replay_commit(held, &commit, record.at);
        replayed.map_err(|refusal| match refusal {
            Refusal::Foreign(what) => Error::from(damaged(what)),
            Refusal::Failed(reason) => Error::from(reason),
        })?;
        Ok(commit.input)
    }

    fn replay_commit(
        &self,
        held: &HeldLocks<'_>,
        commit: &LoggedCommit,
        at: Timestamp,
    ) -> Result<(), Refusal> {
        let LoggedCommit { effects, keys, catalogue, .. } = commit;
        if catalogue.as_ref().is_some_and(|catalogue| *catalogue != *self.catalogue) {
            return foreign("changes labels or properties, which this version does not know how to");
        }
        effects.adjacencies.iter().try_for_each(|edges| self.check_values(edges))?;
        if let Some(edge) = self.single_edge(commit)
            && self.both_exist(held, &edge)
            && let Some(plan) = self.engine.plan_edge(held, &edge)
        {
            let stamp = self.sequencer.stamp_again(at, VertexCounts::default(), &[plan.outcome]);
            self.engine.apply_edge(stamp, &edge, &plan);
            return Ok(());
        }
        let (created, deleted) = self.check_vertices(held, effects)?;
        self.check_ends(held, effects, &created, &deleted)?;
        self.restore_keys(keys, &created, &deleted)?;
        let pool = self.pool_for(effects.len());
        let prepared = self.engine.prepare(held, effects, pool);
        let Prepared { changes, outcome, .. } = prepared.map_err(Reason::Capacity)?;
        let counts = VertexCounts {
            added: created.len() as u64,
            removed: deleted.len() as u64,
            bound: created.last().map_or(0, |id| id.get() + 1),
        };
        let stamp = self.sequencer.stamp_again(at, counts, &outcome.edges);
        self.engine.apply(stamp, changes);
        Ok(())
    }

    /// The edge of a commit of one edge between vertices that existed.
    fn single_edge(&self, commit: &LoggedCommit) -> Option<StoredEdge> {
        let AdjacencyEffects { label, changes, .. } = commit.effects.adjacencies.first()?;
        // A commit of two adjacencies of one edge has one change in each.
        let is_single = commit.effects.vertices.is_empty()
            && changes.len() <= 2
            && commit.effects.adjacencies.iter().all(|others| others.label == *label);
        let canonical = |change: &&hedgerow_model::EdgeChange| {
            self.topology.is_canonical_entry(Direction::Out, change.owner, change.neighbour)
        };
        let mut edges = changes.iter().filter(canonical);
        let (edge, others) = (edges.next()?, edges.next());
        (is_single && others.is_none())
            .then(|| StoredEdge::new(self.topology, *label, edge.owner, edge.neighbour, edge.value))
    }

    /// Whether the label exists, and its column can have the values.
    fn check_values(&self, edges: &AdjacencyEffects) -> Result<(), Refusal> {
        let AdjacencyEffects { label: LabelId(number), .. } = edges;
        let Some(schema) = self.catalogue.label(edges.label) else {
            return foreign(format!("has edges of label number {number}, which does not exist"));
        };
        let column = schema.edges.column();
        let most = match column {
            ColumnType::Unit => 0,
            ColumnType::U32 | ColumnType::F32 => u64::from(u32::MAX),
            ColumnType::U64 | ColumnType::I64 | ColumnType::F64 => u64::MAX,
        };
        let fits = |value: EdgeValue| value.0 <= most;
        match edges.changes.iter().all(|change| change.value.is_none_or(fits)) {
            true => Ok(()),
            false => foreign(format!("has edges of label number {number} with values that are no {column}")),
        }
    }

    /// Which vertices are new, and which exist no more, both ascending.
    fn check_vertices(
        &self,
        held: &HeldLocks<'_>,
        effects: &Effects,
    ) -> Result<(Vec<VertexId>, Vec<VertexId>), Refusal> {
        let latest = self.engine.latest(held);
        let (mut created, mut deleted) = (Vec::new(), Vec::new());
        for effect in &effects.vertices {
            let (vertex, existed) = (effect.vertex, latest.contains_vertex(effect.vertex));
            match &effect.change {
                VertexChange::Put(record) => {
                    if let Err(error) = self.check_record(record) {
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

    /// Whether the ends of all edges that are put exist then.
    fn check_ends(
        &self,
        held: &HeldLocks<'_>,
        effects: &Effects,
        created: &[VertexId],
        deleted: &[VertexId],
    ) -> Result<(), Refusal> {
        let latest = self.engine.latest(held);
        let exists = |vertex: &VertexId| {
            created.binary_search(vertex).is_ok()
                || latest.contains_vertex(*vertex) && deleted.binary_search(vertex).is_err()
        };
        let changes = effects.adjacencies.iter().flat_map(|effects| &effects.changes);
        let mut ends = changes
            .filter(|change| change.value.is_some())
            .flat_map(|change| [change.owner, change.neighbour]);
        match ends.find(|end| !exists(end)) {
            Some(end) => foreign(format!("puts an edge of vertex {end}, which does not exist")),
            None => Ok(()),
        }
    }

    /// Gives new vertices their keys, and takes those of deleted ones.
    fn restore_keys(
        &self,
        keys: &[(VertexId, Key)],
        created: &[VertexId],
        deleted: &[VertexId],
    ) -> Result<(), Refusal> {
        if self.dictionary.is_dense() {
            return if keys.is_empty() {
                Ok(())
            } else {
                foreign("has keys, which are the ids in this graph")
            };
        }
        if !keys.iter().map(|(id, _)| id).eq(created) {
            return foreign("has other keys than new vertices");
        }
        deleted.iter().for_each(|id| self.dictionary.forget(*id));
        for (id, key) in keys {
            match self.dictionary.restore(key.as_ref(), *id) {
                Ok(true) => {}
                Ok(false) => return foreign(format!("gives the key {key} to a second vertex")),
                Err(error) => return foreign(format!("has a key that does not fit: {error}")),
            }
        }
        Ok(())
    }

    /// Whether a vertex can have a record: none, or one of the schema.
    pub(super) fn check_record(&self, record: &Record) -> Result<(), SchemaError> {
        if record.is_empty() { Ok(()) } else { self.catalogue.vertices().check(record) }
    }

    /// The ids that no vertex has are free.
    pub(super) fn finish_restoring(&self, held: &HeldLocks<'_>) {
        let bound = held.counts().vertex_bound;
        let latest = self.engine.latest(held);
        self.dictionary.restore_free(bound, |visit| latest.scan_vertices(0..bound, visit));
    }
}
