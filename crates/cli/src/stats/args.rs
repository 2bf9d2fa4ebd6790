//! Options of `hedgerow stats`.

use crate::options::{FormatArgs, MemoryArgs, file_to_write};
use clap::Args;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  hedgerow stats email-Eu-core.txt --json
  hedgerow stats kron.sg --plot degrees.svg";

/// `hedgerow stats`
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct StatsArgs {
    /// The graph file, plain or compressed by gzip or Zstandard; - is standard input
    #[arg(value_name = "FILE")]
    pub graph: PathBuf,
    /// Treat every edge as undirected
    #[arg(long)]
    pub undirected: bool,
    #[command(flatten)]
    pub format: FormatArgs,
    #[command(flatten)]
    pub memory: MemoryArgs,
    /// Draw the histogram of the degrees into this file, as SVG
    #[arg(long, value_name = "FILE", value_parser = file_to_write())]
    pub plot: Option<PathBuf>,
    /// Print the figures as JSON
    #[arg(long)]
    pub json: bool,
}
