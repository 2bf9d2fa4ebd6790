//! Checkpoints: what is written comes back, whatever happens to the files.

mod allocation;
mod backwards;
mod bugs;
mod crashes;
mod damage;
mod fixture;
mod fuzz;
mod installed;
mod model;
mod round_trip;
mod views;
