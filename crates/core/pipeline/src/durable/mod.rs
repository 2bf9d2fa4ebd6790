//! Durability: the log, checkpoints and recovery.

mod checkpoint;
mod compact;
mod gathered;
mod load;
mod note;
mod own_files;
mod repair;
mod replay;
mod reports;
mod restore;
mod restored;
mod vertex_set;

pub use compact::{CompactOptions, CompactReport};
pub use note::{describe_engine_files, note_of};
pub use repair::damage;
pub use reports::{CheckpointOptions, CheckpointReport};
pub use restore::{Until, manifest_path};
pub use restored::Batches;
