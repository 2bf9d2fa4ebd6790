//! The dictionary of a graph: application keys to vertex ids and back.
//!
//! A key has at most one vertex at a time, but may have several in succession. Only the engine
//! knows at which timestamps an id is visible. So a [`Dictionary`] maps a key to all ids that a
//! reader may still see, and a snapshot takes the id that exists at its timestamp; at most one
//! does. Where keys are dense ids, nothing is mapped, and no memory is used.
//!
//! # Guarantees
//!
//! - Reads take no lock: the current id of a key ([`Dictionary::current`]), the id at a timestamp
//!   ([`Dictionary::find`]), the key of an id ([`Dictionary::key`]), and batches of lookups
//!   ([`Dictionary::reader`]).
//! - An id goes to another key only when no live timestamp can read its former vertex, and after
//!   its former key has lost it ([`Dictionary::assign`], [`Dictionary::reclaim`]). One old snapshot
//!   does not keep the ids of vertices that were created and deleted after it.
//! - Freed ids are reused before new ones are assigned, smallest first, so that ids stay dense.
//! - An id that was looked up without a lock still belongs to the key once its unit is locked, if
//!   [`Dictionary::generation`] has not changed.
//! - Several threads may restore the keys of a stored graph, in batches ([`Dictionary::restoring`])
//!   or one by one ([`Dictionary::restore`]); a key of two vertices is detected.
//!
//! # Assumptions
//!
//! - A commit holds the lock of a key ([`Dictionary::lock`]) while it assigns the key's id, takes
//!   it back, or deletes the key's vertex. Key locks are taken before the locks of units.
//! - A commit that fails takes back the ids that it assigned ([`Dictionary::release`]).
//! - A deletion is recorded with the timestamp of its stamp ([`Dictionary::delete`]).
//!
//! It uses the lock table and the live timestamps of `hedgerow-sequencer`. Each graph has
//! one dictionary, which its commits change and its snapshots read.

mod error;
mod ids;
mod index;
mod keys;
mod map;
mod reader;
mod restoring;
mod slot;
mod slots;

pub use error::{DictionaryError, RestoreError};
pub use keys::Dictionary;
pub use reader::DictionaryReader;
pub use restoring::Restoring;
