//! Options of `hedgerow convert`.

use crate::options::{FormatArgs, FormatName, file_to_write, graph_format, result_file};
use clap::Args;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  hedgerow convert wiki-Vote.txt wiki-Vote.sg --mapping wiki-Vote.keys
  hedgerow convert ca-HepPh.txt.gz ca-HepPh.mtx --undirected
  hedgerow convert matrix.mtx edges.csv.zst
  hedgerow convert graph.sg | sort | head
  hedgerow convert - graph.e --from adjacency --to graphalytics";

/// `hedgerow convert`
#[derive(Debug, Args)]
#[command(
    after_help = EXAMPLES,
    mut_args(|arg| match arg.get_id().as_str() {
        "format" => arg.visible_alias("from"),
        _ => arg,
    })
)]
pub struct ConvertArgs {
    /// The graph file to read, plain or compressed by gzip or Zstandard; - is standard input
    #[arg(value_name = "FILE")]
    pub graph: PathBuf,
    /// The graph file to write; compressed if its name ends in .gz or .zst; - is standard output
    #[arg(value_name = "OUTPUT", default_value = "-", value_parser = result_file())]
    pub output: PathBuf,
    /// The format to write; auto takes it from the name of the file, else edges
    #[arg(long, value_parser = graph_format(), default_value = "auto")]
    pub to: FormatName,
    /// Mark the file as undirected, so that every edge stands for both directions, where its format
    /// allows that
    #[arg(long)]
    pub undirected: bool,
    /// If the format numbers its vertices: write one line `number key` per vertex to this file
    #[arg(long, value_name = "FILE", value_parser = file_to_write())]
    pub mapping: Option<PathBuf>,
    #[command(flatten)]
    pub format: FormatArgs,
    /// Print what was written as JSON
    #[arg(long)]
    pub json: bool,
}
