//! Mistakes that are made on purpose, to see that they are found.

use crate::named::Named;

/// A mistake that whoever judges must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// None: what is to be judged.
    Nothing,
    /// Each transaction is two, so that others, or the end of the process, come between.
    Split,
    /// A transaction is answered before it is committed, whatever becomes of that.
    Early,
}

impl Named for Mistake {
    const NAMES: &'static [(&'static str, Self)] =
        &[("nothing", Mistake::Nothing), ("split", Mistake::Split), ("early", Mistake::Early)];
}
