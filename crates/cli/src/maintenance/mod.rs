//! `hedgerow info`, `schema`, `label`, `checkpoint`, `compact`, `check` and `recover`: commands on the
//! store itself.

mod args;
pub mod check;
pub mod checkpoint;
pub mod compact;
mod engine;
mod files;
pub mod info;
pub mod label;
mod problem;
pub mod recover;
pub mod schema;

pub use args::{
    CheckArgs, CheckpointArgs, CompactArgs, InfoArgs, LabelArgs, NewLabels, RecoverArgs, SchemaArgs,
};
