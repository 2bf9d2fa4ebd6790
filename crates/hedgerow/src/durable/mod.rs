//! What makes a graph durable: its log, its checkpoints, and how it comes back from them.

mod graph;
mod reports;

pub use reports::{CheckpointOptions, CheckpointReport, Recovery, StoreInfo};
