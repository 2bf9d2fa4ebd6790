//! A signal that ends the command, as users and shells know it.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::fmt;

/// A signal that ends the command, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal(pub i32);

impl Signal {
    /// Ctrl-C.
    pub const CTRL_C: Signal = Signal(SIGINT);

    /// The exit code that shells report for a process ended by this signal: 128 plus its number.
    pub fn exit_code(self) -> u8 {
        128 + self.0 as u8
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            SIGTERM => "SIGTERM",
            SIGHUP => "SIGHUP",
            _ => "Ctrl-C",
        })
    }
}
