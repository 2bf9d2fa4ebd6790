//! `hedgerow log` and `diff`: the past of a store.

mod args;
mod compare;
mod content;
pub mod diff;
pub mod log;

pub use args::{DiffArgs, LogArgs};
