//! Options of `hedgerow log`.

use crate::options::{at_least_one, past_time};
use crate::stored::args::StorePlace;
use clap::Args;
use std::num::NonZeroUsize;

const LOG_EXAMPLES: &str = "\
Examples:
  hedgerow log bank --limit 5
  hedgerow log bank --since yesterday
  hedgerow log bank --since 2026-01-01 --until 2026-02-01 --oldest-first --json";

/// `hedgerow log`
#[derive(Debug, Args)]
#[command(after_help = LOG_EXAMPLES)]
pub struct LogArgs {
    #[command(flatten)]
    pub place: StorePlace,
    /// List at most N commits; by default 20 at a terminal, else all
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub limit: Option<NonZeroUsize>,
    /// List only commits made at this time or later, such as 12h, yesterday or
    /// 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = past_time)]
    pub since: Option<u64>,
    /// List only commits made at this time or earlier
    #[arg(long, value_name = "TIME", value_parser = past_time)]
    pub until: Option<u64>,
    /// List the oldest commit first
    #[arg(long)]
    pub oldest_first: bool,
    /// Print the commits as JSON
    #[arg(long)]
    pub json: bool,
}
