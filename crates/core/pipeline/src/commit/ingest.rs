//! Bulk ingest: many edges as one commit, sorted, deduplicated and applied in parallel, or appended
//! in the order in which they came.

use crate::commit::entries::{ValueOf, entries_of};
use crate::commit::holdings::{AssignedIds, Holdings};
use crate::commit::known_ids::KnownIds;
use crate::commit::resolve::Resolved;
use crate::commit::{BYTES_OF_CHANGE, Commit};
use crate::dictionary::{Dictionary, DictionaryError};
use crate::error::Error;
use crate::store::Store;
use fixedbitset::FixedBitSet;
use hedgerow_log::Durability;
use hedgerow_model::{
    AdjacencyEffects, AppendedEdges, ColumnType, EdgeChange, EdgeValue, Effects, Engine, KeyRef, LabelId,
    Record, Topology, VertexChange, VertexEffect, VertexId,
};
use hedgerow_sequencer::{LockGuard, Stripes, WriterKind};
use hedgerow_sync::map_chunks;
use rayon::ThreadPool;
use smallvec::SmallVec;
use std::convert::Infallible;

/// The edges of a bulk ingest, by number.
///
/// Used as a trait object, so that a bulk ingest is compiled once per engine, not per edge type.
pub trait BulkEdges: Sync {
    /// The number of edges.
    fn count(&self) -> usize;

    /// Source and destination of an edge.
    fn keys(&self, edge: usize) -> [KeyRef<'_>; 2];

    /// The type of the edges' values; [`ColumnType::Unit`] if they have records.
    fn value_type(&self) -> ColumnType;

    /// The value of an edge.
    fn value(&self, edge: usize) -> EdgeValue;

    /// The number that distinguishes an edge from parallel ones; `None` if it cannot be parallel.
    fn number(&self, edge: usize) -> Option<u64>;

    /// Looks up the ends of the edges from `first` on, each as the
    /// [position](EdgeChange::position_of) of its entry; they are 0 before. Returns the numbers of
    /// the edges that lack an endpoint, ascending.
    ///
    /// Provided, so that the loop over the keys has no virtual call.
    ///
    /// # Errors
    /// A key of the wrong kind.
    fn look_up(
        &self,
        dictionary: &Dictionary,
        first: usize,
        ends: &mut [u64],
    ) -> Result<Vec<usize>, DictionaryError> {
        if dictionary.is_dense() {
            for (edge, ends) in ends.iter_mut().enumerate() {
                let [source, destination] = self.keys(first + edge);
                *ends = EdgeChange::position_of(dictionary.dense(source)?, dictionary.dense(destination)?);
            }
            return Ok(Vec::new());
        }
        let mut missing = Vec::new();
        let key_at = |end: usize| self.keys(first + end / 2)[end % 2];
        dictionary.current_of_each(2 * ends.len(), key_at, |end, id| match (id, end % 2) {
            (Some(id), 0) => ends[end / 2] |= EdgeChange::position_of(id, VertexId::default()),
            (Some(id), _) => ends[end / 2] |= EdgeChange::position_of(VertexId::default(), id),
            (None, _) => missing.push(first + end / 2),
        })?;
        missing.dedup();
        Ok(missing)
    }
}

/// The input of a bulk ingest.
pub(super) struct Bulk<'b> {
    pub(super) label: LabelId,
    pub(super) edges: &'b dyn BulkEdges,
    /// The records of the edges by number, where the label has records.
    pub(super) records: Option<&'b [Record]>,
    /// The importer's position to store with the commit.
    pub(super) input: Option<&'b [u8]>,
}

/// Attempts without key locks, which fail if keys are deleted in the meantime, before all keys are
/// locked.
const OPTIMISTIC_ATTEMPTS: usize = 2;

/// Number of edges whose keys one thread looks up at a time.
const LOOK_UP_CHUNK: usize = 1 << 13;

/// Ids per word of a set.
const IDS_PER_WORD: usize = 64;

/// Keys are prefetched this many edges ahead of the edge whose ends get ids.
const ASSIGN_AHEAD: usize = 8;

impl Store {
    /// Puts all `edges` as one commit; the last of several equal edges wins. `input` is the
    /// importer's position to store with the commit.
    pub fn ingest(
        &self,
        label: LabelId,
        edges: &dyn BulkEdges,
        input: Option<&[u8]>,
    ) -> Result<Commit, Error> {
        self.ingest_bulk(&Bulk { label, edges, records: None, input })
    }

    pub(super) fn ingest_bulk(&self, bulk: &Bulk<'_>) -> Result<Commit, Error> {
        self.admit(bulk.edges.count() * BYTES_OF_CHANGE)?;
        let commit = self.reclaiming_at_limit(|| self.ingest_once(bulk))?;
        self.settle(commit, Durability::None)
    }

