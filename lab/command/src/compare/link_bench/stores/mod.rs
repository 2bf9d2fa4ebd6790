//! The stores of nodes and links, which serve LinkBench's requests.
//!
//! All implement one trait, and return every field of every requested node and link.

mod hedgerow;
#[cfg(any(feature = "lmdb", feature = "rocksdb"))]
mod keys;
#[cfg(feature = "lmdb")]
mod lmdb;
#[cfg(feature = "rocksdb")]
mod rocksdb;
#[cfg(feature = "sqlite")]
mod sqlite;
mod store;

pub use store::{Answer, Base, Kind, Level, LinkStore};

use crate::compare::kinds::named;

/// All kinds that were built.
pub const KINDS: &[Kind] = &[
    hedgerow::RAPID,
    hedgerow::TEL,
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
