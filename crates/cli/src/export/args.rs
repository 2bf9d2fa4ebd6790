//! Options of `hedgerow export`.

use crate::options::{FormatName, file_to_write, result_file, threads};
use crate::stored::args::{ReadArgs, StorePlace, TimesArgs};
use clap::Args;
use std::num::NonZeroUsize;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  hedgerow export wiki --output wiki.el.zst
  hedgerow export friends --label knows --output knows.e
  hedgerow export bank --label pays --output pays.csv.zst --vertices-output people.csv
  hedgerow export wiki | head
  hedgerow export --store wiki --output wiki.sg --mapping wiki.keys --from-checkpoint";

/// `hedgerow export`
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ExportArgs {
    #[command(flatten)]
    pub place: StorePlace,
    /// The graph file to write; compressed if its name ends in .gz or .zst; - is standard output
    #[arg(long, value_name = "FILE", default_value = "-", value_parser = result_file())]
    pub output: PathBuf,
    /// The format to write; auto takes it from the name of the file, else edges
    #[arg(long, value_enum, default_value_t = FormatName::Auto)]
    pub to: FormatName,
    /// Export the edges of this label; by default the first
    #[arg(long, value_name = "NAME")]
    pub label: Option<String>,
    /// If the format numbers its vertices: write one line `number key` per vertex to this file
    #[arg(long, value_name = "FILE", value_parser = file_to_write())]
    pub mapping: Option<PathBuf>,
    /// Write the vertices with their properties to this file: CSV with a header if its name ends in
    /// .csv, JSON lines if in .jsonl; without properties one key per line, unless the name ends in
    /// .jsonl
    #[arg(long, value_name = "FILE", value_parser = file_to_write())]
    pub vertices_output: Option<PathBuf>,
    #[command(flatten)]
    pub times: TimesArgs,
    #[command(flatten)]
    pub read: ReadArgs,
    /// Threads that sort edges if the format needs that; by default one per core
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<NonZeroUsize>,
    /// Print what was written as JSON
    #[arg(long)]
    pub json: bool,
}
