//! `hedgerow info`, `schema`, `label`, `checkpoint`, `compact`, `check` and `recover`: commands on
//! the store itself.

mod args;
pub mod check;
mod checkpoint;
mod compact;
mod engine;
mod files;
pub mod info;
pub mod label;
mod problem;
pub mod recover;
pub mod rewrite;
pub mod schema;

pub use args::{
    CHECKPOINT_EXAMPLES, COMPACT_EXAMPLES, CheckArgs, InfoArgs, LabelArgs, NewLabels, RecoverArgs,
    RewriteArgs, SchemaArgs,
};
pub use compact::Compacted;
