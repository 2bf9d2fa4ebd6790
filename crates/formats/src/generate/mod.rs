//! Generated graphs: a seed gives the same graph on every machine. Requests to stores of them.

mod kronecker;
pub mod link_bench;
mod random;
mod shuffle;
mod stream;
mod uniform;

pub use kronecker::{Kronecker, KroneckerError};
pub use stream::{Change, ChangeStream, ChangeStreamError};
pub use uniform::{Uniform, UniformError, Weights};
