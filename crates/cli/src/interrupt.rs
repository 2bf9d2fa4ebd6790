//! Handles the signals that end the command: Ctrl-C, SIGTERM, SIGHUP.

use crate::error::CliError;
use crate::signal::Signal;
use hedgerow::kernels::CancelToken;
use hedgerow_sync::{Arc, Mutex};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use std::io::{self, Write};
use std::sync::OnceLock;
use std::{fs, process, thread};

/// The first signal that has arrived during a command, if any.
#[derive(Clone, Debug)]
pub struct Interrupt {
    token: CancelToken,
    signal: Arc<OnceLock<Signal>>,
}

/// Handles the signals of a process that runs one command after the other.
#[derive(Debug)]
pub struct Listener {
    state: Arc<Mutex<State>>,
}

/// The state that signals act on.
#[derive(Debug, Default)]
struct State {
    /// The running command; `None` between two commands.
    command: Option<Interrupt>,
    /// The prompt of a terminal, where Ctrl-C between two commands does not end the process.
    prompt: Option<String>,
}

impl Listener {
    /// Handles the signals from now on: SIGHUP stays ignored if it was, as under `nohup`. Until a
    /// command begins, a signal ends the process.
    pub fn start() -> Result<Self, CliError> {
        let state = Arc::<Mutex<State>>::default();
        let hangup = (!ignores(SIGHUP)).then_some(SIGHUP);
        let mut signals =
            Signals::new([SIGINT, SIGTERM].into_iter().chain(hangup)).map_err(CliError::Signals)?;
        let raised = Arc::clone(&state);
        let listen = move || {
            for signal in signals.forever().map(Signal) {
                match &*raised.lock() {
                    State { command: Some(command), .. } if command.signal.set(signal).is_ok() => {
                        command.token.cancel();
                    }
                    State { command: None, prompt: Some(prompt) } if signal == Signal::CTRL_C => {
                        show_again(prompt);
                    }
                    _ => process::exit(signal.exit_code().into()),
                }
            }
        };
        thread::Builder::new().name("signals".into()).spawn(listen).map_err(CliError::Signals)?;
        Ok(Listener { state })
    }

    /// Begins a command: the first signal cancels it at the next opportunity, a second one ends the
    /// process at once.
    pub fn begin(&self) -> Interrupt {
        let interrupt = Interrupt { token: CancelToken::new(), signal: Arc::default() };
        self.state.lock().command = Some(interrupt.clone());
        interrupt
    }

    /// Ends a command: until the next one begins, a signal ends the process, unless a user is
    /// [prompted](Self::prompt).
    pub fn end(&self) {
        self.state.lock().command = None;
    }

    /// From now on, Ctrl-C between two commands only shows `prompt` again, on a new line. An empty
    /// prompt is not shown, for a line editor that shows its own.
    pub fn prompt(&self, prompt: &str) {
        self.state.lock().prompt = Some(prompt.to_owned());
    }
}

impl Interrupt {
    /// Handles the signals of a process that runs one command.
    pub fn listen() -> Result<Self, CliError> {
        Ok(Listener::start()?.begin())
    }

    /// The flag that stops kernels.
    pub fn token(&self) -> &CancelToken {
        &self.token
    }

    /// Fails once a signal has arrived.
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

/// Makes a write beyond the limit of a file's size (`ulimit -f`) fail, instead of ending the
/// process.
pub fn survive_file_limit() -> Result<(), CliError> {
    // A handler without an effect, because ignoring the signal takes unsafe code.
    signal_hook::flag::register(SIGXFSZ, Arc::default()).map(drop).map_err(CliError::Signals)
}

/// Shows the prompt again, after the terminal has discarded the typed line. Ignores a closed
/// output.
fn show_again(prompt: &str) {
    if !prompt.is_empty() {
        let mut stdout = io::stdout().lock();
        drop(write!(stdout, "\n{prompt}").and_then(|()| stdout.flush()));
    }
}

/// Returns true if the process ignores this signal. Known on Linux only.
fn ignores(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & (1 << (signal - 1)) != 0)
}
