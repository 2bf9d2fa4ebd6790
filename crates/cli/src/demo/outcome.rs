//! The results of the demo.

use super::live::Sample;
use super::readers::Reading;
use super::writers::Writing;
use std::time::Duration;

/// The results of all threads.
pub struct Outcome {
    pub writing: Writing,
    pub reading: Reading,
    /// The time from the start to the last commit.
    pub elapsed: Duration,
    /// The progress of the writers over time.
    pub samples: Vec<Sample>,
}
