//! Options of `hedgerow generate`.

use crate::options::{result_file, threads};
use clap::{Args, Subcommand};
use std::num::NonZeroUsize;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  hedgerow generate kronecker --scale 20 --edge-factor 16 --seed 1 --output graph.txt.zst
  hedgerow generate uniform --vertices 1000000 --edges 16000000 --weights --output uniform.wsg
  hedgerow generate stream --vertices 100000 --changes 2000000 --deletions 0.2 --output stream.txt.gz";

const KRONECKER_EXAMPLES: &str = "\
Examples:
  hedgerow generate kronecker --scale 20 --edge-factor 16 --seed 1 --output graph.txt.zst
  hedgerow generate kronecker --scale 18 --undirected --output kron.sg
  hedgerow generate kronecker --scale 10 --quiet | hedgerow run bfs -";

const UNIFORM_EXAMPLES: &str = "\
Examples:
  hedgerow generate uniform --vertices 1000000 --edges 16000000 --weights --output uniform.wsg
  hedgerow generate uniform --vertices 1000 --edges 8000 | hedgerow stats -";

const STREAM_EXAMPLES: &str = "\
Every line is `source destination change time`. The change is 1 for an edge that comes, -1 for one that goes.

Examples:
  hedgerow generate stream --vertices 100000 --changes 2000000 --deletions 0.2 --output stream.txt.gz
  hedgerow generate stream --vertices 100 --changes 1000 --seed 7";

/// `hedgerow generate`
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct GenerateArgs {
    /// The kind of graph.
    #[command(subcommand)]
    pub model: Model,
}

/// The kind of graph to generate.
#[derive(Debug, Subcommand)]
pub enum Model {
    /// The Kronecker graph of the Graph 500 benchmark
    Kronecker(KroneckerArgs),
    /// Edges between random vertices
    Uniform(UniformArgs),
    /// Edges that come and go in a growing network
    Stream(StreamArgs),
}

impl Model {
    /// Returns true if the result is printed as JSON.
    pub fn json(&self) -> bool {
        match self {
            Model::Kronecker(args) => args.common.json,
            Model::Uniform(args) => args.common.json,
            Model::Stream(args) => args.json,
        }
    }
}

/// `hedgerow generate kronecker`
#[derive(Debug, Args)]
#[command(after_help = KRONECKER_EXAMPLES)]
pub struct KroneckerArgs {
    /// The graph has 2^SCALE vertices (1 to 31)
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=31))]
    pub scale: u32,
    /// Edges per vertex
    #[arg(long, default_value_t = 16)]
    pub edge_factor: u64,
    #[command(flatten)]
    pub common: CommonArgs,
}

/// `hedgerow generate uniform`
#[derive(Debug, Args)]
#[command(after_help = UNIFORM_EXAMPLES)]
pub struct UniformArgs {
    /// Number of vertices
    #[arg(long, value_name = "N")]
    pub vertices: u64,
    /// Number of edges, self loops and repeated ones counted
    #[arg(long, value_name = "N")]
    pub edges: u64,
    #[command(flatten)]
    pub common: CommonArgs,
}

/// Options of all static graphs.
#[derive(Debug, Args)]
pub struct CommonArgs {
    /// A seed always gives the same graph
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Give every edge a weight, a whole number from 1 to 255
    #[arg(long)]
    pub weights: bool,
    /// Mark the file as undirected, so that every edge stands for both directions, where its format
    /// allows that
    #[arg(long)]
    pub undirected: bool,
    /// The file to write; its name determines the format (else an edge list) and the compression
    /// (.gz, .zst); - is standard output
    #[arg(long, value_name = "FILE", default_value = "-", value_parser = result_file())]
    pub output: PathBuf,
    /// Threads that generate edges, and sort them if the format needs that; by default one per core
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<NonZeroUsize>,
    /// Print what was written as JSON
    #[arg(long)]
    pub json: bool,
}

/// `hedgerow generate stream`
#[derive(Debug, Args)]
#[command(after_help = STREAM_EXAMPLES)]
pub struct StreamArgs {
    /// Number of vertices that arrive, at least 2
    #[arg(long, value_name = "N")]
    pub vertices: u64,
    /// Number of edges that come or go, at least one for each vertex
    #[arg(long, value_name = "N")]
    pub changes: u64,
    /// The fraction of the changes that delete an edge, from 0 to 0.5
    #[arg(long, value_name = "SHARE", default_value_t = 0.1, allow_negative_numbers = true)]
    pub deletions: f64,
    /// A seed always gives the same stream
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// The edge list to write; with tabs or commas if its name says so, compressed if it ends in
    /// .gz or .zst; - is standard output
    #[arg(long, value_name = "FILE", default_value = "-", value_parser = result_file())]
    pub output: PathBuf,
    /// Print what was written as JSON
    #[arg(long)]
    pub json: bool,
}
