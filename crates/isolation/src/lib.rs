//! Hedgerow in a process of its own, judged from outside: by a checker of isolation that knows nothing of it, and
//! by whoever kills it.
//!
//! - [`lists`]: lists that grow, in a graph in a store, served to the clients of
//!   [adya](https://crates.io/crates/adya) over its JSON protocol. The checker makes up the transactions, and judges what
//!   they read.
//! - [`load`]: clients of which each commit is known beforehand, with acknowledgements for whoever keeps them; and what
//!   the store must hold when the process was killed.
//!
//! The tests of this crate run both with `kill -9`, and with planted mistakes that must be found.

pub mod lists;
pub mod load;
mod mistake;
mod named;

pub use mistake::Mistake;
pub use named::Named;

use std::fmt::Display;

/// Ends this process because the graph did what it must not do: whoever started it sees that.
fn give_up(what: &str, why: &dyn Display) -> ! {
    eprintln!("{what}: {why}");
    std::process::exit(1);
}
