//! Options of `hedgerow info`, `watch`, `schema`, `label`, `backup`, `checkpoint`, `compact`,
//! `check` and `recover`.

use crate::options::{MemoryArgs, threads};
use crate::stored::args::StorePlace;
use crate::stored::declared::label;
use crate::stored::wait::{WaitArgs, seconds};
use clap::{ArgAction, Args, Subcommand};
use hedgerow::LabelSchema;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

const INFO_EXAMPLES: &str = "\
Examples:
  hedgerow info wiki
  hedgerow info --store wiki --quick --json";

const WATCH_EXAMPLES: &str = "\
Ctrl-C ends it, with exit code 0.

Examples:
  hedgerow watch wiki
  hedgerow watch wiki --interval 0.5 --count 10 --json";

const BACKUP_EXAMPLES: &str = "\
The backup is a store: open it, or copy it back. If BACKUP has an older backup of the store, only what is new is copied.

Examples:
  hedgerow backup wiki /backups/wiki
  hedgerow backup wiki /backups/wiki --json";

const SCHEMA_EXAMPLES: &str = "\
Examples:
  hedgerow schema bank
  hedgerow schema --store bank --json";

const LABEL_EXAMPLES: &str = "\
Examples:
  hedgerow label list bank
  hedgerow label add likes bank
  hedgerow label add 'pays:number=key+amount=f64!+at=timestamp' bank";

/// Examples of `hedgerow checkpoint`.
pub const CHECKPOINT_EXAMPLES: &str = "\
Examples:
  hedgerow checkpoint wiki
  hedgerow checkpoint wiki --wait 10 --json";

/// Examples of `hedgerow compact`.
pub const COMPACT_EXAMPLES: &str = "\
Ctrl-C ends it at once: what was compacted by then stays so, and the next compaction goes on from there.

Examples:
  hedgerow compact web
  hedgerow compact web --wait 10 --json";

const CHECK_EXAMPLES: &str = "\
Exit code 0 means that nothing is damaged, 1 that something is.

Examples:
  hedgerow check wiki
  hedgerow check wiki --json";

const RECOVER_EXAMPLES: &str = "\
Examples:
  hedgerow check wiki; hedgerow recover wiki --to-last-valid
  hedgerow recover wiki --to-last-valid --json";

/// `hedgerow info`
#[derive(Debug, Args)]
#[command(after_help = INFO_EXAMPLES)]
pub struct InfoArgs {
    #[command(flatten)]
    pub place: StorePlace,
    /// Do not open the graph: show the counts of its newest checkpoint, or of the engine's files,
    /// and the number of commits since; changes nothing
    #[arg(long)]
    pub quick: bool,
    /// Count edges exactly, by reading all of them where the engine only knows bounds
    #[arg(long, conflicts_with = "quick")]
    pub exact: bool,
    #[command(flatten)]
    pub memory: MemoryArgs,
    /// Print everything as JSON
    #[arg(long)]
    pub json: bool,
}

/// `hedgerow watch`
#[derive(Debug, Args)]
#[command(after_help = WATCH_EXAMPLES)]
pub struct WatchArgs {
    #[command(flatten)]
    pub place: StorePlace,
    /// Time between two lines, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = interval, default_value = "1")]
    pub interval: Duration,
    /// End after N lines; by default only a signal ends it
    #[arg(long, value_name = "N")]
    pub count: Option<NonZeroU64>,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}

/// Parses a time between two lines.
fn interval(text: &str) -> Result<Duration, String> {
    match seconds(text)? {
        Duration::ZERO => Err("it must be more than 0".to_owned()),
        interval => Ok(interval),
    }
}

/// `hedgerow backup`
#[derive(Debug, Args)]
#[command(after_help = BACKUP_EXAMPLES)]
pub struct BackupArgs {
    /// The directory of the store, which another process may have open
    #[arg(value_name = "DIR")]
    pub store: PathBuf,
    /// The directory of the backup: missing, empty, or with an older backup of the store
    #[arg(value_name = "BACKUP")]
    pub backup: PathBuf,
    /// Print what was copied as JSON
    #[arg(long)]
    pub json: bool,
}

/// `hedgerow schema`
#[derive(Debug, Args)]
#[command(after_help = SCHEMA_EXAMPLES)]
pub struct SchemaArgs {
    #[command(flatten)]
    pub place: StorePlace,
    /// Print everything as JSON
    #[arg(long)]
    pub json: bool,
}

/// `hedgerow label`
#[derive(Debug, Args)]
#[command(after_help = LABEL_EXAMPLES)]
pub struct LabelArgs {
    /// The action.
    #[command(subcommand)]
    pub action: LabelAction,
}

/// An action on labels.
#[derive(Debug, Subcommand)]
pub enum LabelAction {
    /// Print the labels of a store, one per line, in the form of --labels of import
    #[command(after_help = LABEL_EXAMPLES)]
    List(LabelListArgs),
    /// Append labels to those of a store, which no other process may have open
    #[command(after_help = LABEL_EXAMPLES)]
    Add(LabelAddArgs),
}

/// `hedgerow label list`
#[derive(Debug, Args)]
pub struct LabelListArgs {
    #[command(flatten)]
    pub place: StorePlace,
    /// Print the labels as JSON
    #[arg(long)]
    pub json: bool,
}

/// `hedgerow label add`
#[derive(Debug, Args)]
pub struct LabelAddArgs {
    #[command(flatten)]
    pub new: NewLabels,
    #[command(flatten)]
    pub place: StorePlace,
    #[command(flatten)]
    pub wait: WaitArgs,
    /// Print all labels of the store afterwards as JSON
    #[arg(long)]
    pub json: bool,
}

/// The labels to add.
#[derive(Debug, Args)]
pub struct NewLabels {
    /// The labels, separated by commas, as --labels of import takes them
    #[arg(value_name = "LABELS", action = ArgAction::Set, num_args = 1, required = true, value_delimiter = ',', value_parser = label)]
    pub labels: Vec<LabelSchema>,
}

impl LabelAction {
    /// Returns true if the result is printed as JSON.
    pub fn json(&self) -> bool {
        match self {
            LabelAction::List(args) => args.json,
            LabelAction::Add(args) => args.json,
        }
    }
}

/// `hedgerow checkpoint` and `hedgerow compact`
#[derive(Debug, Args)]
pub struct RewriteArgs {
    #[command(flatten)]
    pub place: StorePlace,
    /// Threads of the graph; by default one per core
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<NonZeroUsize>,
    #[command(flatten)]
    pub memory: MemoryArgs,
    #[command(flatten)]
    pub wait: WaitArgs,
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
    /// Truncate the log at its first damage; every commit after it is given up, the bytes are kept
    /// beside the log
    #[arg(long)]
    pub to_last_valid: bool,
    #[command(flatten)]
    pub wait: WaitArgs,
    /// Print what was cut as JSON
    #[arg(long)]
    pub json: bool,
}
