//! The dictionary of a graph: application keys to vertex ids and back.
//!
//! A key has at most one vertex at a time, and many one after another. Whether an id is visible at a timestamp is not kept here: the engine
//! knows which vertices exist then. So a [`Dictionary`] maps a key to all ids that a reader may still see, and a snapshot takes the one that exists at
//! its timestamp; at most one does. Where keys are dense ids there is nothing to map, and no memory is used.
//!
//! # What it guarantees
//!
//! - Reads take no lock: the current id of a key ([`Dictionary::current_ids`]), the id at a timestamp ([`Dictionary::find`]), the key of an id
//!   ([`Dictionary::key`]).
//! - An id goes to another key only when no live timestamp can read its former vertex, and its former key has forgotten it by then
//!   ([`Dictionary::assign`], [`Dictionary::reclaim`]). One old snapshot does not keep the ids of vertices that came and went after it.
//! - Ids that were given back are assigned again before new ones, the smallest first, so that ids stay dense.
//! - An id that is looked up without a lock is still the key's when its unit is locked, if [`Dictionary::generation`] has not changed between.
//!
//! # What it relies on
//!
//! - A commit holds the lock of a key ([`Dictionary::lock`]) while it gives the key an id, takes the id back or deletes its vertex. Key locks are
//!   taken before the locks of units.
//! - A commit that fails gives back the ids that it assigned ([`Dictionary::release`]).
//! - A deletion is noted with the timestamp of its stamp ([`Dictionary::delete`]).
//!
//! It depends on `hedgerow-sequencer` for its lock table and for the live timestamps. `hedgerow` depends on it: each graph has one dictionary, which
//! its commits change and its snapshots read.

mod dictionary;
mod error;
mod ids;
mod map;
mod slot;
mod slots;

pub use dictionary::{Dictionary, PinnedIds};
pub use error::DictionaryError;
