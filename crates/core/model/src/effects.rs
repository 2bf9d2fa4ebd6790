//! The effects of a commit, by vertex ids: decided, sorted, ready for an engine.

use crate::{
    Count, Direction, EdgeChange, EdgeChanges, EdgeValue, EffectRecords, Key, LabelId, ReadError, Record,
    Topology, VertexId,
};
use rayon::ThreadPool;
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// The resolved changes of one commit.
///
/// No effect is conditional, so replaying them gives the same state on every engine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Effects {
    /// Changes of vertices, ascending by vertex, at most one each.
    pub vertices: Vec<VertexEffect>,
    /// The key of each vertex that is put, in the order of `vertices`, for engines with [their own
    /// files](crate::Durable). Empty for other engines, and where keys are ids.
    pub keys: Vec<Key>,
    /// Changes of adjacencies, ascending by label, then direction, at most one each.
    ///
    /// Contains an edge in all stored directions: an undirected edge appears from both ends.
    pub adjacencies: SmallVec<[AdjacencyEffects; 2]>,
    /// The records of edges of labels with records: the value of a change is the number of its
    /// record. Both entries of an edge refer to the same record. The record of parallel edges is
    /// the list of the changed ones.
    pub records: EffectRecords,
}

/// The change of one vertex.
#[derive(Clone, Debug, PartialEq)]
pub struct VertexEffect {
    /// The vertex.
    pub vertex: VertexId,
    /// Its change.
    pub change: VertexChange,
}

impl VertexEffect {
    /// Returns true if the vertex exists afterwards.
    #[must_use]
    pub fn is_put(&self) -> bool {
        matches!(self.change, VertexChange::Put(_))
    }
}

/// A change of a vertex.
#[derive(Clone, Debug, PartialEq)]
pub enum VertexChange {
    /// The vertex exists from now on, with this record.
    Put(Record),
    /// The vertex no longer exists. The deletions of its edges are in the same effects.
    Delete,
}

/// The changes of one stored adjacency.
#[derive(Clone, Debug, PartialEq)]
pub struct AdjacencyEffects {
    /// The label.
    pub label: LabelId,
    /// The stored direction.
    pub direction: Direction,
    /// Changes, ascending by owner, then neighbor, at most one each.
    pub changes: EdgeChanges,
}

impl AdjacencyEffects {
    /// The changes of edges at their canonical entries, with the changes of their other entries:
    /// in the same adjacency of an undirected graph, else in that of the other direction, if it is
    /// stored. O(n log n), on the threads of `pool` if given.
    #[must_use]
    pub fn with_other_ends(self, topology: Topology, pool: Option<&ThreadPool>) -> SmallVec<[Self; 2]> {
        let AdjacencyEffects { label, direction, mut changes } = self;
        let second = |change: EdgeChange| {
            let (_, owner, neighbor) = topology.second_entry(change.owner(), change.neighbor())?;
            Some(EdgeChange::new(owner, neighbor, change.value))
        };
        let mut others: EdgeChanges = changes.iter().filter_map(second).collect();
        if topology.is_undirected() {
            changes.append(others.as_slice());
            drop(others);
            changes.sort(pool);
            return smallvec![AdjacencyEffects { label, direction, changes }];
        }
        others.sort(pool);
        let both = [(direction, changes), (Direction::In, others)].into_iter();
        let changed = both.filter(|(_, changes)| !changes.is_empty());
        changed.map(|(direction, changes)| AdjacencyEffects { label, direction, changes }).collect()
    }
}

