//! What makes a graph durable.
//!
//! - [`files`]: the file system as a store needs it, and its twin that fails and loses power on demand;
//! - [`Body`], [`LoggedCommit`]: what one commit did, as the bytes of a record;
//! - [`checkpoint`]: the state of a graph at one timestamp, in one file.

mod body;
pub mod checkpoint;
mod error;
pub mod files;
mod log;
pub mod planted;
#[cfg(any(test, feature = "simulation"))]
mod remade;
mod segment;
mod store;

pub use body::{Body, CommitRef, LoggedCommit, logged_edge};
pub use error::{LogError, StoreError};
pub use log::{Appended, Durability, Log, LogOptions};
#[cfg(any(test, feature = "simulation"))]
pub use remade::repair_checksums;
pub use segment::Record;
pub use store::{
    CheckReport, CheckpointEntry, Cut, Manifest, Place, Recovered, Repair, ReplacedCheckpoint, Sealed,
    SegmentEntry, Store, StoreOptions, StreamEntry, TornTail, check, recover_to_last_valid,
};
