//! Graphs in stores: their recovery, their state after a crash, and refused stores.

mod backup;
mod beside;
mod bugs;
mod failures;
mod first_state;
mod flushed_labels;
mod foreign;
mod foreign_checkpoint;
#[cfg(target_os = "linux")]
mod fork;
mod full_disk;
mod gate;
mod harness;
mod imports;
mod labels;
#[cfg(target_os = "linux")]
mod limits;
mod mutations;
pub mod own_files;
mod parallel;
mod power;
mod publication;
mod refusals;
mod round_trips;
mod sizes;
mod upkeep;
mod workload;