impl Effects {
    /// Returns true if nothing changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.vertices.is_empty() && self.adjacencies.iter().all(|effects| effects.changes.is_empty())
    }

    /// Number of changed vertices and adjacency entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.vertices.len() + self.adjacencies.iter().map(|effects| effects.changes.len()).sum::<usize>()
    }

    /// The changes of vertices; vertices that are put come with their [keys](Effects::keys), if
    /// there are any.
    pub fn vertices_and_keys(&self) -> impl Iterator<Item = (&VertexEffect, Option<&Key>)> {
        let mut keys = self.keys.iter();
        self.vertices.iter().map(move |effect| (effect, if effect.is_put() { keys.next() } else { None }))
    }

    /// The record of a change, by its number.
    ///
    /// # Errors
    /// If there is no such record.
    pub fn record(&self, number: EdgeValue) -> Result<&[u8], ReadError> {
        let record = self.records.get(number);
        record.ok_or_else(|| ReadError::new("the effects of a commit", "a record is missing"))
    }

    /// Returns true if the fields have the documented order and uniqueness. For assertions. O(n).
    #[must_use]
    pub fn is_sorted(&self) -> bool {
        let vertices = self.vertices.windows(2).all(|pair| pair[0].vertex < pair[1].vertex);
        let tables = self
            .adjacencies
            .windows(2)
            .all(|pair| (pair[0].label, pair[0].direction) < (pair[1].label, pair[1].direction));
        let changes = self
            .adjacencies
            .iter()
            .all(|effects| effects.changes.as_slice().positions().windows(2).all(|pair| pair[0] < pair[1]));
        vertices && tables && changes
    }
}

/// The change of a single edge, as it is stored: from one end or from both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredEdge {
    /// The label.
    pub label: LabelId,
    entries: [(Direction, EdgeChange); 2],
    length: u8,
}

impl StoredEdge {
    /// The change of an edge; without a value, its deletion.
    #[inline]
    #[must_use]
    pub fn new(
        topology: Topology,
        label: LabelId,
        source: VertexId,
        destination: VertexId,
        value: Option<EdgeValue>,
    ) -> Self {
        let first = (Direction::Out, EdgeChange::new(source, destination, value));
        let second = topology.second_entry(source, destination);
        let second =
            second.map(|(stored, owner, neighbor)| (stored, EdgeChange::new(owner, neighbor, value)));
        let length = 1 + u8::from(second.is_some());
        StoredEdge { label, entries: [first, second.unwrap_or(first)], length }
    }

    /// The source and the destination, as they were passed in.
    #[inline]
    #[must_use]
    pub fn ends(&self) -> (VertexId, VertexId) {
        let (_, first) = self.entries[0];
        (first.owner(), first.neighbor())
    }

    /// Returns true if the edge is deleted.
    #[inline]
    #[must_use]
    pub fn deletes(&self) -> bool {
        self.entries[0].1.value.is_none()
    }

    /// The entries, each in its stored direction.
    #[inline]
    #[must_use]
    pub fn entries(&self) -> &[(Direction, EdgeChange)] {
        &self.entries[..usize::from(self.length)]
    }
}

/// The counts of changes that an engine found while preparing effects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Edges added and removed, per changed label. Each edge counts once.
    pub edges: SmallVec<[EdgeOutcome; 1]>,
    /// The change of the number of parallel edges, per changed label. For such labels, `edges`
    /// counts the connected pairs of vertices.
    pub parallel: Vec<ParallelOutcome>,
    /// Changes of edges that the engine did not look up and that `edges` omits, per label. Empty if
    /// the engine always looks edges up.
    pub deferred: SmallVec<[DeferredOutcome; 1]>,
}

/// The change of the number of edges of one label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdgeOutcome {
    /// The label.
    pub label: LabelId,
    /// Edges that did not exist before.
    pub added: u64,
    /// Edges that existed and were removed.
    pub removed: u64,
}

/// Changes of edges of one label that are counted later, because the engine would have to read the
/// edges to know if they change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeferredOutcome {
    /// The label.
    pub label: LabelId,
    /// Edges that are put and may be new.
    pub puts: u64,
    /// Edges that are deleted and may have existed.
    pub deletions: u64,
}

