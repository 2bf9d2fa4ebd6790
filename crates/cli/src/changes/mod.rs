//! `hedgerow log`, `diff` and `erase`: the past of a store.

mod args;
mod compare;
mod content;
pub mod diff;
pub mod erase;
pub mod log;

pub use args::{DiffArgs, EraseArgs, LogArgs};
