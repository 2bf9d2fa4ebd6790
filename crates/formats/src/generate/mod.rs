//! Generates graphs, identical on every machine for a seed, and requests to stores of graphs.

mod kronecker;
pub mod link_bench;
mod random;
mod shuffle;
mod stream;
mod uniform;

pub use kronecker::{Kronecker, KroneckerError};
pub use stream::{Change, ChangeStream, ChangeStreamError};
pub use uniform::{Uniform, UniformError, Weights};