    fn ingest_once(&self, bulk: &Bulk<'_>) -> Result<Commit, Error> {
        for _ in 0..OPTIMISTIC_ATTEMPTS {
            if let Some(commit) = self.try_ingest(bulk, false)? {
                return Ok(commit);
            }
        }
        // With all keys locked none changes in the meantime, unless a commit failed after its
        // stamp.
        self.try_ingest(bulk, true)?.ok_or(Error::Poisoned)
    }

    /// Like [`Store::ingest`]; `None` if a key lost its vertex between lookup and lock.
    fn try_ingest(&self, bulk: &Bulk<'_>, lock_all_keys: bool) -> Result<Option<Commit>, Error> {
        let Bulk { label, edges, records, input } = *bulk;
        let pool = self.pool_for(edges.count());
        let mut holdings = Holdings::new(self);
        if lock_all_keys {
            holdings.keys = Some(self.dictionary.lock((0..edges.count()).flat_map(|edge| edges.keys(edge))));
        }
        let generation = self.dictionary.generation();
        let LookedUp { mut ends, missing } = look_up(&self.dictionary, edges, pool)?;
        if !(missing.is_empty() || lock_all_keys) {
            holdings.keys = Some(self.dictionary.lock(missing.iter().flat_map(|edge| edges.keys(*edge))));
        }
        self.assign_missing(edges, &missing, &mut ends, &mut holdings.assigned)?;
        let appends = self.may_append(label) && !ends.is_empty();
        let adjacencies = if appends { SmallVec::new() } else { entries(self.topology, bulk, &ends, pool) };
        // Before the locks, like the entries.
        let values: Vec<u64> = match edges.value_type() {
            ColumnType::Unit => Vec::new(),
            _ if appends => (0..ends.len()).map(|edge| edges.value(edge).0).collect(),
            _ => Vec::new(),
        };
        let appending = if appends { LockGuard::append(&self.units) } else { None };
        let vertices = distinct(&ends, pool);
        let lock = || LockGuard::lock(&self.units, self.stripes_of(vertices.iter().copied()));
        holdings.hold_units(appending.unwrap_or_else(lock));
        let mut created = self.missing_vertices(&vertices, pool);
        if !created.is_empty() && holdings.lock_if_appending(|| self.stripes_of(created.iter().copied())) {
            // Another commit that appends may have created some vertices before they were locked.
            created = self.engine.missing(&created);
        }
        // Checked last: a key may have lost its id to another key, whose vertex was found instead.
        let keys_changed = self.dictionary.generation() != generation && !lock_all_keys;
        if keys_changed {
            let now = look_up(&self.dictionary, edges, pool)?;
            if !(now.missing.is_empty() && now.ends == ends) {
                return Ok(None);
            }
        }
        let mut resolved = self.with_vertices(created, adjacencies)?;
        if !(self.dictionary.is_dense() || holdings.assigned.contains_all(&resolved.created)) {
            // Another commit has assigned a key's id and not created its vertex yet; it may still
            // fail.
            return Ok(None);
        }
        if let Some(records) = records {
            let laid = match self.catalog.are_parallel(label) {
                true => Self::lay_lists,
                false => Self::lay_records,
            };
            laid(self, &holdings.held(), bulk, records, &ends, &mut resolved)?;
        }
        let appended = appends.then_some(AppendedEdges { label, edges: &ends, values: &values });
        let applied = self.finish(&mut holdings.held(), &resolved, appended, WriterKind::Blind, input)?;
        holdings.assigned.keep();
        Ok(Some(applied.release(self, holdings)))
    }

    /// Looks up the ends of the edges in `missing` again, whose keys are locked now, and assigns
    /// ids to keys that have none.
    fn assign_missing(
        &self,
        edges: &dyn BulkEdges,
        missing: &[usize],
        ends: &mut [u64],
        assigned: &mut AssignedIds<'_>,
    ) -> Result<(), Error> {
        let mut id_of = |key: KeyRef<'_>| match self.strict {
            true => self.dictionary.current(key)?.ok_or_else(|| Error::NoSuchVertex(key.to_key())),
            false => assigned.current_or_assign(key),
        };
        let mut known = KnownIds::new(2 * missing.len());
        for (number, edge) in missing.iter().enumerate() {
            if let Some(ahead) = missing.get(number + ASSIGN_AHEAD) {
                // Fetches the places of known keys, too.
                let unknown = edges.keys(*ahead).into_iter().filter(|key| known.get(*key).is_none());
                unknown.for_each(|key| self.dictionary.prefetch(key));
            }
            let mut once = |key| match known.get(key) {
                Some(id) => Ok(id),
                None => id_of(key).inspect(|id| known.insert(key, *id)),
            };
            let [source, destination] = edges.keys(*edge);
            ends[*edge] = EdgeChange::position_of(once(source)?, once(destination)?);
        }
        Ok(())
    }

    /// The vertices that do not exist yet, in the same order.
    fn missing_vertices(&self, vertices: &[VertexId], pool: Option<&ThreadPool>) -> Vec<VertexId> {
        let chunks = vertices.chunks(LOOK_UP_CHUNK).collect();
        let Ok(missing) =
            map_chunks(pool, chunks, |vertices| Ok::<_, Infallible>(self.engine.missing(vertices)));
        missing.concat()
    }

    /// The stripes of the locks of vertices.
    fn stripes_of(&self, vertices: impl Iterator<Item = VertexId>) -> Stripes {
        self.units.stripes(vertices.map(|vertex| self.engine.lock_unit(vertex)))
    }

    /// The effects: the entries, and the vertices that do not exist yet.
    fn with_vertices(
        &self,
        created: Vec<VertexId>,
        adjacencies: SmallVec<[AdjacencyEffects; 2]>,
    ) -> Result<Resolved, Error> {
        if let (true, Some(vertex)) = (self.strict, created.first()) {
            return Err(Error::NoSuchVertex(self.dictionary.key(*vertex)));
        }
        let put =
            |vertex: &VertexId| VertexEffect { vertex: *vertex, change: VertexChange::Put(Record::EMPTY) };
        let mut effects =
            Effects { vertices: created.iter().map(put).collect(), adjacencies, ..Effects::default() };
        self.add_keys(&mut effects);
        Ok(Resolved { effects, created: created.into(), ..Resolved::default() })
    }
}

