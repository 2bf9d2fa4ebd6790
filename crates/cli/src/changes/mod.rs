//! `hedgerow log`, `diff` and `erase`: the past of a store.

mod args;
pub mod log;

pub use args::LogArgs;
