//! Waits for a store that another process has open.

use crate::interrupt::Interrupt;
use clap::Args;
use hedgerow::ErrorKind;
use std::thread;
use std::time::{Duration, Instant};

/// Sleep of a command between two attempts.
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(20);

/// The maximum time that a writing command waits for a store.
#[derive(Clone, Copy, Debug, Args)]
pub struct WaitArgs {
    /// Wait up to SECONDS while another process has the store open, instead of failing at once
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "0", hide_default_value = true)]
    pub wait: Duration,
}

impl WaitArgs {
    /// Repeats `attempt` while the store is locked and time is left. A signal ends the wait;
    /// commands that do not handle signals have no `interrupt`, and signals end them.
    pub fn until_open<T>(
        self,
        interrupt: Option<&Interrupt>,
        mut attempt: impl FnMut() -> Result<T, hedgerow::Error>,
    ) -> Result<T, hedgerow::Error> {
        let begin = Instant::now();
        let may_wait =
            || begin.elapsed() < self.wait && interrupt.is_none_or(|interrupt| interrupt.check().is_ok());
        loop {
            match attempt() {
                Err(error) if error.kind() == ErrorKind::Locked && may_wait() => {
                    thread::sleep(BETWEEN_ATTEMPTS);
                }
                opened => return opened,
            }
        }
    }
}

/// Parses a number of seconds.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or_else(|| "expected a number of seconds, such as 10 or 0.5".into())
}
