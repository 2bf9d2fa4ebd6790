//! Runs Hedgerow in a separate process and judges it from outside: by an isolation checker that
//! knows nothing of Hedgerow, and by killing the process.
//!
//! - [`lists`]: growing lists in a stored graph, served to the clients of
//!   [adya](https://crates.io/crates/adya) over its JSON protocol. The checker generates the
//!   transactions, and judges their reads.
//! - [`load`]: clients with predetermined commits and acknowledgements that outlive the process,
//!   and the contents that the store must have after the process was killed.
//!
//! The tests of this crate run both kinds with `kill -9`, and with planted mistakes that must be
//! found.

pub mod lists;
pub mod load;
mod mistake;
mod named;

pub use mistake::Mistake;
pub use named::Named;

use std::fmt::Display;

/// Ends this process because the graph did something forbidden; its parent sees the exit status.
fn give_up(what: &str, why: &dyn Display) -> ! {
    eprintln!("{what}: {why}");
    std::process::exit(1);
}
