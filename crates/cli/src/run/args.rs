//! Options of `hedgerow run`.

use super::Place;
use crate::options::{FormatArgs, MemoryArgs, at_least_one, file_to_write, past_time, threads};
use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use hedgerow::EngineKind;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

const RUN_EXAMPLES: &str = "\
Examples:
  hedgerow run bfs --graph wiki-Vote.txt --source 30
  hedgerow run pagerank --graph ca-HepPh.txt --undirected --iterations 20 --output ranks.txt
  hedgerow run triangles --graph ca-HepPh.txt --undirected --json
  hedgerow run wcc --store friends --label knows";

const BFS_EXAMPLES: &str = "\
Example:
  hedgerow run bfs --graph wiki-Vote.txt --source 30 --output distances.txt";

const PAGERANK_EXAMPLES: &str = "\
Example:
  hedgerow run pagerank --graph wiki-Vote.txt --iterations 20 --damping 0.85 --output ranks.txt";

const SSSP_EXAMPLES: &str = "\
Examples:
  hedgerow run sssp --graph roads.e --undirected --source 1 --output distances.txt
  hedgerow run sssp --graph wiki-Vote.txt --unit-weights";

const WCC_EXAMPLES: &str = "\
Example:
  hedgerow run wcc --graph wiki-Vote.txt --output components.txt";

const TRIANGLES_EXAMPLES: &str = "\
Example:
  hedgerow run triangles --graph ca-HepPh.txt --undirected";

const BETWEENNESS_EXAMPLES: &str = "\
Examples:
  hedgerow run betweenness --graph wiki-Vote.txt --samples 100 --output scores.txt
  hedgerow run betweenness --graph email-Eu-core.txt --all-sources
  hedgerow run betweenness --graph wiki-Vote.txt --source 30,3,25";

const LCC_EXAMPLES: &str = "\
Example:
  hedgerow run lcc --graph ca-HepPh.txt --undirected --output coefficients.txt";

const CDLP_EXAMPLES: &str = "\
Example:
  hedgerow run cdlp --graph ca-HepPh.txt --undirected --iterations 10 --output communities.txt";

const KCORE_EXAMPLES: &str = "\
Example:
  hedgerow run kcore --graph ca-HepPh.txt --undirected --output cores.txt";

const KHOP_EXAMPLES: &str = "\
Example:
  hedgerow run khop --graph wiki-Vote.txt --source 30,3 --hops 2 --limit 1000 --output around.txt";

/// `hedgerow run`
#[derive(Debug, Args)]
#[command(after_help = RUN_EXAMPLES)]
pub struct RunArgs {
    /// The kernel.
    #[command(subcommand)]
    pub kernel: KernelCommand,
}

/// The kernel to run.
#[derive(Debug, Subcommand)]
pub enum KernelCommand {
    /// Breadth-first search: the distance of every vertex from a source, in edges
    Bfs(BfsArgs),
    /// PageRank: the rank of every vertex; ranks sum to 1
    Pagerank(PageRankArgs),
    /// Shortest paths: the distance of every vertex from a source, by the weights of edges
    Sssp(SsspArgs),
    /// Weakly connected components: the component of every vertex
    Wcc(WccArgs),
    /// The number of triangles
    Triangles(TrianglesArgs),
    /// Betweenness centrality: how many shortest paths pass through every vertex
    Betweenness(BetweennessArgs),
    /// Local clustering coefficients: how strongly the neighbors of every vertex are connected to
    /// each other
    Lcc(LccArgs),
    /// Communities by label propagation: the community of every vertex
    Cdlp(CdlpArgs),
    /// Core numbers: how deep in the dense part of the graph every vertex is
    Kcore(KcoreArgs),
    /// The vertices within a few hops of some sources
    Khop(KhopArgs),
}

/// `hedgerow run bfs`
#[derive(Debug, Args)]
#[command(after_help = BFS_EXAMPLES)]
pub struct BfsArgs {
    #[command(flatten)]
    pub source: SourceArgs,
    #[command(flatten)]
    pub result: ResultArgs,
}

