//! Graphs that are made up: the same seed gives the same graph on every machine.

mod kronecker;

pub use kronecker::{Kronecker, KroneckerError};
