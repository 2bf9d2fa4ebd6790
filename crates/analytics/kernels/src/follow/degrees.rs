//! Degrees, and the vertices of the largest ones.

use super::{Follow, GraphChanges, ends_of};
use crate::{Execution, KernelError};
use hedgerow_model::{Adjacency, Cursor, Direction, GraphView, LabelId, VertexId};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// The degree of every vertex of a changing graph, and the vertices of the largest degrees.
///
/// A degree is a number of neighbors: parallel edges count once. In an undirected graph a self loop
/// counts once, and all [kinds](DegreeKind) are equal.
///
/// [`begin`](Follow::begin) takes O(vertices · log vertices + edges), and
/// [`follow`](Follow::follow) O(changes · log vertices) and two look-ups per changed edge. 40 bytes
/// per id.
#[derive(Clone, Debug, Default)]
pub struct Degrees {
    label: LabelId,
    kind: DegreeKind,
    /// The degrees in the last view, if there was one.
    ranking: Option<Ranking>,
}

/// The edges that count in a degree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DegreeKind {
    /// Edges from the vertex.
    #[default]
    Out,
    /// Edges to the vertex.
    In,
    /// Both: the sum, in which a self loop of a directed graph counts twice.
    Total,
}

/// Degrees by vertex, and vertices by degree.
#[derive(Clone, Debug, Default)]
struct Ranking {
    /// The degree of each id, [`NO_VERTEX`] without a vertex.
    degrees: Vec<u64>,
    /// All vertices by descending degree, then by id.
    ranked: BTreeSet<(Reverse<u64>, VertexId)>,
}

/// The degree of an id without a vertex.
const NO_VERTEX: u64 = u64::MAX;
/// Bytes per id, of which the nodes of the tree take most.
const BYTES_PER_ID: u64 = 40;

impl Degrees {
    /// Follows degrees of a kind over the default label.
    #[must_use]
    pub fn new(kind: DegreeKind) -> Self {
        Degrees { kind, ..Degrees::default() }
    }

    /// Follows the edges of this label instead of the default label.
    #[must_use]
    pub fn label(self, label: impl Into<LabelId>) -> Self {
        Degrees { label: label.into(), ..self }
    }

    /// Returns the degree of a vertex; `None` if it does not exist. O(1).
    #[must_use]
    pub fn degree(&self, vertex: VertexId) -> Option<u64> {
        self.ranking.as_ref()?.degree(vertex)
    }

    /// Returns the vertices by descending degree, and by ascending id among equal degrees: the
    /// first k are the k vertices of the largest degree. O(log vertices), and O(1) for each.
    pub fn largest(&self) -> impl Iterator<Item = (VertexId, u64)> {
        let ranked = self.ranking.iter().flat_map(|ranking| &ranking.ranked);
        ranked.map(|(Reverse(degree), vertex)| (*vertex, *degree))
    }
}

impl DegreeKind {
    /// Returns true if an edge counts at its source, and at its destination.
    fn counts_at(self, undirected: bool, is_loop: bool) -> [bool; 2] {
        match undirected {
            true => [true, !is_loop],
            false => [self != DegreeKind::In, self != DegreeKind::Out],
        }
    }
}

impl Ranking {
    fn degree(&self, vertex: VertexId) -> Option<u64> {
        self.degrees.get(vertex.index()).copied().filter(|degree| *degree != NO_VERTEX)
    }

    /// Makes room for the ids of a view.
    fn grow(&mut self, view: &impl GraphView, execution: Execution<'_>) -> Result<(), KernelError> {
        let bound = view.vertex_bound();
        if self.degrees.len() < bound as usize {
            execution.memory.check(u64::from(bound) * BYTES_PER_ID, bound, view.vertex_count())?;
            self.degrees.resize(bound as usize, NO_VERTEX);
        }
        Ok(())
    }

    /// Sets the degree of a vertex; [`NO_VERTEX`] removes it.
    fn set(&mut self, vertex: VertexId, degree: u64) {
        let old = std::mem::replace(&mut self.degrees[vertex.index()], degree);
        if old != degree {
            self.ranked.remove(&(Reverse(old), vertex));
            if degree != NO_VERTEX {
                self.ranked.insert((Reverse(degree), vertex));
            }
        }
    }
}