/// `hedgerow run pagerank`
#[derive(Debug, Args)]
#[command(after_help = PAGERANK_EXAMPLES)]
pub struct PageRankArgs {
    /// Iterations; with --tolerance at most this number
    #[arg(long, default_value_t = 10, value_name = "N", allow_negative_numbers = true)]
    pub iterations: u32,
    /// Stop when the ranks change by less than this in an iteration, summed over all vertices
    #[arg(long, value_name = "T", value_parser = tolerance, allow_negative_numbers = true)]
    pub tolerance: Option<f64>,
    /// The probability of following an edge, from 0 to 1
    #[arg(long, default_value_t = 0.85, value_name = "D", value_parser = damping, allow_negative_numbers = true)]
    pub damping: f64,
    #[command(flatten)]
    pub result: ResultArgs,
}

/// `hedgerow run sssp`
#[derive(Debug, Args)]
#[command(after_help = SSSP_EXAMPLES)]
pub struct SsspArgs {
    #[command(flatten)]
    pub source: SourceArgs,
    /// Every edge has the weight 1, whatever the file says
    #[arg(long)]
    pub unit_weights: bool,
    #[command(flatten)]
    pub result: ResultArgs,
}

/// `hedgerow run wcc`
#[derive(Debug, Args)]
#[command(after_help = WCC_EXAMPLES)]
pub struct WccArgs {
    #[command(flatten)]
    pub result: ResultArgs,
}

/// `hedgerow run triangles`
#[derive(Debug, Args)]
#[command(after_help = TRIANGLES_EXAMPLES)]
pub struct TrianglesArgs {
    #[command(flatten)]
    pub common: CommonRunArgs,
}

/// `hedgerow run betweenness`
#[derive(Debug, Args)]
#[command(
    after_help = BETWEENNESS_EXAMPLES,
    group(ArgGroup::new("sources").required(true).args(["source", "samples", "all_sources"]))
)]
pub struct BetweennessArgs {
    /// Count the paths that start at these vertices, separated by commas
    #[arg(long, value_name = "KEYS", value_delimiter = ',', allow_negative_numbers = true)]
    pub source: Vec<String>,
    /// Count the paths that start at N vertices, chosen at random
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub samples: Option<u32>,
    /// Count all paths: exact, and for small graphs only
    #[arg(long)]
    pub all_sources: bool,
    /// A seed always samples the same vertices
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub result: ResultArgs,
}

/// `hedgerow run lcc`
#[derive(Debug, Args)]
#[command(after_help = LCC_EXAMPLES)]
pub struct LccArgs {
    #[command(flatten)]
    pub result: ResultArgs,
}

/// `hedgerow run cdlp`
#[derive(Debug, Args)]
#[command(after_help = CDLP_EXAMPLES)]
pub struct CdlpArgs {
    /// Maximum number of iterations: it stops early when nothing changes
    #[arg(long, default_value_t = 10, value_name = "N", allow_negative_numbers = true)]
    pub iterations: u32,
    #[command(flatten)]
    pub result: ResultArgs,
}

/// `hedgerow run kcore`
#[derive(Debug, Args)]
#[command(after_help = KCORE_EXAMPLES)]
pub struct KcoreArgs {
    #[command(flatten)]
    pub result: ResultArgs,
}

/// `hedgerow run khop`
#[derive(Debug, Args)]
#[command(after_help = KHOP_EXAMPLES)]
pub struct KhopArgs {
    /// The vertices to start from, separated by commas; by default the one with the most
    /// out-neighbors
    #[arg(long, value_name = "KEYS", value_delimiter = ',', allow_negative_numbers = true)]
    pub source: Vec<String>,
    /// Maximum number of edges to follow
    #[arg(long, default_value_t = 2, value_name = "N", allow_negative_numbers = true)]
    pub hops: u32,
    /// Maximum number of vertices to find: the nearest; of equally distant ones, those that came
    /// first in the file
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub limit: Option<NonZeroUsize>,
    #[command(flatten)]
    pub result: ResultArgs,
}

