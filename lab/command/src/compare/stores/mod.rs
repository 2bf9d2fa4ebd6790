//! The stores, behind one trait.
//!
//! All but Hedgerow store an edge as a key of eight bytes, source before destination, each
//! big-endian, without a value: so the neighbors of a vertex are adjacent and in order.

pub(crate) mod hedgerow;
#[cfg(any(feature = "lmdb", feature = "rocksdb"))]
pub mod keys;
#[cfg(feature = "lmdb")]
pub mod lmdb;
#[cfg(feature = "rocksdb")]
pub mod rocksdb;
#[cfg(feature = "sqlite")]
mod sqlite;
mod store;

pub use store::{EdgeStore, Kind};

use crate::compare::kinds::named;

/// The store that all others are compared with.
pub const REFERENCE: &str = hedgerow::KIND.name;

/// All kinds that were built.
pub const KINDS: &[Kind] = &[
    hedgerow::KIND,
    #[cfg(feature = "rocksdb")]
    rocksdb::KIND,
    #[cfg(feature = "lmdb")]
    lmdb::KIND,
    #[cfg(feature = "sqlite")]
    sqlite::KIND,
];

impl Kind {
    /// The kind called `name`.
    pub fn named(name: &str) -> Result<&'static Kind, String> {
        named(KINDS, |kind| kind.name, name)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::compare::graph::Edge;
    use ::hedgerow::{Durability, VertexId};
    use std::collections::BTreeSet;

    #[test]
    fn all_stores_keep_the_same_edges() {
        let vertices = 200;
        let edge = |number: u32| (VertexId::new(number * 7 % 31), VertexId::new(number * 13 % vertices));
        let edges: Vec<Edge> = (0..300).map(edge).collect();
        let distinct: BTreeSet<Edge> = edges.iter().copied().collect();
        let sum: u64 = distinct.iter().map(|(_, destination)| u64::from(destination.get())).sum();
        let all: Vec<VertexId> = (0..vertices).map(VertexId::new).collect();
        let first = |source: &VertexId| {
            let neighbors = distinct.iter().filter(|(other, _)| other == source);
            neighbors.map(|(_, neighbor)| u64::from(neighbor.get())).next().unwrap_or(0)
        };
        let first: u64 = all.iter().map(first).sum();
        let absent: Vec<Edge> = (0..vertices).map(|id| (VertexId::new(id), VertexId::new(id))).collect();
        let loops = absent.iter().filter(|edge| distinct.contains(edge)).count();
        for kind in KINDS {
            for durability in [Durability::Sync, Durability::Buffered] {
                let folder = tempfile::tempdir().unwrap();
                let open = || (kind.open)(folder.path(), durability, vertices).unwrap();
                let check = |store: &dyn EdgeStore| {
                    assert_eq!(store.sum_neighbors(&all, usize::MAX).unwrap(), sum, "{}", kind.name);
                    assert_eq!(store.sum_neighbors(&all, 1).unwrap(), first, "{}", kind.name);
                    assert_eq!(store.count(&edges).unwrap(), edges.len(), "{}", kind.name);
                    assert_eq!(store.count(&absent).unwrap(), loops, "{}", kind.name);
                };
                let store = open();
                edges[..100].iter().for_each(|edge| store.put(*edge).unwrap());
                store.put_all(&edges[50..]).unwrap();
                check(&*store);
                store.flush().unwrap();
                drop(store);
                check(&*open());
                open().settle().unwrap();
                check(&*open());
            }
        }
    }
}
