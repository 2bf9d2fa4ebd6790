//! Lines from a pipe or a file.

use super::line::Parser;
use super::session::{Next, Session};
use crate::console::Console;
use crate::error::CliError;
use crate::interrupt::Listener;
use std::io::BufRead;

/// Runs every line. Stops at the first failure, unless the shell is to `keep_going`: then the
/// errors are reported as they come, and counted at the end.
pub fn run(
    session: &mut Session,
    input: impl BufRead,
    keep_going: bool,
    console: &Console,
    listener: &Listener,
) -> Result<(), CliError> {
    let mut parser = Parser::new();
    let mut failures = Failures::default();
    for (number, line) in (1..).zip(input.split(b'\n')) {
        let line = line.map_err(CliError::Stdin)?;
        match run_bytes(session, &line, &mut parser, console, listener) {
            Ok(Next::Line) => {}
            Ok(Next::End) => break,
            Err(error) if error.is_closed_pipe() => return Err(error.in_line(number, true)),
            Err(error) if error.signal().is_some() => {
                return Err(error.in_line(number, false));
            }
            Err(error) if !keep_going => return Err(error.in_line(number, true)),
            Err(error) => {
                failures.add(number, &error);
                session.line_failed();
                console.report(&error.in_line(number, false));
            }
        }
    }
    failures.result()
}

fn run_bytes(
    session: &mut Session,
    line: &[u8],
    parser: &mut Parser,
    console: &Console,
    listener: &Listener,
) -> Result<Next, CliError> {
    let line = str::from_utf8(line).map_err(|error| CliError::Usage(format!("not UTF-8: {error}")))?;
    session.run_line(line, parser, console, listener)
}

/// Lines that failed.
#[derive(Default)]
struct Failures {
    count: u64,
    /// The number of the first failed line, and its exit code.
    first: Option<(u64, u8)>,
}

impl Failures {
    fn add(&mut self, number: u64, error: &CliError) {
        self.count += 1;
        self.first.get_or_insert((number, error.exit_code()));
    }

    fn result(self) -> Result<(), CliError> {
        let count = self.count;
        self.first.map_or(Ok(()), |(first, exit_code)| Err(CliError::LinesFailed { count, first, exit_code }))
    }
}
