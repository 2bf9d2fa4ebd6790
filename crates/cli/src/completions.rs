//! `hedgerow completions`: prints the script that completes commands and options in a shell.

use crate::console::Console;
use crate::error::CliError;
use clap::{Args, Command};

const EXAMPLES: &str = "\
Examples:
  source <(hedgerow completions bash)
  hedgerow completions zsh > ~/.zfunc/_hedgerow
  hedgerow completions fish > ~/.config/fish/completions/hedgerow.fish";

/// `hedgerow completions`
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: clap_complete::Shell,
}

/// Prints the script for `command`, which has all commands and options.
pub fn execute(args: &CompletionsArgs, mut command: Command, console: &Console) -> Result<(), CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "hedgerow", &mut script);
    console.print_bytes(&script)
}
