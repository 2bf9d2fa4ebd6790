//! The stores, behind one trait.

mod hedgerow;
#[cfg(feature = "lmdb")]
mod lmdb;
#[cfg(feature = "rocksdb")]
mod rocksdb;
#[cfg(any(feature = "lmdb", feature = "rocksdb"))]
mod row;
mod store;
mod weighed;

pub use store::{Kind, Setup, Store};

use crate::compare::kinds::named;

/// The store that the others are compared with.
pub const REFERENCE: &str = "rocksdb";

/// All kinds that were built.
pub const KINDS: &[Kind] = &[
    hedgerow::LSM,
    #[cfg(feature = "rocksdb")]
    rocksdb::KIND,
    #[cfg(feature = "lmdb")]
    lmdb::KIND,
    hedgerow::TEL,
];

impl Kind {
    /// The kind called `name`.
    pub fn named(name: &str) -> Result<&'static Kind, String> {
        named(KINDS, |kind| kind.name, name)
    }
}
