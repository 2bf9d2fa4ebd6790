//! Rows that repeat a pair of vertices.

use crate::threads::Threads;
use foldhash::fast::FixedState;
use rayon::slice::ParallelSliceMut;
use std::collections::HashSet;
use std::hash::{BuildHasher, Hash};

/// Digests of the rows of edges: 24 bytes each.
#[derive(Debug)]
pub struct Rows {
    is_undirected: bool,
    digests: Vec<RowDigest>,
}

/// The digests of a row. Two rows are of one edge if they have the same pair and number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowDigest {
    /// The digest of the keys.
    pub pair: u64,
    /// The digest of the number of a parallel edge, else 0.
    pub number: u64,
    /// The digest of all other values.
    pub content: u64,
}

/// The comparison of rows.
#[derive(Debug)]
pub struct Repeats {
    pub rows: u64,
    /// Different pairs of vertices.
    pub pairs: u64,
    /// Different edges.
    pub edges: u64,
    /// Rows that would replace an earlier one with other values.
    pub replaced: u64,
    /// The pairs and numbers of edges that have rows with different values.
    pub conflicts: HashSet<(u64, u64)>,
}

impl Rows {
    /// No rows. An edge has the same pair in both directions if the graph `is_undirected`.
    pub fn new(is_undirected: bool) -> Self {
        Rows { is_undirected, digests: Vec::new() }
    }

    /// Takes a row into account.
    pub fn push(&mut self, row: RowDigest) {
        self.digests.push(row);
    }

    /// A row, by digests of its keys, its number and its other values.
    pub fn row(&self, ends: [u64; 2], number: u64, content: u64) -> RowDigest {
        let [from, to] = ends;
        let ends = if self.is_undirected && from > to { [to, from] } else { ends };
        RowDigest { pair: digest(ends), number, content }
    }

    /// Compares the rows. O(rows · log rows).
    pub fn compare(&mut self, threads: &Threads) -> Repeats {
        match threads.pool() {
            Some(pool) => pool.install(|| self.digests.par_sort_unstable()),
            None => self.digests.sort_unstable(),
        }
        let rows = self.digests.len() as u64;
        let mut repeats = Repeats { rows, pairs: 0, edges: 0, replaced: 0, conflicts: HashSet::new() };
        for pair in self.digests.chunk_by(|row, next| row.pair == next.pair) {
            repeats.pairs += 1;
            for edge in pair.chunk_by(|row, next| row.number == next.number) {
                repeats.edges += 1;
                if edge.first() != edge.last() {
                    repeats.replaced += edge.len() as u64 - 1;
                    repeats.conflicts.insert(edge[0].edge());
                }
            }
        }
        repeats
    }
}

impl RowDigest {
    /// The edge.
    pub fn edge(&self) -> (u64, u64) {
        (self.pair, self.number)
    }
}

/// A digest of a value, the same in each process.
pub fn digest(value: impl Hash) -> u64 {
    FixedState::default().hash_one(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroUsize;

    #[test]
    fn rows_with_other_values_are_conflicts() {
        for (is_undirected, pairs, edges, replaced) in [(false, 3, 4, 2), (true, 2, 3, 3)] {
            let mut rows = Rows::new(is_undirected);
            // The pair (1, 2) with three values, one of them twice; (2, 1) with yet another.
            for (ends, number, content) in [
                ([1, 2], 0, 10),
                ([3, 4], 0, 10),
                ([1, 2], 0, 11),
                ([3, 4], 0, 10),
                ([2, 1], 0, 12),
                ([1, 2], 7, 10),
                ([1, 2], 0, 10),
            ] {
                rows.push(rows.row(ends, number, content));
            }
            let repeats = rows.compare(&Threads::new(NonZeroUsize::new(1)).unwrap());
            let counts = (repeats.rows, repeats.pairs, repeats.edges, repeats.replaced);
            assert_eq!(counts, (7, pairs, edges, replaced));
            assert_eq!(repeats.conflicts, HashSet::from([rows.row([1, 2], 0, 0).edge()]));
        }
    }
}
