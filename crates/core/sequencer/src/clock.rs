//! The clocks of a graph.
//!
//! Commits carry wall-clock times, because applications select states by wall-clock time. The wall
//! clock may be wrong or stepped back, so a monotonic clock measures ages.

use hedgerow_sync::Arc;
use hedgerow_sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// One moment on both clocks, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// Microseconds since 1970-01-01 UTC.
    pub wall: u64,
    /// Microseconds since a fixed moment of this process.
    pub monotonic: u64,
}

/// The clocks of a graph.
#[derive(Clone, Debug)]
pub enum Clock {
    /// The clocks of the system; monotonic time counts from this moment.
    System(Instant),
    /// Time stands still, so that runs can be repeated.
    Still,
    /// Set by a test.
    Manual(ManualClock),
}

impl Default for Clock {
    fn default() -> Self {
        Clock::System(Instant::now())
    }
}

impl Clock {
    /// Microseconds since 1970-01-01 UTC.
    #[inline]
    pub fn wall(&self) -> u64 {
        match self {
            Clock::System(_) => {
                microseconds(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
            }
            Clock::Still => 0,
            Clock::Manual(clock) => clock.0.wall.load(Ordering::Relaxed),
        }
    }

    /// Microseconds since a fixed moment of this process.
    #[inline]
    pub fn monotonic(&self) -> u64 {
        match self {
            Clock::System(since) => microseconds(since.elapsed()),
            Clock::Still => 0,
            Clock::Manual(clock) => clock.0.monotonic.load(Ordering::Relaxed),
        }
    }

    /// The time on both clocks.
    pub fn now(&self) -> Now {
        Now { wall: self.wall(), monotonic: self.monotonic() }
    }
}

fn microseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// A clock that a test sets. Clones share one clock.
#[derive(Clone, Debug, Default)]
pub struct ManualClock(Arc<ManualTimes>);

#[derive(Debug, Default)]
struct ManualTimes {
    wall: AtomicU64,
    monotonic: AtomicU64,
}

impl ManualClock {
    /// Sets the wall clock, in microseconds since 1970-01-01 UTC. The monotonic clock stays.
    pub fn set(&self, wall: u64) {
        self.0.wall.store(wall, Ordering::Relaxed);
    }

    /// Advances both clocks.
    pub fn advance(&self, duration: Duration) {
        self.0.wall.fetch_add(microseconds(duration), Ordering::Relaxed);
        self.0.monotonic.fetch_add(microseconds(duration), Ordering::Relaxed);
    }
}
