//! Generates graphs, identical on every machine for a seed.

mod kronecker;
mod random;
pub mod shuffle;
mod stream;
mod uniform;

pub use kronecker::{Kronecker, KroneckerError};
pub use stream::{Change, ChangeStream, ChangeStreamError};
pub use uniform::{Uniform, UniformError, Weights};
