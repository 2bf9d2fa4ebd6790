//! The vertices of an engine in memory: whether they exist, their records, and the versions of both.
//!
//! - `vertex.rs`: a vertex, in a word that points to its newest version, if it needs one;
//! - `keeps.rs`: proofs that what such a word points to is not freed while it is used;
//! - `set.rs`: a set of vertices, a bit for each.

mod keeps;
mod set;
mod vertex;

pub use keeps::Keeps;
pub use set::VertexSet;
pub use vertex::{Vertex, VertexTable};
