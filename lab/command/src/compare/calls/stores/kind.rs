//! Kinds of stores, and how they are made.

use crate::compare::calls::measure::Calls;
use crate::compare::calls::work::Work;
use anyhow::Result;
use std::path::Path;

/// Edges per transaction while a store is filled.
pub const AT_ONCE: usize = 1 << 16;

/// Makes a store with the edges of the work; its files go into the folder, which is empty.
type Make = fn(&Path, &Work) -> Result<Box<dyn Calls>>;

/// A kind of store.
#[derive(Debug)]
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// Its setup.
    pub setup: &'static str,
    /// Makes a store.
    pub make: Make,
}
