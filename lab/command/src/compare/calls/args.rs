//! Options of `compare calls`.

use super::measure::Operation;
use super::stores::Kind;
use super::work::Keys;
use crate::compare::options::seconds;
use std::path::PathBuf;

/// Single calls by key: look-ups, neighbors, data of edges, puts and deletions
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The graph has 2^SCALE vertices (6 to 22) and about 30 times as many edges
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(6..=22))]
    pub scale: u32,
    /// The seed of the graph and the calls
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// The stores, separated by commas [default: all that were built]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = Kind::named)]
    pub stores: Vec<&'static Kind>,
    /// The keys of vertices
    #[arg(long, value_name = "KINDS", value_delimiter = ',', value_enum, default_values_t = [Keys::Numbers, Keys::Dense])]
    pub keys: Vec<Keys>,
    /// The calls, separated by commas [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_enum)]
    pub calls: Vec<Operation>,
    /// The directory for the stores that need files [default: for temporary files]
    #[arg(long, value_name = "DIRECTORY")]
    pub store: Option<PathBuf>,
    /// Repetitions of each measurement
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repetitions: u32,
    /// The time for which each call is repeated
    #[arg(long, default_value_t = 0.25, value_name = "S", value_parser = seconds)]
    pub seconds: f64,
    /// Write the figures to this file, too
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}
