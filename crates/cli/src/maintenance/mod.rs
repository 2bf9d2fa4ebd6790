//! `hedgerow info`, `schema`, `label`, `checkpoint`, `check` and `recover`: commands on the store
//! itself.

mod args;
pub mod check;
pub mod checkpoint;
mod files;
pub mod info;
pub mod label;
mod problem;
pub mod recover;
pub mod schema;

pub use args::{CheckArgs, CheckpointArgs, InfoArgs, LabelArgs, NewLabels, RecoverArgs, SchemaArgs};
