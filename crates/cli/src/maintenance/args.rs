//! Options of `hedgerow info`, `schema`, `checkpoint`, `check` and `recover`.

use crate::args::{MemoryArgs, threads};
use crate::stored::args::StorePlace;
use clap::Args;
use std::num::NonZeroUsize;

const INFO_EXAMPLES: &str = "\
Examples:
  hedgerow info wiki
  hedgerow info --store wiki --quick --json";

const SCHEMA_EXAMPLES: &str = "\
Examples:
  hedgerow schema bank
  hedgerow schema --store bank --json";

const CHECKPOINT_EXAMPLES: &str = "\
Example:
  hedgerow checkpoint wiki";

const CHECK_EXAMPLES: &str = "\
Exit code 0 says that nothing is damaged, 1 that something is.

Examples:
  hedgerow check wiki
  hedgerow check wiki --json";

const RECOVER_EXAMPLES: &str = "\
Example:
  hedgerow recover wiki --to-last-valid";

/// `hedgerow info`
#[derive(Debug, Args)]
#[command(after_help = INFO_EXAMPLES)]
pub struct InfoArgs {
    #[command(flatten)]
    pub place: StorePlace,
    /// Do not open the graph: what its newest checkpoint says is counted, and nothing is changed
    #[arg(long)]
    pub quick: bool,
    #[command(flatten)]
    pub memory: MemoryArgs,
    /// Print all as JSON
    #[arg(long)]
    pub json: bool,
}

/// `hedgerow schema`
#[derive(Debug, Args)]
#[command(after_help = SCHEMA_EXAMPLES)]
pub struct SchemaArgs {
    #[command(flatten)]
    pub place: StorePlace,
    /// Print all as JSON
    #[arg(long)]
    pub json: bool,
}

/// `hedgerow checkpoint`
#[derive(Debug, Args)]
#[command(after_help = CHECKPOINT_EXAMPLES)]
pub struct CheckpointArgs {
    #[command(flatten)]
    pub place: StorePlace,
    /// Threads for opening and writing; by default one per core
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<NonZeroUsize>,
    #[command(flatten)]
    pub memory: MemoryArgs,
    /// Print what was written as JSON
    #[arg(long)]
    pub json: bool,
}

/// `hedgerow check`
#[derive(Debug, Args)]
#[command(after_help = CHECK_EXAMPLES)]
pub struct CheckArgs {
    #[command(flatten)]
    pub place: StorePlace,
    /// Print what was found as JSON
    #[arg(long)]
    pub json: bool,
}

/// `hedgerow recover`
#[derive(Debug, Args)]
#[command(after_help = RECOVER_EXAMPLES)]
pub struct RecoverArgs {
    #[command(flatten)]
    pub place: StorePlace,
    /// Cut the log at its first damage; every commit after it is given up, the bytes are kept beside the log
    #[arg(long)]
    pub to_last_valid: bool,
    /// Print what was cut as JSON
    #[arg(long)]
    pub json: bool,
}
