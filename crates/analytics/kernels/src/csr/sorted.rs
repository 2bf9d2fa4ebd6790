//! Graphs of rows that are sorted already, as files hold them.

use super::rows::Rows;
use super::{BuildOptions, Csr, CsrError, Presence};
use hedgerow_model::{ColumnType, CommitTimestamp, Topology, ValueColumn, VertexId};
use std::cmp::Ordering;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::ops::Range;

/// The neighbors of all vertices in one direction: those of `v` at
/// `offsets[v]..offsets[v + 1]`, ascending, each once.
#[derive(Clone, Debug)]
pub struct SortedRows {
    /// One offset per vertex, from 0, and the number of neighbors.
    pub offsets: Vec<u64>,
    /// The neighbors.
    pub neighbors: Vec<VertexId>,
    /// Their values.
    pub values: ValueColumn,
}

/// Sums over entries, which are equal for equal sets of edges, and differ for others but for a
/// probability of about 2^-64: each edge is hashed under a random key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sums {
    /// Edges to later vertices.
    ahead: u64,
    /// Edges to earlier vertices, turned around.
    back: u64,
    /// Edges to the owner itself.
    loops: u64,
}

/// The key of a sum.
#[derive(Clone, Copy, Debug)]
struct SumKey([u64; 2]);

impl Csr {
    /// Takes over rows, if they are those of a graph with this topology; `reverse` has the
    /// in-neighbors, which are checked, and kept if the topology stores them. All ids below the
    /// number of rows are vertices.
    ///
    /// `None` if a row is not strictly ascending or has a neighbor without a row, if offsets are
    /// not those of the neighbors, if an undirected edge lacks its other end, or if the
    /// in-neighbors are not those of the same edges. O(vertices + edges), in one pass.
    ///
    /// # Errors
    /// [`CsrError::Cancelled`].
    pub fn from_sorted_rows(
        topology: Topology,
        column: ColumnType,
        out: SortedRows,
        reverse: Option<SortedRows>,
        options: BuildOptions<'_>,
    ) -> Result<Option<Csr>, CsrError> {
        let key = SumKey::random();
        let Some(sums) = out.check(key, options)? else { return Ok(None) };
        if topology.is_undirected() && sums.ahead != sums.back {
            return Ok(None);
        }
        if let Some(rows) = &reverse {
            let turned = rows.check(key, options)?.map(Sums::turned);
            if turned != Some(sums) || rows.offsets.len() != out.offsets.len() {
                return Ok(None);
            }
        }
        let reverse = reverse.filter(|_| topology == Topology::DirectedWithReverse);
        let (out, reverse) = (out.into_rows(), reverse.map(SortedRows::into_rows));
        Ok(Some(Csr {
            timestamp: CommitTimestamp::ZERO,
            topology,
            presence: Presence::All,
            vertex_count: u64::from(out.vertex_bound()),
            edge_count: out.edge_count(topology),
            column,
            out,
            reverse,
        }))
    }
}

impl SortedRows {
    fn into_rows(self) -> Rows {
        Rows::new(self.offsets, self.neighbors, self.values)
    }

    /// Checks offsets and rows, and sums up the entries; `None` if they are wrong.
    fn check(&self, key: SumKey, options: BuildOptions<'_>) -> Result<Option<Sums>, CsrError> {
        let SortedRows { offsets, neighbors, values } = self;
        let has_values = match values {
            ValueColumn::Unit => true,
            ValueColumn::Four(values) => values.len() == neighbors.len(),
            ValueColumn::Eight(values) => values.len() == neighbors.len(),
        };
        let has_ends = offsets.first() == Some(&0) && offsets.last() == Some(&(neighbors.len() as u64));
        if !(has_values && has_ends && offsets.is_sorted()) || offsets.len() > VertexId::MAX.index() + 2 {
            return Ok(None);
        }
        let parts = self.parts(options.parts());
        let sums = options.map_chunks(parts, |owners| Ok(self.check_part(owners, key)))?;
        Ok(sums.into_iter().try_fold(Sums::default(), |sums, more| Some(sums.plus(more?))))
    }

    /// Owners in parts of about equal numbers of neighbors.
    fn parts(&self, count: usize) -> Vec<Range<usize>> {
        let (owners, entries) = (self.offsets.len() - 1, self.neighbors.len());
        let cut = |part: usize| {
            let target = (entries as u128 * part as u128 / count as u128) as u64;
            if part == count {
                owners
            } else {
                self.offsets.partition_point(|offset| *offset < target).min(owners)
            }
        };
        (0..count).map(|part| cut(part)..cut(part + 1)).filter(|part| !part.is_empty()).collect()
    }

