//! The neighbors of every vertex, row by row.

use std::ops::Range;

/// The direction of the edges in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Out,
    In,
    Both,
}

/// The neighbors of every vertex, ascending, each once, with the weight that came last.
#[derive(Debug, PartialEq)]
pub(crate) struct Rows {
    ends: Vec<u64>,
    neighbors: Vec<u32>,
    /// Empty if edges have no weights.
    weights: Vec<f64>,
}

impl Rows {
    /// Sorts edges into rows. O(edges · log(largest degree) + vertices).
    pub fn new(vertices: u32, edges: &[(u32, u32)], weights: Option<&[f64]>, direction: Direction) -> Self {
        let mut next = vec![0u64; vertices as usize + 1];
        for_each_arc(edges, direction, |_, vertex, _| next[vertex as usize + 1] += 1);
        for vertex in 0..vertices as usize {
            next[vertex + 1] += next[vertex];
        }
        let arcs = next[vertices as usize] as usize;
        let mut rows = Rows {
            ends: Vec::new(),
            neighbors: vec![0; arcs],
            weights: vec![0.0; if weights.is_some() { arcs } else { 0 }],
        };
        for_each_arc(edges, direction, |index, vertex, neighbor| {
            let place = &mut next[vertex as usize];
            rows.neighbors[*place as usize] = neighbor;
            if let Some(weights) = weights {
                rows.weights[*place as usize] = weights[index];
            }
            *place += 1;
        });
        next.pop();
        rows.ends = next; // every place is now the end of its row
        rows.sort();
        rows
    }

    /// Sorts every row and keeps the last of equal neighbors.
    fn sort(&mut self) {
        let mut row: Vec<(u32, f64)> = Vec::new();
        let (mut start, mut kept) = (0, 0);
        for vertex in 0..self.ends.len() {
            let end = self.ends[vertex] as usize;
            let weight = |place: usize| self.weights.get(place).copied().unwrap_or(0.0);
            row.clear();
            row.extend((start..end).map(|place| (self.neighbors[place], weight(place))));
            start = end;
            row.sort_by_key(|(neighbor, _)| *neighbor);
            for (index, (neighbor, weight)) in row.iter().enumerate() {
                if row.get(index + 1).is_some_and(|(next, _)| next == neighbor) {
                    continue;
                }
                self.neighbors[kept] = *neighbor;
                if let Some(place) = self.weights.get_mut(kept) {
                    *place = *weight;
                }
                kept += 1;
            }
            self.ends[vertex] = kept as u64;
        }
        self.neighbors.truncate(kept);
        self.weights.truncate(kept);
    }

    /// The end of every row among all neighbors.
    pub fn ends(&self) -> &[u64] {
        &self.ends
    }

    /// All neighbors, row by row.
    pub fn neighbors(&self) -> &[u32] {
        &self.neighbors
    }

    /// The weight of every neighbor, if edges have weights.
    pub fn weights(&self) -> Option<&[f64]> {
        (!self.weights.is_empty()).then_some(&self.weights)
    }

    /// Iterates over rows: the vertex, its neighbors, and their range among all neighbors.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &[u32], Range<usize>)> {
        let mut start = 0;
        (0..).zip(&self.ends).map(move |(vertex, end)| {
            let places = start..*end as usize;
            start = places.end;
            (vertex, &self.neighbors[places.clone()], places)
        })
    }
}

/// Visits the index of every edge with a vertex and its neighbor; in both directions if requested.
fn for_each_arc(edges: &[(u32, u32)], direction: Direction, mut visit: impl FnMut(usize, u32, u32)) {
    for (index, (source, destination)) in edges.iter().enumerate() {
        if direction != Direction::In {
            visit(index, *source, *destination);
        }
        if direction == Direction::In || (direction == Direction::Both && source != destination) {
            visit(index, *destination, *source);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_and_the_last_weight_of_an_edge_counts() {
        let edges = [(2, 0), (0, 2), (0, 1), (1, 1), (0, 2)];
        let weights = [1.0, 2.0, 3.0, 4.0, 5.0];
        let rows = |direction| {
            let rows = Rows::new(4, &edges, Some(&weights), direction);
            let weights = rows.weights().unwrap();
            let row = |(_, neighbors, places): (u32, &[u32], Range<usize>)| {
                neighbors.iter().copied().zip(weights[places].iter().copied()).collect::<Vec<_>>()
            };
            rows.iter().map(row).collect::<Vec<_>>()
        };
        assert_eq!(rows(Direction::Out), [vec![(1, 3.0), (2, 5.0)], vec![(1, 4.0)], vec![(0, 1.0)], vec![]]);
        assert_eq!(rows(Direction::In), [vec![(2, 1.0)], vec![(0, 3.0), (1, 4.0)], vec![(0, 5.0)], vec![]]);
        let both = [vec![(1, 3.0), (2, 5.0)], vec![(0, 3.0), (1, 4.0)], vec![(0, 5.0)], vec![]];
        assert_eq!(rows(Direction::Both), both);
        assert_eq!(Rows::new(0, &[], None, Direction::Both).iter().count(), 0);
    }
}
