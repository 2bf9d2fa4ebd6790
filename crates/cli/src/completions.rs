//! `hedgerow completions`: what a shell needs to complete commands and options.

use crate::args::{Cli, CompletionsArgs};
use crate::console::Console;
use crate::error::CliError;
use clap::CommandFactory;

/// Prints the script.
pub fn execute(args: &CompletionsArgs, console: &Console) -> Result<(), CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "hedgerow", &mut script);
    console.print_bytes(&script)
}
