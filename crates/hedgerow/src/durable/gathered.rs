//! Commits of the log that are applied together: nobody sees the states between them, so that of several changes of one thing
//! the last is enough, and an engine is given few large commits instead of many small ones.

use hashbrown::HashMap;
use hedgerow_model::{
    AdjacencyEffects, Direction, EdgeChange, Effects, LabelId, Timestamp, VertexChange, VertexEffect,
    VertexId,
};
use rayon::ThreadPool;
use rayon::slice::ParallelSliceMut;
use std::collections::BTreeMap;

/// What some commits in a row change.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    vertices: HashMap<VertexId, VertexChange>,
    /// Changes in the order of their commits.
    adjacencies: BTreeMap<(LabelId, Direction), Vec<EdgeChange>>,
    changes: usize,
    /// The last of the commits.
    at: Timestamp,
    /// All vertices that came are below, also those that went again.
    vertex_bound: u32,
}

impl Gathered {
    /// Whether nothing changes.
    pub(super) fn is_empty(&self) -> bool {
        self.changes == 0
    }

    /// How many changes there are, of which some may undo others.
    pub(super) fn len(&self) -> usize {
        self.changes
    }

    /// The last of the commits.
    pub(super) fn at(&self) -> Timestamp {
        self.at
    }

    /// Vertex ids that were given end here, also those of vertices that went again.
    pub(super) fn vertex_bound(&self) -> u32 {
        self.vertex_bound
    }

    /// Whether a vertex exists after these commits; `None` if they do not change that.
    #[inline]
    pub(super) fn contains(&self, vertex: VertexId) -> Option<bool> {
        if self.vertices.is_empty() {
            return None;
        }
        self.vertices.get(&vertex).map(|change| matches!(change, VertexChange::Put(_)))
    }

    /// Adds the next commit. O(changes).
    pub(super) fn add(&mut self, effects: Effects, at: Timestamp) {
        self.changes += effects.len();
        self.at = at;
        self.vertex_bound = self.vertex_bound.max(vertex_bound(&effects));
        self.vertices.extend(effects.vertices.into_iter().map(|effect| (effect.vertex, effect.change)));
        for AdjacencyEffects { label, direction, changes } in effects.adjacencies {
            self.adjacencies.entry((label, direction)).or_default().extend(changes);
        }
    }

    /// The same changes as those of one commit. `existed` tells which vertices there were before the first of them.
    ///
    /// O(n log n), on the threads of `pool` if there is one.
    pub(super) fn into_effects(
        self,
        existed: impl Fn(VertexId) -> bool,
        pool: Option<&ThreadPool>,
    ) -> Effects {
        // A vertex that came and went leaves nothing, and has nothing to be removed.
        let remains =
            |change: &VertexChange, vertex| matches!(change, VertexChange::Put(_)) || existed(vertex);
        let mut vertices: Vec<VertexEffect> = self
            .vertices
            .into_iter()
            .filter(|(vertex, change)| remains(change, *vertex))
            .map(|(vertex, change)| VertexEffect { vertex, change })
            .collect();
        vertices.sort_unstable_by_key(|effect| effect.vertex);
        let adjacencies = self.adjacencies.into_iter().map(|((label, direction), mut changes)| {
            keep_last(&mut changes, pool);
            changes.retain(|change| change.value.is_some() || existed(change.owner));
            AdjacencyEffects { label, direction, changes: changes.into() }
        });
        let adjacencies = adjacencies.filter(|effects| !effects.changes.is_empty()).collect();
        Effects { vertices, adjacencies }
    }
}

/// Where the ids of the vertices end that a commit puts. O(vertices).
pub(super) fn vertex_bound(effects: &Effects) -> u32 {
    let puts = |effect: &&VertexEffect| matches!(effect.change, VertexChange::Put(_));
    effects.vertices.iter().rfind(puts).map_or(0, |effect| effect.vertex.get() + 1)
}

/// Sorts changes, and keeps of several of one entry the last.
fn keep_last(changes: &mut Vec<EdgeChange>, pool: Option<&ThreadPool>) {
    match pool {
        Some(pool) => pool.install(|| changes.par_sort_by_key(EdgeChange::position)),
        None => changes.sort_by_key(EdgeChange::position),
    }
    // What is given first is the later one, and goes if it is told that both are one.
    changes.dedup_by(|later, kept| {
        let is_same = later.position() == kept.position();
        if is_same {
            *kept = *later;
        }
        is_same
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_model::{EdgeValue, Record};

    fn id(number: u32) -> VertexId {
        VertexId::new(number)
    }

    fn edge(owner: u32, neighbour: u32, value: Option<u64>) -> Effects {
        let change = EdgeChange { owner: id(owner), neighbour: id(neighbour), value: value.map(EdgeValue) };
        let changes = [change].into_iter().collect();
        let effects = AdjacencyEffects { label: LabelId::DEFAULT, direction: Direction::Out, changes };
        Effects { vertices: Vec::new(), adjacencies: [effects].into_iter().collect() }
    }

    fn vertex(number: u32, change: VertexChange) -> Effects {
        let vertices = vec![VertexEffect { vertex: id(number), change }];
        Effects { vertices, ..Effects::default() }
    }

    fn gathered(commits: Vec<Effects>) -> Gathered {
        let mut gathered = Gathered::default();
        for (at, effects) in (1..).zip(commits) {
            gathered.add(effects, Timestamp(at));
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
        assert_eq!((gathered.len(), gathered.at()), (5, Timestamp(5)));
        let effects = gathered.into_effects(|_| true, None);
        assert!(effects.is_sorted());
        let expected = [edge(0, 9, None), edge(3, 1, Some(3))];
        let changes = expected.iter().flat_map(|effects| effects.adjacencies[0].changes.clone());
        assert_eq!(effects.adjacencies[0].changes.to_vec(), changes.collect::<Vec<_>>());
    }

    #[test]
    fn what_came_and_went_leaves_nothing() {
        let put = || VertexChange::Put(Record::default());
        let commits = vec![
            vertex(5, put()),
            edge(5, 1, Some(1)),
            edge(5, 1, None),
            vertex(5, VertexChange::Delete),
            vertex(1, VertexChange::Delete),
        ];
        let mut both = gathered(commits);
        assert_eq!([5, 1, 2].map(|number| both.contains(id(number))), [Some(false), Some(false), None]);
        both.add(vertex(1, put()), Timestamp(6));
        assert_eq!((both.contains(id(1)), both.vertex_bound()), (Some(true), 6));
        let effects = both.into_effects(|vertex| vertex == id(1), None);
        assert_eq!(effects, vertex(1, put()));
    }
}
