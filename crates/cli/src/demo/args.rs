//! Options of `hedgerow demo`.

use crate::options::{FormatArgs, MemoryArgs, at_least_one, threads};
use clap::{ArgGroup, Args};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  hedgerow demo
  hedgerow demo --scale 16 --writers 4 --readers 2 --batch 100
  hedgerow demo --plot demo.svg
  hedgerow demo ca-HepPh.txt --undirected --json";

/// `hedgerow demo`
#[derive(Debug, Args)]
#[command(
    after_help = EXAMPLES,
    group(ArgGroup::new("input").args(["file", "graph"])),
    // Options for reading a file have no effect on a generated graph.
    mut_args(|arg| match arg.get_id().as_str() {
        "format" | "vertices" | "keys" | "columns" | "skip_bad_lines" => {
            arg.requires("input").conflicts_with_all(["scale", "edge_factor", "seed"])
        }
        _ => arg,
    })
)]
pub struct DemoArgs {
    /// Stream the edges of this file instead of a generated graph; - is standard input
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The generated graph has 2^SCALE vertices (1 to 31)
    #[arg(long, default_value_t = 17, conflicts_with = "input", value_parser = clap::value_parser!(u32).range(1..=31))]
    pub scale: u32,
    /// Edges per vertex of the generated graph
    #[arg(long, default_value_t = 16, conflicts_with = "input")]
    pub edge_factor: u64,
    /// Seed of the generated graph
    #[arg(long, default_value_t = 1, conflicts_with = "input")]
    pub seed: u64,
    /// Threads that write; with two or more, the last one commits every edge by itself
    #[arg(long, default_value = "2", value_name = "N", value_parser = threads)]
    pub writers: NonZeroUsize,
    /// Threads that open snapshots and run PageRank and BFS on them
    #[arg(long, default_value = "2", value_name = "N", value_parser = threads)]
    pub readers: NonZeroUsize,
    /// Edges per commit
    #[arg(long, default_value = "10000", value_name = "N", value_parser = at_least_one)]
    pub batch: NonZeroUsize,
    /// Treat every edge as undirected
    #[arg(long)]
    pub undirected: bool,
    /// An alias of FILE
    #[arg(long, value_name = "FILE")]
    graph: Option<PathBuf>,
    #[command(flatten)]
    pub format: FormatArgs,
    #[command(flatten)]
    pub memory: MemoryArgs,
    /// Draw the rate of the writers and the times of the readers to this file, as SVG
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Print the summary as JSON, and no live view
    #[arg(long)]
    pub json: bool,
}

impl DemoArgs {
    /// The file whose edges are streamed.
    pub fn graph(&self) -> Option<&Path> {
        self.file.as_deref().or(self.graph.as_deref())
    }
}
