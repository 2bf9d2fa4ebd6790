//! Options of `hedgerow bench`, and of other programs that measure engines.

use crate::options::{file_to_write, threads};
use clap::Args;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Examples of `hedgerow bench`; other programs have their own.
pub const EXAMPLES: &str = "\
Examples:
  hedgerow bench --quick
  hedgerow bench --dataset kron-20 --engines csr,rapid --json kron-20.json
  hedgerow bench --dataset sparse-21 --workloads scan-ordered,scan-random,search --threads 1,2
  hedgerow bench --dataset wiki-Vote.txt --workloads insert,memory,pagerank
  hedgerow bench --dataset kron-20 --store /data --workloads synced-commits,recovery,checkpoint";

/// The selection of measurements, and their lengths.
#[derive(Debug, Args)]
pub struct BenchArgs {
    /// The graph: kron-N, sparse-N (N is the scale), uniform-VERTICESxDEGREE, or an edge list,
    /// whose edges are taken as undirected [default: kron-20, with --quick kron-10]
    #[arg(long, value_name = "NAME|FILE")]
    pub dataset: Option<String>,
    /// The engines, separated by commas: rapid, tel, hybrid, lsm in the workloads streams and
    /// follow, and csr, the static graph, which is measured in any case
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "csr,rapid")]
    pub engines: Vec<String>,
    /// The workloads, separated by commas [default: all but those on stores (synced-commits,
    /// buffered-insert, durable-ingest, load, recovery, checkpoint, streams, follow); with --full
    /// all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub workloads: Vec<String>,
    /// Thread counts, separated by commas: each workload that can use several is measured with each
    #[arg(long, value_name = "COUNTS", value_delimiter = ',', default_value = "1", value_parser = threads)]
    pub threads: Vec<NonZeroUsize>,
    /// Create the stores of the workloads on stores in this directory, on the disk to be measured,
    /// and remove them afterwards [default: the system's directory for temporary files]
    #[arg(long, value_name = "DIRECTORY")]
    pub store: Option<PathBuf>,
    /// Write machine, build and all figures to this file; a run that Ctrl-C ends writes what it has
    #[arg(long, value_name = "FILE", value_parser = file_to_write())]
    pub json: Option<PathBuf>,
    /// The number of times that everything is measured [default: 3, with --quick 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repetitions: Option<u32>,
    /// The seed that generates, shuffles and samples the graph
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Measure every insertion of every repetition, all batch sizes, and all workloads
    #[arg(long)]
    pub full: bool,
    /// Measure everything briefly, to check that it works; the figures are meaningless
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
}
