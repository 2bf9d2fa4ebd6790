//! Deadlines of phases.

use anyhow::{Result, bail};
use std::time::{Duration, Instant};

/// Checks between two reads of the clock.
const CHECKS: u32 = 256;

/// A phase exceeded its time.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("cut after {0:?}")]
pub struct Cut(Duration);

/// The deadline of a phase.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    started: Instant,
    allowed: Duration,
    checks: u32,
}

impl Deadline {
    /// A deadline `seconds` from now.
    pub fn after(seconds: f64) -> Self {
        Deadline { started: Instant::now(), allowed: Duration::from_secs_f64(seconds), checks: 0 }
    }

    /// Fails with [`Cut`] if the time is over. Reads the clock at every `CHECKS`th call only.
    pub fn check(&mut self) -> Result<()> {
        self.checks += 1;
        if self.checks.is_multiple_of(CHECKS) && self.is_over() {
            bail!(Cut(self.allowed));
        }
        Ok(())
    }

    /// Returns true if the time is over.
    pub fn is_over(&self) -> bool {
        self.started.elapsed() > self.allowed
    }
}
