//! The kernels: the same code on every engine, in its fastest form and in a plain form.

use crate::answers::Answer;
use crate::bench::{Bench, Turn, pool};
use crate::monitor::mean_time;
use crate::{Engine, Extent, Failure, Settings, Workload, weighted};
use hedgerow::VertexId;
use hedgerow::kernels::{
    Betweenness, Bfs, Execution, PageRank, Precision, Sources, Sssp, TriangleCount, TriangleOrder, Wcc,
    WccMethod,
};
use hedgerow_compiled_kernels::Target;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

/// A workload of a kernel.
const fn workload(
    name: &'static str,
    description: &'static str,
    seconds: fn(&Settings, usize) -> f64,
    measure: fn(&mut Bench<'_>) -> Result<(), Failure>,
) -> Workload {
    Workload {
        name,
        description,
        contract_metric: "time",
        is_default: true,
        is_on_store: false,
        scales: true,
        seconds,
        measure,
    }
}

pub(super) static PAGERANK: Workload = workload(
    "pagerank",
    "ten iterations of PageRank",
    |settings, entries| settings.at_least(entries, 12.0),
    |bench| measure(bench, &[KernelName::PageRank, KernelName::PageRankSingle]),
);

pub(super) static BFS: Workload = workload(
    "bfs",
    "breadth-first searches",
    |settings, entries| settings.at_least(entries, 40.0),
    |bench| measure(bench, &[KernelName::Bfs, KernelName::BfsTopDown]),
);

pub(super) static SSSP: Workload = workload(
    "sssp",
    "shortest paths by weights",
    |settings, entries| settings.at_least(entries, 12.0),
    |bench| measure_weighted(bench, &[KernelName::Sssp]),
);

pub(super) static WCC: Workload = workload(
    "wcc",
    "weakly connected components",
    |settings, entries| settings.at_least(entries, 40.0),
    |bench| measure(bench, &[KernelName::Wcc, KernelName::WccPlain]),
);

pub(super) static TRIANGLES: Workload = workload(
    "triangles",
    "the number of triangles",
    |settings, entries| settings.at_least(entries, 5.0),
    measure_triangles,
);

pub(super) static BETWEENNESS: Workload = workload(
    "betweenness",
    "betweenness centrality from single sources",
    |settings, entries| settings.at_least(entries, 5.0),
    |bench| measure(bench, &[KernelName::Betweenness]),
);

/// Number of sources of breadth-first searches; the mean is recorded.
const SOURCES: usize = 8;

/// Number of sources of shortest paths.
const WEIGHTED_SOURCES: usize = 4;

/// Number of sources of betweenness, each in its own run.
const CENTRAL_SOURCES: usize = 2;

/// Iterations of PageRank.
pub const ITERATIONS: u32 = 10;

/// A kernel in one of its forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelName {
    /// Ten iterations of PageRank.
    PageRank,
    /// PageRank with ranks passed in single precision.
    PageRankSingle,
    /// Direction-optimizing breadth-first search.
    Bfs,
    /// Breadth-first search that never changes its direction.
    BfsTopDown,
    /// Shortest paths by weights.
    Sssp,
    /// Weakly connected components, by sampling.
    Wcc,
    /// Weakly connected components, over all edges.
    WccPlain,
    /// Triangles, counted in the order of degrees where that pays.
    Triangles,
    /// Triangles, counted in the order of ids.
    TrianglesById,
    /// Betweenness centrality from single sources.
    Betweenness,
}

