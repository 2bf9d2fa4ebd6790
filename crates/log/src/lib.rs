//! What makes a graph durable.
//!
//! - [`files`]: the file system as a store needs it, and its twin that fails and loses power on demand.

pub mod files;
