//! Options of `compare seek-scan`.

use super::structures::Kind;
use std::path::PathBuf;

/// The cost of finding a vertex's first neighbor, and each further one, in several structures
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Graphs of 2^SCALE vertices (10 to 22) and about 30 times as many edges, one after the other
    #[arg(long, value_name = "SCALES", value_delimiter = ',', default_values_t = [14, 16, 18], value_parser = clap::value_parser!(u32).range(10..=22))]
    pub scales: Vec<u32>,
    /// The seed that generates and shuffles the graphs
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// The structures, separated by commas [default: all that were built]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = Kind::named)]
    pub structures: Vec<&'static Kind>,
    /// The directory for files [default: for temporary files]
    #[arg(long, value_name = "DIRECTORY")]
    pub store: Option<PathBuf>,
    /// Repetitions of each measurement
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repetitions: u32,
    /// Write the figures to this file, too
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Draw the figures into this file, as SVG
    #[arg(long, value_name = "FILE")]
    pub picture: Option<PathBuf>,
}