impl KernelName {
    /// The name of its metric; `time` is the contract metric.
    fn metric(self) -> &'static str {
        match self {
            KernelName::PageRankSingle => "time-single",
            KernelName::BfsTopDown => "time-top-down",
            KernelName::WccPlain => "time-plain",
            KernelName::TrianglesById => "time-by-id",
            _ => "time",
        }
    }

    /// The number of runs per measurement.
    #[must_use]
    pub fn runs(self) -> usize {
        match self {
            KernelName::Bfs | KernelName::BfsTopDown => SOURCES,
            KernelName::Sssp => WEIGHTED_SOURCES,
            KernelName::Betweenness => CENTRAL_SOURCES,
            _ => 1,
        }
    }

    /// Returns true if a run is so long that an unmeasured warm-up gains nothing.
    fn warms_itself(self) -> bool {
        matches!(self, KernelName::Triangles | KernelName::TrianglesById)
    }

    /// A description of its answer: all forms of a kernel must agree.
    #[must_use]
    pub fn answer(self) -> &'static str {
        match self {
            KernelName::PageRank => "the ranks",
            KernelName::PageRankSingle => "the ranks in single precision",
            KernelName::Bfs | KernelName::BfsTopDown => "the hash of the depths",
            KernelName::Sssp => "the hash of the distances",
            KernelName::Wcc | KernelName::WccPlain => "the hash of the components",
            KernelName::Triangles | KernelName::TrianglesById => "the number of triangles",
            KernelName::Betweenness => "the betweenness",
        }
    }
}

/// Measures kernels on the loaded graphs.
fn measure(bench: &mut Bench<'_>, kernels: &[KernelName]) -> Result<(), Failure> {
    let subjects = subjects(bench, Bench::subject)?;
    measure_on(bench, &subjects, kernels)
}

/// Measures kernels on graphs with weights, loaded for these kernels only.
fn measure_weighted(bench: &mut Bench<'_>, kernels: &[KernelName]) -> Result<(), Failure> {
    let subjects = subjects(bench, |bench, engine| {
        bench.begin(Turn { threads: 1, repetition: 0, engine }, ", loading weights")?;
        weighted::subject(bench, engine)
    })?;
    measure_on(bench, &subjects, kernels)
}

/// Plain triangle counting takes minutes on large graphs, so it is measured in full runs only.
fn measure_triangles(bench: &mut Bench<'_>) -> Result<(), Failure> {
    let kernels = [KernelName::Triangles, KernelName::TrianglesById];
    let count = if bench.settings.extent == Extent::Default { 1 } else { kernels.len() };
    measure(bench, &kernels[..count])
}

type Subjects = Vec<(Engine, Target)>;

fn subjects<'a>(
    bench: &mut Bench<'a>,
    subject: impl Fn(&mut Bench<'a>, Engine) -> Result<Target, Failure>,
) -> Result<Subjects, Failure> {
    let engines = bench.engines().into_iter();
    engines.map(|engine| Ok((engine, subject(bench, engine)?))).collect()
}

fn measure_on(bench: &mut Bench<'_>, subjects: &Subjects, kernels: &[KernelName]) -> Result<(), Failure> {
    let sources = sources(bench)?;
    let cancel = bench.watch.cancel.clone();
    for threads in bench.settings.threads.clone() {
        let pool = pool(threads)?;
        let execution = Execution { pool: pool.as_ref(), ..Execution::default() };
        let execution = execution.cancelled_by(&cancel);
        for turn in bench.turns_of(threads) {
            let subject = subjects.iter().find(|(engine, _)| *engine == turn.engine);
            let Some((_, subject)) = subject else { continue };
            for kernel in kernels.iter().copied() {
                bench.begin(turn, "")?;
                let run = || run(kernel, subject, &sources, execution);
                if turn.repetition == 0 && !kernel.warms_itself() {
                    run()?;
                }
                let (found, time) = mean_time(bench.settings.least_time(), run)?;
                bench.check_answer(kernel.answer(), found.into())?;
                let seconds = time.as_secs_f64() / kernel.runs() as f64;
                bench.record(turn, kernel.metric(), "s", seconds);
            }
        }
    }
    Ok(())
}

/// Random vertices with neighbors.
///
/// # Errors
/// The static graph cannot be built.
pub fn sources(bench: &mut Bench<'_>) -> Result<Vec<VertexId>, Failure> {
    let csr = bench.csr()?;
    let offsets = csr.offsets();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(bench.settings.seed ^ 0x50c3);
    // A data set has an edge, so some vertex has neighbors.
    let source = |_| loop {
        let vertex = random.random_range(0..bench.data.vertices());
        if offsets[vertex as usize] < offsets[vertex as usize + 1] {
            return VertexId::new(vertex);
        }
    };
    Ok((0..SOURCES).map(source).collect())
}

