//! Options of `hedgerow edges`.

use super::aggregate::AggregateArgs;
use super::clock::TimeArgs;
use crate::objects::ReadPlace;
use crate::options::{At, at_least_one, result_file};
use crate::stored::args::TimesArgs;
use clap::Args;
use std::num::NonZeroUsize;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  hedgerow edges friends --label knows --limit 10
  hedgerow edges bank --where 'amount > 1000 and note != null' --output large.csv
  hedgerow edges bank --from anna --where 'not (destination = \"ben\" or `due date` < \"2026-01-31\")'
  hedgerow edges bank --where 'amount > 1000' --sum amount --by source --top 10
  hedgerow edges bank --since 2026-01-01 --until 2026-01-31T23:59:59Z --count --mean amount --json
  hedgerow edges bank --newest 5";

/// `hedgerow edges`
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct EdgesArgs {
    #[command(flatten)]
    pub edges: At<QueryArgs, ReadPlace>,
}

/// The edges to print, or to add up.
#[derive(Debug, Args)]
pub struct QueryArgs {
    /// The edges of this label; by default of all labels
    #[arg(long, value_name = "NAME")]
    pub label: Option<String>,
    /// The edges that start at this vertex
    #[arg(long, value_name = "KEY", allow_negative_numbers = true)]
    pub from: Option<String>,
    /// The edges that end at this vertex
    #[arg(long, value_name = "KEY", allow_negative_numbers = true)]
    pub to: Option<String>,
    /// The edges that satisfy this condition: comparisons of properties, value, source, destination
    /// and label with numbers, 'texts', true, false, null or times, joined by and, or, not and
    /// parentheses
    #[arg(long = "where", value_name = "CONDITION", allow_hyphen_values = true)]
    pub filter: Option<String>,
    #[command(flatten)]
    pub times: TimeArgs,
    #[command(flatten)]
    pub aggregates: AggregateArgs,
    /// Print at most N edges, or groups
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub limit: Option<NonZeroUsize>,
    /// Write to this file instead of printing: CSV with a header if its name ends in .csv, JSON
    /// lines if in .jsonl or .ndjson, a JSON array if in .json, else lines as they are printed;
    /// compressed if it then ends in .gz or .zst
    #[arg(long, value_name = "FILE", value_parser = result_file())]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub printed: TimesArgs,
}