/// Where a search starts.
#[derive(Debug, Args)]
pub struct SourceArgs {
    /// The vertex to start from; by default the one with the most out-neighbors
    #[arg(long, value_name = "KEY", allow_negative_numbers = true)]
    pub source: Option<String>,
}

/// Options of every kernel with a result per vertex.
#[derive(Debug, Args)]
pub struct ResultArgs {
    /// Write one line `key value` per vertex to this file
    #[arg(long, value_name = "FILE", value_parser = file_to_write())]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub common: CommonRunArgs,
}

/// Options of every kernel.
#[derive(Debug, Args)]
#[command(
    group(ArgGroup::new("input").required(true).args(["graph", "store"])),
    // Options on how a file is read have no effect on a store.
    mut_args(|arg| match arg.get_id().as_str() {
        "format" | "vertices" | "keys" | "columns" | "skip_bad_lines" | "undirected" | "unit_weights" => {
            arg.conflicts_with("store")
        }
        _ => arg,
    })
)]
pub struct CommonRunArgs {
    /// The graph file, plain or compressed by gzip or Zstandard; - is standard input
    #[arg(long, value_name = "FILE")]
    pub graph: Option<PathBuf>,
    /// The directory of the store that has the graph
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
    /// Store only: read the newest checkpoint, which is possible while another process writes to
    /// the store
    #[arg(long, requires = "store", conflicts_with = "graph")]
    pub from_checkpoint: bool,
    /// Store only: the state after this commit, which is at or after the newest checkpoint
    #[arg(long, value_name = "COMMIT", requires = "store", conflicts_with_all = ["graph", "from_checkpoint", "as_of_time"])]
    pub as_of: Option<u64>,
    /// Store only: the newest state at this time, in microseconds since 1970, in UTC, or a time
    /// such as 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = past_time, requires = "store", conflicts_with_all = ["graph", "from_checkpoint"])]
    pub as_of_time: Option<u64>,
    /// Store only: the edges of this label; by default the first
    #[arg(long, value_name = "NAME", requires = "store", conflicts_with = "graph")]
    pub label: Option<String>,
    /// Treat every edge as undirected
    #[arg(long)]
    pub undirected: bool,
    /// The engine that the kernel runs on; by default rapid, or tel with --scratch
    #[arg(long, value_enum)]
    pub engine: Option<EngineName>,
    /// Threads for loading and for the kernel; by default one per core
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<NonZeroUsize>,
    #[command(flatten)]
    pub format: FormatArgs,
    #[command(flatten)]
    pub memory: MemoryArgs,
    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,
}

impl CommonRunArgs {
    /// The engine that the kernel runs on.
    pub fn engine(&self) -> EngineName {
        let default = if self.memory.scratch.is_some() { EngineName::Tel } else { EngineName::Rapid };
        self.engine.unwrap_or(default)
    }

    /// The memory limits of the graph, and its engine.
    pub fn memory(&self) -> MemoryArgs {
        let engine = self.engine.and_then(|engine| match engine {
            EngineName::Rapid => Some(EngineKind::Rapid),
            EngineName::Tel => Some(EngineKind::Tel),
            EngineName::Csr => None,
        });
        MemoryArgs { engine, ..self.memory.clone() }
    }

    /// The location of the graph.
    pub fn place(&self) -> Place<'_> {
        match (&self.store, &self.graph) {
            (Some(store), _) => Place::Store(store),
            (None, graph) => Place::File(graph.as_deref().unwrap_or(Path::new(""))),
        }
    }
}

/// The engine that a kernel runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EngineName {
    /// A snapshot of a writable graph in the engine rapid
    Rapid,
    /// A snapshot in the engine tel, which keeps a log of edges per vertex
    Tel,
    /// A static copy of a snapshot in compressed sparse rows
    Csr,
}

fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(tolerance) if tolerance.is_finite() && tolerance >= 0.0 => Ok(tolerance),
        _ => Err("expected a number that is not negative".into()),
    }
}

fn damping(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(damping) if (0.0..=1.0).contains(&damping) => Ok(damping),
        _ => Err("expected a number from 0 to 1".into()),
    }
}
