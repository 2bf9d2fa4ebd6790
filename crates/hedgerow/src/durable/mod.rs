//! What makes a graph durable: its log, its checkpoints, and how it comes back from them.

mod checkpoint;
pub(crate) mod examine;
mod gathered;
mod graph;
mod journal;
mod keeper;
mod load;
mod open;
mod own_files;
mod replay;
mod reports;
mod restored;
mod settings;
mod vertex_set;

pub(crate) use journal::{Journal, with_body};
pub(crate) use open::newest_checkpoint;
pub use reports::{CheckpointOptions, CheckpointReport, Recovery, StoreInfo};
