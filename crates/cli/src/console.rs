//! Standard output and standard error.

use crate::error::{CliError, told};
use clap::builder::styling::{AnsiColor, Style};
use clap::{Args, ColorChoice};
use hedgerow_formats::STANDARD_OUTPUT;
use serde::Serialize;
use std::env;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

/// Options for output other than the result. Every command has these options.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct ConsoleArgs {
    /// Show errors only: no progress, no notes, no summary of what was written to a file
    #[arg(long, help_heading = "Output", short, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Also show what was opened and read, and how long that took
    #[arg(long, help_heading = "Output", short, global = true)]
    pub verbose: bool,
    /// Color the help and the beginning of errors; auto does so in a terminal, unless NO_COLOR is
    /// set
    #[arg(long, help_heading = "Output", value_name = "WHEN", global = true, default_value = "auto")]
    pub color: ColorChoice,
}

/// The output of results and progress.
#[derive(Clone, Copy, Debug)]
pub struct Console {
    format: Format,
    args: ConsoleArgs,
    terminal: bool,
}

/// The format of printed results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Text,
    /// One JSON object.
    Json,
    /// A JSON object per line, for several results.
    JsonLines,
}

impl Console {
    /// A console that prints results in this format.
    pub fn new(format: Format, args: ConsoleArgs) -> Self {
        Console { format, args, terminal: io::stderr().is_terminal() }
    }

    /// A console that prints results in another format.
    pub fn with(self, format: Format) -> Self {
        Console { format, ..self }
    }

    /// Returns true if results are printed as JSON.
    pub fn is_json(&self) -> bool {
        self.format != Format::Text
    }

    /// Returns true if each result is one line of JSON.
    pub fn is_json_lines(&self) -> bool {
        self.format == Format::JsonLines
    }

    /// Returns true if progress can be drawn.
    pub fn shows_progress(&self) -> bool {
        self.terminal && !self.is_json() && !self.args.quiet
    }

    /// Writes a line to standard error, unless --quiet; ignores a closed standard error.
    pub fn note(&self, line: &str) {
        if !self.args.quiet {
            drop(writeln!(io::stderr().lock(), "{line}"));
        }
    }

    /// Writes a line to standard error if --verbose.
    pub fn detail(&self, line: impl FnOnce() -> String) {
        if self.args.verbose {
            self.note(&line());
        }
    }

    /// Returns true if a person can be asked.
    pub fn can_ask(&self) -> bool {
        self.terminal && io::stdin().is_terminal() && !self.is_json()
    }

    /// Asks a question, with this answer by default.
    pub fn asks(&self, question: &str, default: bool) -> bool {
        let choices = if default { "Y/n" } else { "y/N" };
        drop(write!(io::stderr().lock(), "{question} [{choices}] "));
        let mut answer = String::new();
        if io::stdin().read_line(&mut answer).map_or(true, |length| length == 0) {
            return false;
        }
        match &*answer.trim().to_lowercase() {
            "" => default,
            answer => matches!(answer, "y" | "yes"),
        }
    }

    /// Prints a result.
    pub fn print<T: Serialize>(&self, result: &T, text: impl FnOnce(&T) -> String) -> Result<(), CliError> {
        self.print_bytes(self.render(result, text)?.as_bytes())
    }

    /// Prints the summary of a command whose result went to `output`: to standard error if `output`
    /// is standard output. With --quiet only as JSON. A failure says that the output is complete.
    pub fn summarize<T: Serialize>(
        &self,
        output: Option<&Path>,
        summary: &T,
        text: impl FnOnce(&T) -> String,
    ) -> Result<(), CliError> {
        if self.args.quiet && !self.is_json() {
            return Ok(());
        }
        let text = self.render(summary, text)?;
        if output == Some(Path::new(STANDARD_OUTPUT)) {
            drop(io::stderr().lock().write_all(text.as_bytes()));
            return Ok(());
        }
        let printed = self.print_bytes(text.as_bytes());
        match output {
            Some(output) => printed.map_err(|error| error.but(format!("{} is complete", output.display()))),
            None => printed,
        }
    }

    /// A result in the format of the console.
    fn render<T: Serialize>(&self, result: &T, text: impl FnOnce(&T) -> String) -> Result<String, CliError> {
        let json = match self.format {
            Format::Text => return Ok(text(result)),
            Format::Json => serde_json::to_string_pretty(result),
            Format::JsonLines => serde_json::to_string(result),
        };
        Ok(json.map_err(io::Error::from).map_err(CliError::Stdout)? + "\n")
    }

    /// Prints bytes as they are.
    pub fn print_bytes(&self, bytes: &[u8]) -> Result<(), CliError> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(CliError::Stdout)
    }

    /// Reports an error on standard error: as one JSON object if results are JSON, else as one
    /// line. Ignores a closed standard error.
    pub fn report(&self, error: &CliError) {
        let line = if self.is_json() {
            let code = error.exit_code();
            let report = Reported { error: error.to_string(), hint: error.hint(), exit_code: code };
            serde_json::to_string(&report).unwrap_or_else(|_| report.error.clone())
        } else {
            let style = if self.is_colored() { ERROR } else { Style::new() };
            format!("{style}error:{style:#} {}", told(error))
        };
        drop(writeln!(io::stderr().lock(), "{line}"));
    }

    fn is_colored(&self) -> bool {
        match self.args.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                self.terminal && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            }
        }
    }
}

/// The style of the word that begins an error, as in the errors of the command line.
const ERROR: Style = AnsiColor::Red.on_default().bold();

/// An error in JSON.
#[derive(Serialize)]
struct Reported {
    error: String,
    /// The advice.
    hint: Option<&'static str>,
    exit_code: u8,
}
