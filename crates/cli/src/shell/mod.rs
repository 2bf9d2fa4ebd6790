//! `hedgerow shell`: opens a store once, and runs the commands of many lines.
//!
//! | file | what it does |
//! |---|---|
//! | `line` | parses a line |
//! | `session` | the open store; runs a line |
//! | `interactive`, `completion` | lines from a terminal, with history and completion |
//! | `batch` | lines from a pipe or a file |

mod args;
mod batch;
mod completion;
mod interactive;
mod line;
mod session;

pub use args::ShellArgs;

use crate::console::Console;
use crate::error::CliError;
use crate::interrupt::Listener;
use line::{Parsed, Parser};
use session::{Next, Session};
use std::io::{self, IsTerminal};

/// Opens the store, and runs lines until there are no more.
pub fn execute(args: &ShellArgs, console: &Console) -> Result<(), CliError> {
    let listener = Listener::start()?;
    let session = Session::open(args, console)?;
    let ended = if io::stdin().is_terminal() {
        interactive::run(&session, console, &listener)
    } else {
        batch::run(&session, io::stdin().lock(), args.keep_going, console, &listener)
    };
    // Commits that were not yet durable become so even if a line failed.
    session.close().and(ended)
}

fn run_line(
    session: &Session,
    line: &str,
    parser: &mut Parser,
    console: &Console,
    listener: &Listener,
) -> Result<Next, CliError> {
    match parser.parse(line)? {
        Parsed::Nothing => Ok(Next::Line),
        Parsed::Help(text) => console.print_bytes(text.as_bytes()).map(|()| Next::Line),
        Parsed::Command(command) => {
            let ran = session.run(&command, console, &listener.begin());
            listener.end();
            ran
        }
    }
}
