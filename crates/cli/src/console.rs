//! Standard output and standard error.

use crate::error::CliError;
use serde::Serialize;
use std::io::{self, IsTerminal, Write};

/// Where results and progress are shown.
#[derive(Clone, Copy, Debug)]
pub struct Console {
    json: bool,
    terminal: bool,
}

impl Console {
    /// A console that prints results as JSON, or as text.
    pub fn new(json: bool) -> Self {
        Console { json, terminal: io::stderr().is_terminal() }
    }

    /// Whether results are printed as JSON.
    pub fn is_json(&self) -> bool {
        self.json
    }

    /// Whether progress can be drawn.
    pub fn shows_progress(&self) -> bool {
        self.terminal && !self.json
    }

    /// Writes a line to standard error; ignores a closed one.
    pub fn note(&self, line: &str) {
        drop(writeln!(io::stderr().lock(), "{line}"));
    }

    /// Prints a result as one JSON object, or as the text that `text` returns.
    pub fn print<T: Serialize>(&self, result: &T, text: impl FnOnce(&T) -> String) -> Result<(), CliError> {
        let text = if self.json {
            let json = serde_json::to_string_pretty(result).map_err(io::Error::from);
            json.map_err(CliError::Stdout)? + "\n"
        } else {
            text(result)
        };
        self.print_bytes(text.as_bytes())
    }

    /// Prints bytes as they are.
    pub fn print_bytes(&self, bytes: &[u8]) -> Result<(), CliError> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(CliError::Stdout)
    }
}

/// Reports an error to the user. A closed standard error is no reason to panic.
pub fn report(error: &CliError) {
    let mut stderr = io::stderr().lock();
    let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
    drop(writeln!(stderr, "error: {error}{hint}"));
}
