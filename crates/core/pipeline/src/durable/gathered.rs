//! Log commits that are applied together. The states between them are never visible, so the last of
//! several changes of an item suffices, and the engine gets few large commits instead of many small
//! ones.

use crate::commit::entries::{ValueOf, entries_of};
use crate::error::Error;
use hedgerow_model::{
    AdjacencyEffects, CommitTimestamp, EdgeChange, EdgeChanges, Effects, Key, LabelId, Topology,
    VertexEffect, VertexId,
};
use rayon::ThreadPool;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// The changes of consecutive commits.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    /// Changed vertices in the order of the commits, each with its key if the engine keeps keys.
    vertices: Vec<(VertexEffect, Option<Key>)>,
    /// Canonical entries of the edges, in the order of the commits.
    edges: BTreeMap<LabelId, EdgeChanges>,
    changes: usize,
    /// The timestamp of the last commit.
    at: CommitTimestamp,
    /// Greater than all vertex ids that the commits assigned, including ids of vertices deleted
    /// again.
    vertex_bound: u32,
}

impl Gathered {
    /// Returns true if nothing changes.
    pub(super) fn is_empty(&self) -> bool {
        self.changes == 0
    }

    /// Number of changes of vertices and edges, before merging.
    pub(super) fn len(&self) -> usize {
        self.changes
    }

    /// The timestamp of the last commit.
    pub(super) fn at(&self) -> CommitTimestamp {
        self.at
    }

    /// Greater than all vertex ids that the commits assigned, including ids of vertices deleted
    /// again.
    pub(super) fn vertex_bound(&self) -> u32 {
        self.vertex_bound
    }

    /// Adds the next commit, which has each edge once, as its canonical entry. O(changes).
    pub(super) fn add(&mut self, effects: Effects, at: CommitTimestamp) {
        self.at = at;
        self.changes += effects.len();
        self.vertex_bound = self.vertex_bound.max(vertex_bound(&effects));
        let mut keys = effects.keys.into_iter();
        self.vertices.extend(effects.vertices.into_iter().map(|effect| {
            let key = if effect.is_put() { keys.next() } else { None };
            (effect, key)
        }));
        for AdjacencyEffects { label, changes, .. } in effects.adjacencies {
            let edges = self.edges.entry(label).or_default();
            edges.append(changes.as_slice());
        }
    }

    /// Adds the next commit, which changes one edge. O(1).
    #[inline]
    pub(super) fn add_edge(&mut self, label: LabelId, change: EdgeChange, at: CommitTimestamp) {
        self.at = at;
        self.changes += 1;
        self.edges.entry(label).or_default().push(change);
    }

    /// Merges the changes as if they were one commit. `existed` tells which vertices existed before
    /// the first commit.
    ///
    /// O(n log n), on the threads of `pool` if given.
    pub(super) fn into_effects(
        self,
        topology: Topology,
        existed: impl Fn(VertexId) -> Result<bool, Error>,
        pool: Option<&ThreadPool>,
    ) -> Result<Effects, Error> {
        let mut failed = None;
        let mut existed = |vertex| {
            existed(vertex).unwrap_or_else(|error| {
                failed.get_or_insert(error);
                false
            })
        };
        let mut vertices = self.vertices;
        // Stable, so that the last change of a vertex stays last.
        vertices.sort_by_key(|(effect, _)| effect.vertex);
        vertices.dedup_by(|later, kept| {
            let is_same = later.0.vertex == kept.0.vertex;
            if is_same {
                std::mem::swap(later, kept);
            }
            is_same
        });
        // A vertex that was created and deleted leaves nothing to remove.
        vertices.retain(|(effect, _)| effect.is_put() || existed(effect.vertex));
        let mut adjacencies = SmallVec::new();
        for (label, edges) in &self.edges {
            let (edges, are_puts) = (edges.as_slice(), edges.as_slice().are_puts());
            let value = |edge: usize| edges.get(edge).and_then(|change| change.value);
            let value_of: Option<ValueOf<'_>> = if edges.are_plain() { None } else { Some(&value) };
            for direction in topology.directions() {
                let mut changes = entries_of(edges.positions(), value_of, (topology, *direction), pool);
                if !are_puts {
                    changes.retain(|change| change.value.is_some() || existed(change.owner()));
                }
                if !changes.is_empty() {
                    adjacencies.push(AdjacencyEffects { label: *label, direction: *direction, changes });
                }
            }
        }
        let (vertices, keys): (_, Vec<_>) = vertices.into_iter().unzip();
        let keys = keys.into_iter().flatten().collect();
        failed.map_or(Ok(Effects { vertices, keys, adjacencies, ..Effects::default() }), Err)
    }
}

