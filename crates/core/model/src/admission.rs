//! Back-pressure of engines that defer work.

use crate::{Archiving, Durable};
use std::time::Duration;

/// The answer of an engine that defers work to a commit that wants to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The commit may begin.
    Granted,
    /// The commit may begin after this time: deferred work grows faster than it is done, and
    /// commits would soon have to wait for all of it.
    AfterPause(Duration),
    /// The commit may ask again after a step of [maintenance](crate::Engine::maintain).
    AfterMaintenance,
    /// The commit may ask again after a [flush](crate::Durable::flush).
    AfterFlush,
}

impl Admission {
    /// Decides if a commit of about `bytes` bytes may begin in an engine with these capabilities.
    #[inline]
    #[must_use]
    pub fn of(bytes: usize, durable: Option<&dyn Durable>, archiving: Option<&dyn Archiving>) -> Self {
        match durable.map_or(Admission::Granted, |durable| durable.admit(bytes)) {
            Admission::Granted => archiving.map_or(Admission::Granted, Archiving::admit),
            refused => refused,
        }
    }
}
