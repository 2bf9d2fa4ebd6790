//! What makes a graph durable.
//!
//! - [`files`]: the file system as a store needs it, and its twin that fails and loses power on demand;
//! - [`Body`], [`LoggedCommit`]: what one commit did, as the bytes of a record;
//! - [`checkpoint`]: the state of a graph at one timestamp, in one file.

mod body;
pub mod checkpoint;
pub mod files;
mod wire;

pub use body::{Body, CommitRef, LoggedCommit};
pub use wire::DecodeError;