/// The endpoints of edges.
struct LookedUp {
    /// Source and destination by edge, as a [position](EdgeChange::position_of); meaningless for
    /// the edges in `missing`.
    ends: Vec<u64>,
    /// The numbers of the edges that lack an endpoint, ascending.
    missing: Vec<usize>,
}

fn look_up(
    dictionary: &Dictionary,
    edges: &dyn BulkEdges,
    pool: Option<&ThreadPool>,
) -> Result<LookedUp, DictionaryError> {
    let mut ends = vec![0; edges.count()];
    if dictionary.is_unused() {
        return Ok(LookedUp { ends, missing: (0..edges.count()).collect() });
    }
    let chunks = ends.chunks_mut(LOOK_UP_CHUNK).enumerate().collect();
    let look_up_chunk =
        |(chunk, ends): (usize, &mut [u64])| edges.look_up(dictionary, chunk * LOOK_UP_CHUNK, ends);
    let missing = map_chunks(pool, chunks, look_up_chunk)?.concat();
    Ok(LookedUp { ends, missing })
}

/// The adjacency entries of all edges: sorted, deduplicated, the last value of an edge wins. With
/// records, the value is the edge's number.
fn entries(
    topology: Topology,
    bulk: &Bulk<'_>,
    ends: &[u64],
    pool: Option<&ThreadPool>,
) -> SmallVec<[AdjacencyEffects; 2]> {
    let Bulk { label, edges, records, .. } = *bulk;
    let number_of = |edge: usize| Some(EdgeValue(edge as u64));
    let value_of = |edge: usize| Some(edges.value(edge));
    let value_of: Option<ValueOf<'_>> = match edges.value_type() {
        _ if records.is_some() => Some(&number_of),
        ColumnType::Unit => None,
        _ => Some(&value_of),
    };
    let effects = topology.directions().iter().map(|direction| {
        let changes = entries_of(ends, value_of, (topology, *direction), pool);
        AdjacencyEffects { label, direction: *direction, changes }
    });
    effects.collect()
}

/// The ends of the edges, ascending. O(edges) if many of all ids are ends, else O(n log n).
fn distinct(ends: &[u64], pool: Option<&ThreadPool>) -> Vec<VertexId> {
    let threads = pool.map_or(1, ThreadPool::current_num_threads);
    let chunks = || ends.chunks(ends.len().div_ceil(threads).max(1)).collect();
    let bound_of = |chunk: &[u64]| Ok::<_, Infallible>(vertices_of(chunk).max());
    let Ok(bounds) = map_chunks(pool, chunks(), bound_of);
    let bound = bounds.into_iter().flatten().max().map_or(0, |last| last.index() + 1);
    // Each thread has a set.
    if threads * (bound / IDS_PER_WORD) <= 2 * ends.len() {
        let Ok(sets) = map_chunks(pool, chunks(), |chunk| {
            let mut are_ends = FixedBitSet::with_capacity(bound);
            vertices_of(chunk).for_each(|vertex| are_ends.insert(vertex.index()));
            Ok::<_, Infallible>(are_ends)
        });
        let unite = |mut all: FixedBitSet, set: FixedBitSet| {
            all.union_with(&set);
            all
        };
        let are_ends = sets.into_iter().reduce(unite).unwrap_or_default();
        // Ids have 32 bits.
        return are_ends.ones().map(|id| VertexId::new(id as u32)).collect();
    }
    let mut vertices: Vec<_> = vertices_of(ends).collect();
    vertices.sort_unstable();
    vertices.dedup();
    vertices
}

fn vertices_of(edges: &[u64]) -> impl Iterator<Item = VertexId> {
    let edges = edges.iter().map(|edge| EdgeChange::at(*edge, None));
    edges.flat_map(|edge| [edge.owner(), edge.neighbor()])
}