impl Outcome {
    /// Adds edges of `label`. Labels are reported in ascending order.
    #[inline]
    pub fn count(&mut self, label: LabelId, added: u64, removed: u64) {
        match self.edges.iter_mut().find(|outcome| outcome.label == label) {
            Some(outcome) => {
                outcome.added += added;
                outcome.removed += removed;
            }
            None => self.edges.push(EdgeOutcome { label, added, removed }),
        }
    }

    /// Adds parallel edges of `label`.
    pub fn count_parallel(&mut self, label: LabelId, net: i64) {
        match self.parallel.iter_mut().find(|outcome| outcome.label == label) {
            Some(outcome) => outcome.net += net,
            None => self.parallel.push(ParallelOutcome { label, net }),
        }
    }

    /// Defers the counting of edges of `label`.
    #[inline]
    pub fn defer(&mut self, label: LabelId, puts: u64, deletions: u64) {
        match self.deferred.iter_mut().find(|outcome| outcome.label == label) {
            Some(outcome) => {
                outcome.puts += puts;
                outcome.deletions += deletions;
            }
            None => self.deferred.push(DeferredOutcome { label, puts, deletions }),
        }
    }

    /// Edges added, over all labels.
    #[inline]
    #[must_use]
    pub fn added(&self) -> Count {
        let known: u64 = self.edges.iter().map(|outcome| outcome.added).sum();
        let deferred: u64 = self.deferred.iter().map(|outcome| outcome.puts).sum();
        Count::between(known, known + deferred)
    }

    /// Edges removed, over all labels.
    #[inline]
    #[must_use]
    pub fn removed(&self) -> Count {
        let known: u64 = self.edges.iter().map(|outcome| outcome.removed).sum();
        let deferred: u64 = self.deferred.iter().map(|outcome| outcome.deletions).sum();
        Count::between(known, known + deferred)
    }
}

/// The size of the graph at a timestamp.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Greater than every vertex id in use.
    pub vertex_bound: u32,
    /// Vertices that exist.
    pub vertices: u64,
    /// Upper bound on the number of edges per label, by position in the catalog. Labels beyond the
    /// end have no edges.
    pub edges: SmallVec<[u64; 2]>,
    /// Further counts per label, by position in the catalog. `None` if there never were any.
    pub beside: Option<Arc<Vec<CountsBeside>>>,
}

/// Rarely needed counts of a label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CountsBeside {
    /// Number of parallel edges, if edges are counted as connected pairs of vertices.
    pub parallel: u64,
    /// Number of counted edges that may not exist, because their changes were
    /// [deferred](DeferredOutcome).
    pub uncertain: u64,
}

/// The change of the number of parallel edges of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParallelOutcome {
    /// The label.
    pub label: LabelId,
    /// Edges added less edges removed.
    pub net: i64,
}

impl Counts {
    /// Number of edges of `label`.
    #[must_use]
    pub fn edges_of(&self, label: LabelId) -> Count {
        let most = self.edges.get(label.index()).copied().unwrap_or(0);
        match &self.beside {
            None => Count::exactly(most),
            Some(_) => Count::between(most.saturating_sub(self.beside_of(label).uncertain), most),
        }
    }

    /// Number of edges of all labels. All parallel edges between two vertices count once.
    /// O(labels).
    #[must_use]
    pub fn total_edges(&self) -> Count {
        self.labels().map(|label| self.edges_of(label)).sum()
    }

    /// Number of edges of all labels, counting each parallel edge. O(labels).
    #[must_use]
    pub fn total_each_edge(&self) -> Count {
        let of = |label| match self.parallel_of(label) {
            0 => self.edges_of(label),
            edges => Count::exactly(edges),
        };
        self.labels().map(of).sum()
    }

    fn labels(&self) -> impl Iterator<Item = LabelId> {
        // The catalog checked that its labels fit in 16 bits.
        (0..self.edges.len() as u16).map(LabelId)
    }

