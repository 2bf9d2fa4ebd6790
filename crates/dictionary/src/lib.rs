//! The dictionary of a graph: application keys to vertex ids and back.
//!
//! A key has at most one vertex at a time, and may have many one after another. The dictionary does
//! not know at which timestamps an id is visible; the engine does. So a [`Dictionary`] maps a key
//! to all ids that a reader may still see, and a snapshot takes the one that exists at its
//! timestamp; at most one does. Where keys are dense ids nothing is mapped, and no memory is used.
//!
//! # What it guarantees
//!
//! - Reads take no lock: the current id of a key ([`Dictionary::current`]), the id at a
//!   timestamp ([`Dictionary::find`]), the key of an id ([`Dictionary::key`]), many of them in a
//!   row ([`Dictionary::reader`]).
//! - An id goes to another key only when no live timestamp can read its former vertex, and its
//!   former key has lost it by then ([`Dictionary::assign`], [`Dictionary::reclaim`]). One old
//!   snapshot does not keep the ids of vertices that were created and deleted after it.
//! - Freed ids are reused before new ones are assigned, smallest first, so that ids stay dense.
//! - An id that was looked up without a lock is still the key's once its unit is locked, if
//!   [`Dictionary::generation`] has not changed.
//! - Several threads may restore the keys of a stored graph, many at a time
//!   ([`Dictionary::restoring`]) or one by one ([`Dictionary::restore`]); a key that two vertices
//!   have is found.
//!
//! # What it relies on
//!
//! - A commit holds the lock of a key ([`Dictionary::lock`]) while it assigns or takes back the
//!   key's id or deletes its vertex. Key locks are taken before the locks of units.
//! - A commit that fails takes back the ids that it assigned ([`Dictionary::release`]).
//! - A deletion is recorded with the timestamp of its stamp ([`Dictionary::delete`]).
//!
//! The crate uses the lock table and the live timestamps of `hedgerow-sequencer`. Each graph has
//! one dictionary, which its commits change and its snapshots read.

mod dictionary;
mod error;
mod ids;
mod index;
mod map;
mod reader;
mod restoring;
mod slot;
mod slots;

pub use dictionary::Dictionary;
pub use error::{DictionaryError, RestoreError};
pub use reader::DictionaryReader;
pub use restoring::Restoring;
