//! Edges as keys of bytes, for key-value stores: source before destination, each big-endian.

use crate::compare::graph::Edge;
use anyhow::{Context, Result};

/// An edge as a key.
pub fn key((source, destination): Edge) -> [u8; 8] {
    (u64::from(source.get()) << 32 | u64::from(destination.get())).to_be_bytes()
}

/// The destination of the edge in a key.
pub fn destination(key: &[u8]) -> Result<u64> {
    let bytes: [u8; 8] = key.try_into().context("a key that is no edge")?;
    Ok(u64::from_be_bytes(bytes) & u64::from(u32::MAX))
}
