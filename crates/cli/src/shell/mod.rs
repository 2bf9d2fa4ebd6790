//! `hedgerow shell`: opens a store once, and runs the commands of many lines.
//!
//! | file | purpose |
//! |---|---|
//! | `line` | parses a line |
//! | `session` | the open store; runs a line |
//! | `transaction` | the open transaction |
//! | `interactive`, `completion` | lines from a terminal, with history and completion |
//! | `batch` | lines from a pipe or a file |

mod args;
mod batch;
mod completion;
mod interactive;
mod line;
mod session;
mod transaction;

pub use args::ShellArgs;

use crate::console::Console;
use crate::error::{CliError, told};
use crate::interrupt::Listener;
use session::Session;
use std::io::{self, IsTerminal};

/// Opens the store, and runs lines until there are no more.
pub fn execute(args: &ShellArgs, console: &Console) -> Result<(), CliError> {
    let listener = Listener::start()?;
    let mut session = Session::open(args, console)?;
    let is_terminal = io::stdin().is_terminal();
    let mut ended = match is_terminal {
        true => interactive::run(&mut session, console, &listener),
        false => batch::run(&mut session, io::stdin().lock(), args.keep_going, console, &listener),
    };
    if session.roll_back() {
        // A program that writes lines to a pipe reads the exit code, not notes.
        match ended {
            Ok(()) if !is_terminal => ended = Err(CliError::UnendedTransaction),
            Err(error) if error.is_closed_pipe() && !is_terminal => {
                console.note(&format!("note: {}", told(&error)));
                ended = Err(CliError::UnendedTransaction);
            }
            _ => console.note("note: the open transaction was rolled back"),
        }
    }
    // Commits that were not yet durable become so even if a line failed.
    session.close().and(ended)
}
