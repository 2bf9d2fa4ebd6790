//! The stores, each answering single calls as a program would make them.
//!
//! | file | content |
//! |---|---|
//! | `store`, `kind` | the traits of all stores, and their description |
//! | `hedgerow` | Hedgerow's engines `rapid` and `tel`, in memory |
//! | `bytes` | edges and their data as keys and values of bytes |
//! | `rocksdb`, `lmdb`, `sqlite` | other stores, in files that are not synced |
//! | `petgraph`, `map` | structures in memory, without transactions |

#[cfg(any(feature = "lmdb", feature = "rocksdb"))]
mod bytes;
mod hedgerow;
mod kind;
#[cfg(feature = "lmdb")]
mod lmdb;
mod map;
mod petgraph;
#[cfg(feature = "rocksdb")]
mod rocksdb;
#[cfg(feature = "sqlite")]
mod sqlite;
mod store;

pub use kind::Kind;
pub use store::{Reads, Store};

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
    petgraph::KIND,
    map::KIND,
];

/// The store that all others are compared with.
pub const REFERENCE: &str = hedgerow::RAPID.name;

impl Kind {
    /// The kind called `name`.
    pub fn named(name: &str) -> Result<&'static Kind, String> {
        named(KINDS, |kind| kind.name, name)
    }
}