impl Follow for Degrees {
    fn begin<V: GraphView>(&mut self, view: &V, execution: Execution<'_>) -> Result<(), KernelError> {
        self.ranking = None;
        let mut ranking = Ranking::default();
        ranking.grow(view, execution)?;
        let degrees = &mut ranking.degrees;
        view.each_vertex(0..view.vertex_bound(), |vertex| degrees[vertex.index()] = 0)?;
        let outgoing = view.adjacency::<()>(self.label, Direction::Out)?;
        // An undirected edge is a neighbor at both of its ends.
        let undirected = view.topology().is_undirected();
        let [at_source, at_destination] = self.kind.counts_at(undirected, true);
        let mut cursor = outgoing.cursor();
        for range in outgoing.cuts(execution.parts())? {
            execution.check_cancelled()?;
            let scanned = cursor.scan(range, |vertex, neighbors, _| {
                if at_source {
                    degrees[vertex.index()] += neighbors.len() as u64;
                }
                if at_destination {
                    neighbors.iter().for_each(|neighbor| degrees[neighbor.index()] += 1);
                }
                ControlFlow::<()>::Continue(())
            });
            scanned.map(|_| ())?;
        }
        let vertices = (0..).map(VertexId::new).zip(&*degrees).filter(|(_, degree)| **degree != NO_VERTEX);
        ranking.ranked = vertices.map(|(vertex, degree)| (Reverse(*degree), vertex)).collect();
        self.ranking = Some(ranking);
        Ok(())
    }

    fn follow<V: GraphView>(
        &mut self,
        before: &V,
        changes: GraphChanges<'_>,
        after: &V,
        execution: Execution<'_>,
    ) -> Result<(), KernelError> {
        let Some(mut ranking) = self.ranking.take() else { return self.begin(after, execution) };
        ranking.grow(after, execution)?;
        for (vertex, difference) in self.differences(before, changes, after)? {
            if vertex.index() < ranking.degrees.len() {
                let degree = ranking.degree(vertex).unwrap_or(0).saturating_add_signed(difference);
                ranking.set(vertex, if after.contains_vertex(vertex)? { degree } else { NO_VERTEX });
            }
        }
        self.ranking = Some(ranking);
        Ok(())
    }
}

impl Degrees {
    /// The vertices whose existence or degree may have changed, and by how much.
    fn differences<V: GraphView>(
        &self,
        before: &V,
        changes: GraphChanges<'_>,
        after: &V,
    ) -> Result<Vec<(VertexId, i64)>, KernelError> {
        let topology = after.topology();
        let changed = [changes.put_edges, changes.deleted_edges].into_iter();
        let changed = changed.flat_map(|edges| ends_of(edges, self.label));
        let mut edges: Vec<_> = changed.map(|(from, to)| topology.canonical(from, to)).collect();
        edges.sort_unstable();
        edges.dedup();
        let old = before.adjacency::<()>(self.label, Direction::Out)?;
        let new = after.adjacency::<()>(self.label, Direction::Out)?;
        let (mut old, mut new) = (old.cursor(), new.cursor());
        let listed = changes.put_vertices.iter().chain(changes.deleted_vertices);
        let mut differences: Vec<_> = listed.map(|vertex| (*vertex, 0)).collect();
        for (source, destination) in edges {
            let was = i64::from(old.find(source, destination)?.is_some());
            let is = i64::from(new.find(source, destination)?.is_some());
            let counts = self.kind.counts_at(topology.is_undirected(), source == destination);
            let ends = [source, destination].into_iter().zip(counts).filter(|(_, counts)| *counts);
            differences.extend(ends.map(|(end, _)| (end, is - was)));
        }
        differences.sort_unstable();
        differences.dedup_by(|later, first| {
            let is_same = later.0 == first.0;
            first.1 += if is_same { later.1 } else { 0 };
            is_same
        });
        Ok(differences)
    }
}
