//! Ctrl-C.

use crate::error::CliError;
use hedgerow::kernels::CancelToken;
use std::process;

/// What the shell expects of a process that was interrupted: 128 and the number of the signal.
const INTERRUPTED: i32 = 130;

/// Whether the user has pressed Ctrl-C.
#[derive(Clone, Debug)]
pub struct Interrupt(CancelToken);

impl Interrupt {
    /// Listens to Ctrl-C: the first one stops what is going on at the next opportunity, the second
    /// one ends the process at once.
    pub fn on_ctrl_c() -> Result<Self, CliError> {
        let token = CancelToken::new();
        let raised = token.clone();
        ctrlc::set_handler(move || {
            if raised.is_cancelled() {
                process::exit(INTERRUPTED);
            }
            raised.cancel();
        })?;
        Ok(Interrupt(token))
    }

    /// The flag that stops kernels.
    pub fn token(&self) -> &CancelToken {
        &self.0
    }

    /// An error once the user has pressed Ctrl-C.
    pub fn check(&self) -> Result<(), CliError> {
        if self.0.is_cancelled() { Err(CliError::Interrupted) } else { Ok(()) }
    }

    /// The result, or that it was interrupted if that is why there is none.
    pub fn or_interrupted<T>(&self, result: Result<T, hedgerow::Error>) -> Result<T, CliError> {
        result.map_err(|error| match self.check() {
            Err(interrupted) => interrupted,
            Ok(()) => error.into(),
        })
    }
}
