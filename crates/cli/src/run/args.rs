//! Options of `hedgerow run`.

use crate::options::{At, GraphArgs, MemoryArgs, at_least_one, result_file, threads};
use clap::builder::PossibleValue;
use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use hedgerow::{EngineKind, Graph, Snapshot, SnapshotOptions};
use serde::{Serialize, Serializer};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::LazyLock;

const RUN_EXAMPLES: &str = "\
Examples:
  hedgerow run bfs wiki-Vote.txt --source 30
  hedgerow run pagerank ca-HepPh.txt --undirected --iterations 20 --output ranks.txt
  hedgerow run wcc friends --label knows --json";

const BFS_EXAMPLES: &str = "\
Examples:
  hedgerow run bfs wiki-Vote.txt --source 30 | head
  hedgerow run bfs wiki-Vote.txt --source 30 --parents --output distances.csv
  hedgerow run bfs friends --label knows --source anna --json";

const PAGERANK_EXAMPLES: &str = "\
Examples:
  hedgerow run pagerank wiki-Vote.txt --iterations 20 --damping 0.85 --output ranks.txt
  hedgerow run pagerank wiki-Vote.txt --iterations 100 --tolerance 1e-9 --json
  hedgerow run pagerank bank --label pays --weight amount --source anna --source ben";

const SSSP_EXAMPLES: &str = "\
Examples:
  hedgerow run sssp roads.e --undirected --source 1 --output distances.txt
  hedgerow run sssp wiki-Vote.txt --unit-weights --json
  hedgerow run sssp bank --label pays --weight amount --source anna --parents";

const WCC_EXAMPLES: &str = "\
Examples:
  hedgerow run wcc wiki-Vote.txt --output components.txt
  hedgerow run wcc friends --label knows --json";

const TRIANGLES_EXAMPLES: &str = "\
Examples:
  hedgerow run triangles ca-HepPh.txt --undirected
  hedgerow run triangles ca-HepPh.txt --undirected --engine csr --json";

const BETWEENNESS_EXAMPLES: &str = "\
Examples:
  hedgerow run betweenness wiki-Vote.txt --samples 100 --output scores.txt
  hedgerow run betweenness email-Eu-core.txt --all-sources --json
  hedgerow run betweenness wiki-Vote.txt --source 30 --source 3 --source 25 --json";

const LCC_EXAMPLES: &str = "\
Examples:
  hedgerow run lcc ca-HepPh.txt --undirected --output coefficients.txt
  hedgerow run lcc ca-HepPh.txt --undirected --json";

const CDLP_EXAMPLES: &str = "\
Examples:
  hedgerow run cdlp ca-HepPh.txt --undirected --iterations 10 --output communities.txt
  hedgerow run cdlp friends --label knows --json";

const KCORE_EXAMPLES: &str = "\
Examples:
  hedgerow run kcore ca-HepPh.txt --undirected --output cores.txt
  hedgerow run kcore ca-HepPh.txt --undirected --json";

const KHOP_EXAMPLES: &str = "\
Examples:
  hedgerow run khop wiki-Vote.txt --source 30 --hops 1
  hedgerow run khop wiki-Vote.txt --source 30 --source 3 --hops 2 --limit 1000 --output around.txt";

/// `hedgerow run`
#[derive(Debug, Args)]
#[command(after_help = RUN_EXAMPLES)]
pub struct RunArgs {
    /// The kernel.
    #[command(subcommand)]
    pub kernel: KernelCommand<RunPlace>,
}

