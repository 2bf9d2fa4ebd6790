//! Graphs that are made up: the same seed gives the same graph on every machine.

mod kronecker;
mod random;
mod stream;
mod uniform;

pub use kronecker::{Kronecker, KroneckerError};
pub use stream::{Change, ChangeStream, StreamError};
pub use uniform::{Uniform, UniformError, Weights};