    fn check_part(&self, owners: Range<usize>, key: SumKey) -> Option<Sums> {
        let bound = self.offsets.len() - 1;
        let mut sums = Sums::default();
        for owner in owners {
            let row = self.offsets[owner] as usize..self.offsets[owner + 1] as usize;
            let neighbors = &self.neighbors[row.clone()];
            // The last of an ascending row is the greatest.
            let is_in_bounds = neighbors.last().is_none_or(|last| last.index() < bound);
            if !is_in_bounds || !neighbors.is_sorted_by(|one, next| one < next) {
                return None;
            }
            for (neighbor, position) in neighbors.iter().zip(row) {
                let value = self.values.get(position).0;
                let hash = |source, destination| key.hash(source, destination, value);
                match neighbor.index().cmp(&owner) {
                    Ordering::Less => sums.back = sums.back.wrapping_add(hash(neighbor.index(), owner)),
                    Ordering::Equal => sums.loops = sums.loops.wrapping_add(hash(owner, owner)),
                    Ordering::Greater => sums.ahead = sums.ahead.wrapping_add(hash(owner, neighbor.index())),
                }
            }
        }
        Some(sums)
    }
}

impl Sums {
    fn plus(self, other: Sums) -> Sums {
        Sums {
            ahead: self.ahead.wrapping_add(other.ahead),
            back: self.back.wrapping_add(other.back),
            loops: self.loops.wrapping_add(other.loops),
        }
    }

    /// The sums of the same edges in the other direction.
    fn turned(self) -> Sums {
        Sums { ahead: self.back, back: self.ahead, loops: self.loops }
    }
}

impl SumKey {
    fn random() -> Self {
        let random = || RandomState::new().build_hasher().finish();
        SumKey([random(), random()])
    }

    /// The hash of an edge with a value.
    #[inline]
    fn hash(self, source: usize, destination: usize, value: u64) -> u64 {
        let SumKey([one, other]) = self;
        let fold = |a: u64, b: u64| {
            let product = u128::from(a) * u128::from(b);
            product as u64 ^ (product >> 64) as u64
        };
        let edge = (source as u64) << 32 | destination as u64;
        fold(fold(edge ^ one, other ^ value) ^ edge.rotate_left(32), one | 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: &[&[u32]]) -> SortedRows {
        let mut offsets = vec![0];
        offsets.extend(rows.iter().scan(0, |end, row| {
            *end += row.len() as u64;
            Some(*end)
        }));
        let neighbors: Vec<_> = rows.iter().flat_map(|row| row.iter().copied().map(VertexId::new)).collect();
        let values = ValueColumn::Four(vec![0; neighbors.len()]);
        SortedRows { offsets, neighbors, values }
    }

    fn taken(topology: Topology, out: SortedRows, reverse: Option<SortedRows>) -> Option<Csr> {
        let options = BuildOptions::default();
        Csr::from_sorted_rows(topology, ColumnType::F32, out, reverse, options).unwrap()
    }

    #[test]
    fn rows_of_a_graph_are_taken_over() {
        let graph = taken(Topology::Directed, rows(&[&[1, 2], &[], &[0, 2]]), None).unwrap();
        assert_eq!((graph.edge_count, graph.vertex_count), (4, 3));
        let graph = taken(Topology::Undirected, rows(&[&[0, 1], &[0, 2], &[1]]), None).unwrap();
        assert_eq!(graph.edge_count, 3);
        let (out, reverse) = (rows(&[&[0, 1, 2], &[], &[0]]), rows(&[&[0, 2], &[0], &[0]]));
        let graph = taken(Topology::DirectedWithReverse, out, Some(reverse)).unwrap();
        assert_eq!(graph.edge_count, 4);
        assert_eq!(taken(Topology::Directed, rows(&[]), None).unwrap().vertex_count, 0);
    }

    #[test]
    fn other_rows_are_refused() {
        let is_taken = |topology, out: SortedRows| taken(topology, out, None).is_some();
        for wrong in [&[&[2, 1][..], &[], &[]][..], &[&[1, 1], &[], &[]], &[&[3], &[], &[]]] {
            assert!(!is_taken(Topology::Directed, rows(wrong)), "{wrong:?}");
        }
        let right = || rows(&[&[1, 2], &[], &[0]]);
        assert!(is_taken(Topology::Directed, right()));
        for offsets in [vec![0, 2, 1, 3], vec![0, 2, 2, 2], vec![1, 2, 2, 3], vec![0, 2, 4, 3], vec![]] {
            assert!(!is_taken(Topology::Directed, SortedRows { offsets, ..right() }));
        }
        let values = ValueColumn::Four(vec![0; 2]);
        assert!(!is_taken(Topology::Directed, SortedRows { values, ..right() }));
        assert!(!is_taken(Topology::Undirected, right()));
    }

    #[test]
    fn both_ends_of_an_edge_must_have_the_same_value() {
        let rows = |values: [u32; 4]| {
            let values = ValueColumn::Four(values.to_vec());
            SortedRows { values, ..rows(&[&[1, 2], &[0], &[0]]) }
        };
        assert!(taken(Topology::Undirected, rows([7, 8, 7, 8]), None).is_some());
        assert!(taken(Topology::Undirected, rows([7, 8, 8, 7]), None).is_none());
    }

    #[test]
    fn in_neighbors_must_be_those_of_the_same_edges() {
        let out = || rows(&[&[0, 1, 2], &[], &[0]]);
        let topology = Topology::DirectedWithReverse;
        for wrong in [&[&[0, 2][..], &[0], &[1]][..], &[&[0], &[0], &[0]], &[&[0, 2], &[0], &[0], &[]]] {
            assert!(taken(topology, out(), Some(rows(wrong))).is_none(), "{wrong:?}");
        }
    }
}
