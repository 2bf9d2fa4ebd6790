//! Options of `compare`.

use super::options::seconds;
use super::stores::Kind;
use super::{calls, link_bench, out_of_core, seek_scan};
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// The arguments of a comparison.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Arguments {
    #[command(subcommand)]
    pub other: Option<OtherWork>,
    /// The graph has 2^SCALE vertices (14 to 24) and about 30 times as many edges, counted in both
    /// directions
    #[arg(long, default_value_t = 18, value_parser = clap::value_parser!(u32).range(14..=24))]
    pub scale: u32,
    /// The seed that generates and shuffles the graph
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// The stores, separated by commas [default: all that were built]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = Kind::named)]
    pub stores: Vec<&'static Kind>,
    /// The directory for the stores, on the disk to be measured [default: for temporary files]
    #[arg(long, value_name = "DIRECTORY")]
    pub store: Option<PathBuf>,
    /// Repetitions of each measurement
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repetitions: u32,
    /// The time for which each number of clients commits in each repetition, and the most that
    /// buffered commits take
    #[arg(long, default_value_t = 4.0, value_name = "S", value_parser = seconds)]
    pub seconds: f64,
    /// Write the figures to this file, too
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

/// Separate comparisons.
#[derive(Debug, Subcommand)]
pub enum OtherWork {
    Calls(calls::Arguments),
    LinkBench(link_bench::Arguments),
    OutOfCore(out_of_core::Arguments),
    #[command(hide = true)]
    OutOfCoreStore(out_of_core::StoreArguments),
    SeekScan(seek_scan::Arguments),
}
