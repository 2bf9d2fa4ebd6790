//! What makes a graph durable.
//!
//! - [`checkpoint`]: the state of a graph at one timestamp, in one file.

pub mod checkpoint;
