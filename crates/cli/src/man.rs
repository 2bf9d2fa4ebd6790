//! `hedgerow man`: writes the manual pages.

use crate::error::CliError;
use clap::{Args, Command};
use std::fs;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  hedgerow man ~/.local/share/man/man1
  hedgerow man pages && man pages/hedgerow-run-bfs.1";

/// `hedgerow man`
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ManArgs {
    /// The directory, which is created if it does not exist
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}

/// Writes a page for each command of `command`.
pub fn execute(args: &ManArgs, command: Command) -> Result<(), CliError> {
    let folder = &args.folder;
    let written = fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(command, folder));
    written.map_err(|source| CliError::ManualPages { folder: folder.clone(), source })
}