/// The kernel to run, and where: `P`.
#[derive(Debug, Subcommand)]
pub enum KernelCommand<P: Args> {
    /// Breadth-first search: the distance of every vertex from a source, in edges;
    /// 9223372036854775807 if there is no path
    #[command(after_help = BFS_EXAMPLES)]
    Bfs(At<BfsArgs, P>),
    /// PageRank: the rank of every vertex; ranks sum to 1
    #[command(after_help = PAGERANK_EXAMPLES)]
    Pagerank(At<PageRankArgs, P>),
    /// Shortest paths: the distance of every vertex from a source, by the weights of edges
    #[command(after_help = SSSP_EXAMPLES)]
    Sssp(At<SsspArgs, P>),
    /// Weakly connected components: the component of every vertex
    #[command(after_help = WCC_EXAMPLES)]
    Wcc(At<WccArgs, P>),
    /// The number of triangles
    #[command(after_help = TRIANGLES_EXAMPLES)]
    Triangles(At<TrianglesArgs, P>),
    /// Betweenness centrality: how many shortest paths pass through every vertex
    #[command(after_help = BETWEENNESS_EXAMPLES)]
    Betweenness(At<BetweennessArgs, P>),
    /// Local clustering coefficients: how strongly the neighbors of every vertex are connected to
    /// each other
    #[command(after_help = LCC_EXAMPLES)]
    Lcc(At<LccArgs, P>),
    /// Communities by label propagation: the community of every vertex
    #[command(after_help = CDLP_EXAMPLES)]
    Cdlp(At<CdlpArgs, P>),
    /// Core numbers: how deep in the dense part of the graph every vertex is
    #[command(after_help = KCORE_EXAMPLES)]
    Kcore(At<KcoreArgs, P>),
    /// The vertices within a few hops of some sources
    #[command(after_help = KHOP_EXAMPLES)]
    Khop(At<KhopArgs, P>),
}

/// The parameters of `run bfs`.
#[derive(Debug, Args)]
pub struct BfsArgs {
    #[command(flatten)]
    pub source: SourceArgs,
    #[command(flatten)]
    pub tree: TreeArgs,
    #[command(flatten)]
    pub result: ResultArgs,
}

/// The parameters of `run pagerank`.
#[derive(Debug, Args)]
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
    /// Weigh edges by this property, a number, or by their values with --weight value [default: all
    /// edges count the same]
    #[arg(long, value_name = "PROPERTY")]
    pub weight: Option<String>,
    /// Jump to this vertex instead of any vertex; can be repeated, for each in equal parts
    #[arg(long, value_name = "KEY", allow_negative_numbers = true)]
    pub source: Vec<String>,
    #[command(flatten)]
    pub result: ResultArgs,
}

/// The parameters of `run sssp`.
#[derive(Debug, Args)]
pub struct SsspArgs {
    #[command(flatten)]
    pub source: SourceArgs,
    /// Every edge has the weight 1, whatever the file says
    #[arg(long, conflicts_with = "weight")]
    pub unit_weights: bool,
    /// The length of an edge is this property, a number, or its value with --weight value [default:
    /// the value]
    #[arg(long, value_name = "PROPERTY")]
    pub weight: Option<String>,
    #[command(flatten)]
    pub tree: TreeArgs,
    #[command(flatten)]
    pub result: ResultArgs,
}

/// The parameters of `run wcc`.
#[derive(Debug, Args)]
pub struct WccArgs {
    #[command(flatten)]
    pub result: ResultArgs,
}

/// The parameters of `run triangles`.
#[derive(Debug, Args)]
pub struct TrianglesArgs {}

