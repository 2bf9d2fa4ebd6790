//! The time of one mix of readers and writers.

use hedgerow_driver::{Extent, Settings};
use std::sync::OnceLock;
use std::time::Duration;

/// The requested time. Static because the driver passes only its own settings to workloads.
static REQUESTED: OnceLock<Duration> = OnceLock::new();

/// Sets the time, instead of a time by the extent of the run. Later calls have no effect.
pub fn set(time: Duration) {
    REQUESTED.get_or_init(|| time);
}

/// Time of one mix of readers and writers; LinkBench runs for a fortieth of it with each number of
/// clients.
pub fn of(settings: &Settings) -> Duration {
    REQUESTED.get().copied().unwrap_or(match settings.extent {
        Extent::Quick => Duration::from_millis(50),
        Extent::Default => Duration::from_secs(10),
        Extent::Full => Duration::from_secs(60),
    })
}