/// The result of a kernel, converted to an answer outside of the measured time.
pub enum Found {
    /// Ranks of PageRank.
    Ranks(Vec<f64>),
    /// The depths of each search.
    Depths(Vec<Vec<u32>>),
    /// The distances from each source.
    Distances(Vec<Vec<u64>>),
    /// The component of each vertex.
    Components(Vec<u32>),
    /// The number of triangles.
    Triangles(u64),
    /// The betweenness from each source.
    Scores(Vec<Vec<f64>>),
}

impl From<Found> for Answer {
    fn from(found: Found) -> Answer {
        match found {
            Found::Ranks(ranks) => Answer::Ranks(ranks),
            Found::Depths(depths) => Answer::hashed(&depths),
            Found::Distances(distances) => Answer::hashed(&distances),
            Found::Components(components) => Answer::hashed(&components),
            Found::Triangles(count) => Answer::Exact(count),
            // Normalized to a sum of 1, like ranks.
            Found::Scores(scores) => {
                let mut scores = scores.concat();
                let sum: f64 = scores.iter().sum();
                scores.iter_mut().for_each(|score| *score /= sum.max(f64::MIN_POSITIVE));
                Answer::Ranks(scores)
            }
        }
    }
}

/// Runs a kernel once, or a search once from each of its sources.
///
/// # Errors
/// Errors of the kernel.
pub fn run(
    kernel: KernelName,
    subject: &Target,
    sources: &[VertexId],
    execution: Execution<'_>,
) -> Result<Found, Failure> {
    let ranks = |precision| {
        let kernel = PageRank { iterations: ITERATIONS, precision, execution, ..PageRank::default() };
        Ok(Found::Ranks(subject.compute_symmetric(kernel)?.ranks))
    };
    let search = |search: fn(VertexId) -> Bfs<'static>| {
        let depths =
            |source: &VertexId| Ok(subject.compute_symmetric(Bfs { execution, ..search(*source) })?.depths);
        Ok(Found::Depths(sources.iter().map(depths).collect::<Result<_, Failure>>()?))
    };
    let components = |method| {
        let kernel = Wcc { method, execution, ..Wcc::default() };
        Ok(Found::Components(subject.compute_symmetric(kernel)?.components))
    };
    let triangles = |order| {
        let kernel = TriangleCount { order, execution, ..TriangleCount::default() };
        Ok(Found::Triangles(subject.compute_symmetric(kernel)?.triangles))
    };
    let sources = &sources[..kernel.runs()];
    match kernel {
        KernelName::PageRank => ranks(Precision::Double),
        KernelName::PageRankSingle => ranks(Precision::Single),
        KernelName::Bfs => search(Bfs::new),
        KernelName::BfsTopDown => search(Bfs::top_down),
        KernelName::Sssp => shortest_paths(subject, sources, execution),
        KernelName::Wcc => components(WccMethod::Sampling),
        KernelName::WccPlain => components(WccMethod::Plain),
        KernelName::Triangles => triangles(TriangleOrder::Auto),
        KernelName::TrianglesById => triangles(TriangleOrder::ById),
        KernelName::Betweenness => betweenness(subject, sources, execution),
    }
}

fn shortest_paths(
    subject: &Target,
    sources: &[VertexId],
    execution: Execution<'_>,
) -> Result<Found, Failure> {
    let distances = |source: &VertexId| {
        let kernel = Sssp::<u32> { execution, ..Sssp::new(*source) };
        Ok(subject.compute_symmetric(kernel)?.distances)
    };
    Ok(Found::Distances(sources.iter().map(distances).collect::<Result<_, Failure>>()?))
}

/// Runs betweenness once per source, so that all threads share one search.
fn betweenness(subject: &Target, sources: &[VertexId], execution: Execution<'_>) -> Result<Found, Failure> {
    let scores = |source: &VertexId| {
        let sources = Sources::Given(std::slice::from_ref(source));
        Ok(subject.compute_symmetric(Betweenness { execution, ..Betweenness::new(sources) })?.scores)
    };
    Ok(Found::Scores(sources.iter().map(scores).collect::<Result<_, Failure>>()?))
}
