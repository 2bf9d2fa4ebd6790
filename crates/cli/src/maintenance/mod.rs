//! `hedgerow info`, `watch`, `schema`, `label`, `backup`, `checkpoint`, `compact`, `check` and
//! `recover`: commands on the store itself.

mod args;
pub mod backup;
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
pub mod watch;

pub use args::{
    BackupArgs, CHECKPOINT_EXAMPLES, COMPACT_EXAMPLES, CheckArgs, InfoArgs, LabelArgs, NewLabels,
    RecoverArgs, RewriteArgs, SchemaArgs, WatchArgs,
};
pub use compact::Compacted;
