//! `hedgerow log`, `changes`, `diff` and `erase`: the past of a store.

mod args;
mod compare;
mod content;
pub mod diff;
pub mod erase;
mod item;
pub mod log;
pub mod stream;

pub use args::{ChangesArgs, DiffArgs, EraseArgs, LogArgs};
