//! Options of `compare link-bench`.

use super::stores::{Kind, Level};
use crate::compare::options::seconds;
use clap::ValueEnum;
use serde::Serialize;
use std::path::PathBuf;

/// LinkBench's requests: adds, updates, deletes and reads of nodes and links, counts of links and
/// lists of the newest
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The graph has 2^SCALE nodes (6 to 24) and about 30 times as many links
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(6..=24))]
    pub scale: u32,
    /// The seed of the graph and the requests
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// The stores, separated by commas [default: all that were built]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = Kind::named)]
    pub stores: Vec<&'static Kind>,
    /// The mixes of requests
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_enum, default_values_t = [MixName::Dflt, MixName::Tao])]
    pub mixes: Vec<MixName>,
    /// The durability of commits
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_enum, default_values_t = [Level::None, Level::Buffered, Level::Sync])]
    pub durability: Vec<Level>,
    /// Numbers of concurrent clients
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', default_values_t = [1, 2, 64])]
    pub clients: Vec<usize>,
    /// Maximum number of links in a list
    #[arg(long, default_value_t = 10_000)]
    pub list_limit: usize,
    /// The directory for the stores, on the disk to be measured [default: for temporary files]
    #[arg(long, value_name = "DIRECTORY")]
    pub store: Option<PathBuf>,
    /// Repetitions of each measurement
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repetitions: u32,
    /// The time for which clients run
    #[arg(long, default_value_t = 4.0, value_name = "S", value_parser = seconds)]
    pub seconds: f64,
    /// Write the figures to this file, too
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

/// A mix of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum MixName {
    /// LinkBench's own, 69 % reads.
    Dflt,
    /// 99.8 % reads.
    Tao,
}
