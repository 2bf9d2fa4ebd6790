//! Options that commands on stores share.

use super::wait::WaitArgs;
use crate::options::{MemoryArgs, past_time};
use clap::{Args, ValueEnum};
use hedgerow::{AsOf, CommitTimestamp, Durability};
use std::path::{Path, PathBuf};

/// The store: the last argument of a command, or `--store`.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct StorePlace {
    /// The directory of the store
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
    /// The directory of the store
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
}

impl StorePlace {
    /// The directory.
    pub fn path(&self) -> &Path {
        self.directory.as_deref().or(self.store.as_deref()).unwrap_or(Path::new(""))
    }
}

/// The state to read, and its memory limits.
#[derive(Debug, Args)]
pub struct ReadArgs {
    /// Read the newest checkpoint, which is possible while another process writes to the store
    #[arg(long)]
    pub from_checkpoint: bool,
    #[command(flatten)]
    pub as_of: AsOfArgs,
    #[command(flatten)]
    pub memory: MemoryArgs,
}

/// A past state: the state of the newest checkpoint, or a later one.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct AsOfArgs {
    /// Read the state after this commit, which is at or after the newest checkpoint
    #[arg(long, value_name = "COMMIT", conflicts_with_all = ["from_checkpoint", "as_of_time"])]
    pub as_of: Option<u64>,
    /// Read the newest state at this time, such as yesterday, 12h or 2026-01-31T12:00:00Z; a date
    /// is its midnight, in UTC
    #[arg(long, value_name = "TIME", value_parser = past_time, conflicts_with = "from_checkpoint")]
    pub as_of_time: Option<u64>,
}

impl AsOfArgs {
    /// The requested state; `None` is the newest.
    pub fn state(self) -> Option<AsOf> {
        let commit = self.as_of.map(|commit| AsOf::Commit(CommitTimestamp(commit)));
        commit.or(self.as_of_time.map(AsOf::Time))
    }
}

/// The form of times in output.
#[derive(Clone, Copy, Debug, Args)]
pub struct TimesArgs {
    /// Write timestamps as microseconds since 1970, in UTC, instead of as times such as
    /// 2026-01-31T12:00:00Z
    #[arg(long)]
    pub raw_times: bool,
}

/// Options for making a commit.
#[derive(Debug, Args)]
pub struct WriteArgs {
    /// When the commit returns; in any case the command ends only when it survives a loss of power
    #[arg(long, value_enum, default_value_t = DurabilityName::Sync)]
    pub durability: DurabilityName,
    #[command(flatten)]
    pub wait: WaitArgs,
}

/// The condition for a commit to return.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DurabilityName {
    /// When it survives a loss of power
    Sync,
    /// At once; a crash may lose the last commits
    Buffered,
    /// At once; a crash may lose the last commits, a loss of power those of up to a segment of the
    /// log (16 MiB)
    None,
}

impl DurabilityName {
    /// The durability.
    pub fn durability(self) -> Durability {
        match self {
            DurabilityName::Sync => Durability::Sync,
            DurabilityName::Buffered => Durability::Buffered,
            DurabilityName::None => Durability::None,
        }
    }

    /// The name, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            DurabilityName::Sync => "sync",
            DurabilityName::Buffered => "buffered",
            DurabilityName::None => "none",
        }
    }
}
