//! Options of `hedgerow stats`.

use crate::options::{GraphArgs, file_to_write};
use clap::Args;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  hedgerow stats email-Eu-core.txt --json
  hedgerow stats kron.sg --plot degrees.svg
  hedgerow stats friends --label knows";

/// `hedgerow stats`
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct StatsArgs {
    #[command(flatten)]
    pub graph: GraphArgs,
    /// Draw the histogram of the degrees into this file, as SVG
    #[arg(long, value_name = "FILE", value_parser = file_to_write())]
    pub plot: Option<PathBuf>,
    /// Print the figures as JSON
    #[arg(long)]
    pub json: bool,
}