    /// Number of parallel edges of `label`.
    #[must_use]
    pub fn parallel_of(&self, label: LabelId) -> u64 {
        self.beside_of(label).parallel
    }

    /// Further counts of `label`.
    #[must_use]
    pub fn beside_of(&self, label: LabelId) -> CountsBeside {
        self.beside.as_ref().and_then(|beside| beside.get(label.index()).copied()).unwrap_or_default()
    }

    /// Adds the edge changes of a commit. O(labels changed).
    pub fn add(&mut self, outcome: &[EdgeOutcome]) {
        for change in outcome {
            let edges = self.edges_mut(change.label);
            *edges = *edges + change.added - change.removed;
        }
    }

    /// Adds the parallel-edge changes of a commit. O(labels).
    pub fn add_parallel(&mut self, outcome: &[ParallelOutcome]) {
        for ParallelOutcome { label, net } in outcome {
            let parallel = &mut self.beside_mut(*label).parallel;
            *parallel = parallel.checked_add_signed(*net).expect("removed edges were counted");
        }
    }

    /// Adds the deferred edge changes of a commit. O(labels).
    pub fn add_deferred(&mut self, outcome: &[DeferredOutcome]) {
        for DeferredOutcome { label, puts, deletions } in outcome {
            let edges = self.edges_mut(*label);
            *edges += puts;
            let most = *edges;
            let uncertain = &mut self.beside_mut(*label).uncertain;
            *uncertain = (*uncertain + puts + deletions).min(most);
        }
    }

    /// Intersects the bounds on the edges of a label with `bounds`. Does nothing if they are
    /// disjoint. O(labels).
    pub fn narrow(&mut self, label: LabelId, bounds: Count) {
        let known = self.edges_of(label);
        let (low, high) = (known.at_least().max(bounds.at_least()), known.at_most().min(bounds.at_most()));
        if low <= high && Count::between(low, high) != known {
            *self.edges_mut(label) = high;
            self.beside_mut(label).uncertain = high - low;
        }
    }

    fn edges_mut(&mut self, label: LabelId) -> &mut u64 {
        if self.edges.len() <= label.index() {
            self.edges.resize(label.index() + 1, 0);
        }
        &mut self.edges[label.index()]
    }

    fn beside_mut(&mut self, label: LabelId) -> &mut CountsBeside {
        let beside = Arc::make_mut(self.beside.get_or_insert_default());
        if beside.len() <= label.index() {
            beside.resize(label.index() + 1, CountsBeside::default());
        }
        &mut beside[label.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deferred_changes_widen_the_bounds() {
        let (label, mut counts) = (LabelId(1), Counts::default());
        counts.add(&[EdgeOutcome { label, added: 5, removed: 1 }]);
        assert_eq!((counts.edges_of(label), counts.total_edges()), (Count::exactly(4), Count::exactly(4)));
        counts.add_deferred(&[DeferredOutcome { label, puts: 2, deletions: 1 }]);
        assert_eq!(counts.edges_of(label), Count::between(3, 6));
        counts.add_deferred(&[DeferredOutcome { label, puts: 0, deletions: 9 }]);
        assert_eq!(counts.edges_of(label), Count::between(0, 6));
        counts.narrow(label, Count::between(2, 9));
        assert_eq!(counts.edges_of(label), Count::between(2, 6));
        counts.narrow(label, Count::between(7, 9));
        assert_eq!(counts.edges_of(label), Count::between(2, 6), "one of the two is wrong");
        counts.narrow(label, Count::exactly(4));
        assert_eq!(counts.edges_of(label), Count::exactly(4));
        counts.narrow(LabelId(0), Count::between(0, 5));
        counts.add_parallel(&[ParallelOutcome { label, net: 3 }]);
        assert_eq!((counts.parallel_of(label), counts.edges_of(LabelId(0))), (3, Count::exactly(0)));
    }
}