/// One above the largest vertex id that a commit puts. O(vertices).
pub(super) fn vertex_bound(effects: &Effects) -> u32 {
    effects.vertices.iter().rfind(|effect| effect.is_put()).map_or(0, |effect| effect.vertex.get() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_model::{Direction, EdgeValue, Record, VertexChange};

    fn id(number: u32) -> VertexId {
        VertexId::new(number)
    }

    fn edge(owner: u32, neighbor: u32, value: Option<u64>) -> Effects {
        let change = EdgeChange::new(id(owner), id(neighbor), value.map(EdgeValue));
        let changes = [change].into_iter().collect();
        let effects = AdjacencyEffects { label: LabelId::DEFAULT, direction: Direction::Out, changes };
        Effects { adjacencies: [effects].into_iter().collect(), ..Effects::default() }
    }

    fn vertex(number: u32, change: VertexChange) -> Effects {
        let vertices = vec![VertexEffect { vertex: id(number), change }];
        Effects { vertices, ..Effects::default() }
    }

    fn gathered(commits: Vec<Effects>) -> Gathered {
        let mut gathered = Gathered::default();
        for (at, effects) in (1..).zip(commits) {
            gathered.add(effects, CommitTimestamp(at));
        }
        gathered
    }

    #[test]
    fn the_last_change_of_an_entry_counts() {
        let commits = vec![
            edge(3, 1, Some(1)),
            edge(0, 9, Some(2)),
            edge(3, 1, None),
            edge(3, 1, Some(3)),
            edge(0, 9, None),
        ];
        let gathered = gathered(commits);
        assert_eq!((gathered.len(), gathered.at()), (5, CommitTimestamp(5)));
        let effects = gathered.into_effects(Topology::Directed, |_| Ok(true), None).unwrap();
        assert!(effects.is_sorted());
        let expected = [edge(0, 9, None), edge(3, 1, Some(3))];
        let changes = expected.iter().flat_map(|effects| effects.adjacencies[0].changes.iter());
        assert!(effects.adjacencies[0].changes.iter().eq(changes));
    }

    #[test]
    fn both_ends_of_an_edge_get_the_last_change() {
        let stored = |commits: Vec<Effects>, topology| {
            let effects = gathered(commits).into_effects(topology, |_| Ok(true), None).unwrap();
            assert!(effects.is_sorted());
            let entries = effects.adjacencies.iter().flat_map(|effects| {
                let entry =
                    |change: EdgeChange| (effects.direction, change.owner(), change.neighbor(), change.value);
                effects.changes.iter().map(entry).collect::<Vec<_>>()
            });
            entries.collect::<Vec<_>>()
        };
        let (out, into) = (Direction::Out, Direction::In);
        let plain = vec![edge(1, 3, Some(0)), edge(2, 2, Some(0)), edge(1, 3, Some(0))];
        let zero = Some(EdgeValue(0));
        let both = [(out, id(1), id(3), zero), (out, id(2), id(2), zero), (out, id(3), id(1), zero)];
        assert_eq!(stored(plain.clone(), Topology::Undirected), both);
        let reverse = [both[0], both[1], (into, id(2), id(2), zero), (into, id(3), id(1), zero)];
        assert_eq!(stored(plain, Topology::DirectedWithReverse), reverse);
        let last = vec![edge(1, 3, Some(7)), edge(1, 3, None), edge(1, 2, None), edge(1, 2, Some(8))];
        let eight = Some(EdgeValue(8));
        let both = [(1, 2, eight), (1, 3, None), (2, 1, eight), (3, 1, None)];
        let both = both.map(|(owner, neighbor, value)| (out, id(owner), id(neighbor), value));
        assert_eq!(stored(last, Topology::Undirected), both);
    }

    #[test]
    fn vertices_created_and_deleted_leave_nothing() {
        let put = || VertexChange::Put(Record::default());
        let commits = vec![
            vertex(5, put()),
            edge(5, 1, Some(1)),
            edge(5, 1, None),
            vertex(5, VertexChange::Delete),
            vertex(1, VertexChange::Delete),
        ];
        let mut both = gathered(commits);
        both.add(vertex(1, put()), CommitTimestamp(6));
        assert_eq!(both.vertex_bound(), 6);
        let effects = both.into_effects(Topology::Directed, |vertex| Ok(vertex == id(1)), None).unwrap();
        assert_eq!(effects, vertex(1, put()));
    }

    #[test]
    fn a_vertex_keeps_its_last_key() {
        let put = |number, key: &str| {
            let keys = vec![Key::Text(key.into())];
            Effects { keys, ..vertex(number, VertexChange::Put(Record::default())) }
        };
        let commits = vec![
            put(5, "one"),
            put(3, "two"),
            vertex(5, VertexChange::Delete),
            vertex(3, VertexChange::Delete),
            put(5, "three"),
            put(1, "four"),
        ];
        let effects = gathered(commits).into_effects(Topology::Directed, |_| Ok(true), None).unwrap();
        let keys = effects.vertices_and_keys().map(|(effect, key)| (effect.vertex.get(), key.cloned()));
        let right = [(1, Some("four")), (3, None), (5, Some("three"))];
        let right = right.map(|(vertex, key)| (vertex, key.map(|key| Key::Text(key.into()))));
        assert_eq!(keys.collect::<Vec<_>>(), right);
    }
}