/// The parameters of `run betweenness`.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("sources").required(true).args(["source", "samples", "all_sources"])))]
pub struct BetweennessArgs {
    /// Count the paths that start at this vertex; can be repeated
    #[arg(long, value_name = "KEY", allow_negative_numbers = true)]
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

/// The parameters of `run lcc`.
#[derive(Debug, Args)]
pub struct LccArgs {
    #[command(flatten)]
    pub result: ResultArgs,
}

/// The parameters of `run cdlp`.
#[derive(Debug, Args)]
pub struct CdlpArgs {
    /// Maximum number of iterations: it stops early when nothing changes
    #[arg(long, default_value_t = 10, value_name = "N", allow_negative_numbers = true)]
    pub iterations: u32,
    #[command(flatten)]
    pub result: ResultArgs,
}

/// The parameters of `run kcore`.
#[derive(Debug, Args)]
pub struct KcoreArgs {
    #[command(flatten)]
    pub result: ResultArgs,
}

/// The parameters of `run khop`.
#[derive(Debug, Args)]
pub struct KhopArgs {
    /// A vertex to start from; can be repeated; by default the one with the most out-neighbors
    #[arg(long, value_name = "KEY", allow_negative_numbers = true)]
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

/// The start of a search.
#[derive(Debug, Args)]
pub struct SourceArgs {
    /// The vertex to start from; by default the one with the most out-neighbors
    #[arg(long, value_name = "KEY", allow_negative_numbers = true)]
    pub source: Option<String>,
}

/// The tree of shortest paths.
#[derive(Debug, Args)]
pub struct TreeArgs {
    /// Write the parent of every vertex, too: the vertex before it on a shortest path from the
    /// source
    #[arg(long)]
    pub parents: bool,
}

/// The output for the result of every vertex.
#[derive(Debug, Args)]
pub struct ResultArgs {
    /// Write the value of every vertex to this file: as CSV (.csv), a JSON array (.json) or JSON
    /// lines (.jsonl, .ndjson) by its name, else one line `key value` per vertex; - is standard
    /// output [default: -; with --json nowhere]
    #[arg(long, value_name = "FILE", value_parser = result_file())]
    pub output: Option<PathBuf>,
}

/// The graph that a kernel runs on, and the options for running it.
#[derive(Debug, Args)]
pub struct RunPlace {
    #[command(flatten)]
    pub graph: GraphArgs,
    #[command(flatten)]
    pub runner: RunnerArgs,
    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,
}

/// Options for running a kernel.
#[derive(Debug, Args)]
pub struct RunnerArgs {
    /// The engine that the kernel runs on; by default csr for a file; for a store rapid, or lsm if
    /// it is of that engine; for both tel with --scratch
    #[arg(long, value_enum)]
    pub engine: Option<EngineName>,
    /// Threads for loading and for the kernel; by default one per core
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<NonZeroUsize>,
    /// Which state the kernel reads
    #[arg(long, value_enum, default_value_t)]
    pub view: ViewName,
}

/// The state that a kernel reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ViewName {
    /// The newest
    #[default]
    Fresh,
    /// The newest that is cheap to read: on the engine hybrid that which was archived last, on
    /// others the newest
    Stale,
    /// The newest; what is not archived is sorted before the kernel begins
    Private,
}

impl ViewName {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            ViewName::Fresh => "fresh",
            ViewName::Stale => "stale",
            ViewName::Private => "private",
        }
    }

    /// Opens this view of a graph, whose newest state is `newest`.
    pub fn open(self, graph: &Graph, newest: Snapshot) -> Result<Snapshot, hedgerow::Error> {
        match self {
            ViewName::Fresh => Ok(newest),
            ViewName::Stale => graph.snapshot_with(SnapshotOptions::stale()),
            ViewName::Private => graph.snapshot_with(SnapshotOptions::private()),
        }
    }
}

impl RunPlace {
    /// The engine that the kernel runs on, for a graph in the engine `held_by`, if any.
    pub fn engine(&self, held_by: Option<EngineKind>) -> EngineName {
        self.runner.engine.unwrap_or(EngineName(held_by))
    }

    /// The memory limits of the graph, and its engine.
    pub fn memory(&self) -> MemoryArgs {
        let engine = self.runner.engine.and_then(|EngineName(engine)| engine);
        MemoryArgs { engine, ..self.graph.memory.clone() }
    }
}

/// The engine that a kernel runs on; `None` is a static graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineName(pub Option<EngineKind>);

impl EngineName {
    /// A static graph.
    pub const CSR: Self = EngineName(None);

    /// The name, as on the command line.
    pub fn name(self) -> &'static str {
        self.0.map_or("csr", EngineKind::name)
    }
}

impl ValueEnum for EngineName {
    fn value_variants<'a>() -> &'a [Self] {
        static ENGINES: LazyLock<Vec<EngineName>> = LazyLock::new(|| {
            let engines = EngineKind::ALL.iter().map(|engine| EngineName(Some(*engine)));
            engines.chain([EngineName::CSR]).collect()
        });
        &ENGINES
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let csr = "A static graph in compressed sparse rows: of a file, or a copy of a snapshot of a store";
        let help = self.0.map_or(csr.to_owned(), |engine| {
            let stores = if engine.owns_files() { "; of stores of that engine only" } else { "" };
            format!("A snapshot in the engine {engine}: {}{stores}", engine.description())
        });
        Some(PossibleValue::new(self.name()).help(help))
    }
}

impl Serialize for EngineName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
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
