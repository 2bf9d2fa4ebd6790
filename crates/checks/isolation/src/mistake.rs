//! Deliberate mistakes that the checks must find.

use crate::named::Named;

/// A deliberate mistake that the checks must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// No mistake: the real system.
    Nothing,
    /// Each transaction is split in two, so that other transactions, or the end of the process,
    /// come between.
    Split,
    /// A transaction is answered before it is committed, whatever the outcome.
    Early,
}

impl Named for Mistake {
    const NAMES: &'static [(&'static str, Self)] =
        &[("nothing", Mistake::Nothing), ("split", Mistake::Split), ("early", Mistake::Early)];
}
