//! What makes a graph durable.
//!
//! - [`files`]: the file system as a store needs it, and its twin that fails and loses power on demand;
//! - [`checkpoint`]: the state of a graph at one timestamp, in one file.

pub mod checkpoint;
pub mod files;
