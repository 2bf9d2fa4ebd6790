//! Options of `compare out-of-core`, and of the process of one store.

use super::stores::Kind;
use crate::compare::options::seconds;
use std::path::PathBuf;

/// Graphs larger than memory: ingest, analytics and queries under a limit that counts the page
/// cache
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// kron-SCALE (16 edges per vertex), sparse-SCALE (6 edges per vertex, less skewed), or a file
    /// of edges: pairs of numbers of 32 bits, little-endian
    #[arg(long, default_value = "kron-20")]
    pub graph: String,
    /// The seed that generates and shuffles the graph and chooses the queries
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// The memory of a store, as a part of the graph at 4 bytes per edge and direction
    #[arg(long, default_value_t = 0.25, value_parser = share)]
    pub share: f64,
    /// MiB that each process may use besides; further bytes per vertex are added: 16, and what the
    /// arrays of an algorithm take
    #[arg(long, default_value_t = 32, value_name = "MIB")]
    pub process: u64,
    /// The stores, separated by commas [default: all that were built]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = Kind::named)]
    pub stores: Vec<&'static Kind>,
    /// The directory for the stores, on the disk to be measured [default: for temporary files]
    #[arg(long, value_name = "DIRECTORY")]
    pub store: Option<PathBuf>,
    /// Repetitions of everything
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repetitions: u32,
    /// A phase is cut after this time. A store whose writes were cut is made anew with all edges in
    /// order, before it is read
    #[arg(long, default_value_t = 300.0, value_name = "S", value_parser = seconds)]
    pub seconds: f64,
    /// Vertices that are asked for their neighbors, at random
    #[arg(long, default_value_t = 20_000, value_name = "NUMBER")]
    pub queries: usize,
    /// Write the figures to this file, too
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

/// The process of one store, which `out-of-core` starts
#[derive(Debug, clap::Args)]
pub struct StoreArguments {
    /// The job, as JSON
    pub job: PathBuf,
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if share > 0.0 && share <= 100.0 => Ok(share),
        _ => Err("expected a number above 0, up to 100".to_owned()),
    }
}
