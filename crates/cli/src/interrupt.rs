//! Handles the signals that end the command: Ctrl-C, SIGTERM, SIGHUP.

use crate::error::CliError;
use crate::signal::Signal;
use hedgerow::kernels::CancelToken;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::sync::{Arc, OnceLock};
use std::{fs, process, thread};

/// Whether a signal has arrived, and which one came first.
#[derive(Clone, Debug)]
pub struct Interrupt {
    token: CancelToken,
    signal: Arc<OnceLock<Signal>>,
}

impl Interrupt {
    /// Handles the signals: the first one cancels the command at the next opportunity, the second
    /// one exits at once. SIGHUP stays ignored if it was, as under `nohup`.
    pub fn listen() -> Result<Self, CliError> {
        let interrupt = Interrupt { token: CancelToken::new(), signal: Arc::default() };
        let hangup = (!ignores(SIGHUP)).then_some(SIGHUP);
        let mut signals =
            Signals::new([SIGINT, SIGTERM].into_iter().chain(hangup)).map_err(CliError::Signals)?;
        let raised = interrupt.clone();
        let listen = move || {
            for signal in signals.forever().map(Signal) {
                if raised.signal.set(signal).is_err() {
                    process::exit(signal.exit_code().into());
                }
                raised.token.cancel();
            }
        };
        thread::Builder::new().name("signals".into()).spawn(listen).map_err(CliError::Signals)?;
        Ok(interrupt)
    }

    /// The flag that stops kernels.
    pub fn token(&self) -> &CancelToken {
        &self.token
    }

    /// An error once a signal has arrived.
    pub fn check(&self) -> Result<(), CliError> {
        self.signal.get().map_or(Ok(()), |signal| Err(CliError::Interrupted(*signal)))
    }

    /// The result, or `Interrupted` if a signal caused its failure.
    pub fn or_interrupted<T>(&self, result: Result<T, impl Into<CliError>>) -> Result<T, CliError> {
        result.map_err(|error| match self.check() {
            Err(interrupted) => interrupted,
            Ok(()) => error.into(),
        })
    }
}

/// Whether the process ignores this signal. Known on Linux only.
fn ignores(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & (1 << (signal - 1)) != 0)
}
