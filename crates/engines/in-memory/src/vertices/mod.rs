//! Vertices of in-memory engines: existence, records, and the versions of both.
//!
//! - `vertex.rs`: a vertex as one word, which holds a timestamp or a pointer to its newest version;
//! - `keeps.rs`: proofs that a version is not freed while it is read;
//! - `set.rs`: a set of vertices, with one bit each.

mod keeps;
mod set;
mod vertex;

pub use keeps::Keeps;
pub use set::VertexSet;
pub use vertex::{Vertex, VertexTable};
