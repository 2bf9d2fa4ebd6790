//! The kernels: the same code on every engine.

use crate::Failure;
use crate::answers::Answer;
use crate::executor::{Bench, pool};
use crate::monitor::mean_time;
use crate::subject::Subject;
use crate::undirected::OnUndirected;
use hedgerow::VertexId;
use hedgerow::kernels::{Bfs, Execution, PageRank};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

/// Searches are started from so many vertices; the mean counts.
const SOURCES: usize = 8;

/// Iterations of PageRank.
pub(super) const ITERATIONS: u32 = 10;

/// A kernel in one of its forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KernelName {
    PageRank,
    Bfs,
    BfsTopDown,
}

impl KernelName {
    /// The metric that it is recorded under; `time` is the contract metric.
    fn metric(self) -> &'static str {
        match self {
            KernelName::PageRank | KernelName::Bfs => "time",
            KernelName::BfsTopDown => "time-top-down",
        }
    }

    /// How many runs of it one measurement is.
    fn runs(self) -> usize {
        match self {
            KernelName::PageRank => 1,
            KernelName::Bfs | KernelName::BfsTopDown => SOURCES,
        }
    }

    /// What its answer says: forms of one kernel must agree, too.
    fn answer(self) -> &'static str {
        match self {
            KernelName::PageRank => "the ranks",
            KernelName::Bfs | KernelName::BfsTopDown => "the hash of the depths",
        }
    }
}

pub(crate) fn measure(bench: &mut Bench<'_>, kernels: &[KernelName]) -> Result<(), Failure> {
    let sources = sources(bench)?;
    let cancel = bench.watch.cancel.clone();
    for threads in bench.settings.threads.clone() {
        let pool = pool(threads)?;
        let execution = Execution { pool: pool.as_ref(), ..Execution::default() };
        let execution = execution.cancelled_by(&cancel);
        for turn in bench.turns_of(threads) {
            for kernel in kernels {
                bench.begin(turn, "")?;
                let subject = bench.subject(turn.engine)?;
                let run = || run(*kernel, &subject, &sources, execution);
                if turn.repetition == 0 {
                    bench.check_answer(kernel.answer(), run()?)?;
                }
                let (answer, time) = mean_time(bench.settings.least_time(), run)?;
                bench.check_answer(kernel.answer(), answer)?;
                let seconds = time.as_secs_f64() / kernel.runs() as f64;
                bench.record(turn, kernel.metric(), "s", seconds);
            }
        }
    }
    Ok(())
}

/// Vertices with neighbours, at random.
fn sources(bench: &mut Bench<'_>) -> Result<Vec<VertexId>, Failure> {
    let csr = bench.csr()?;
    let offsets = csr.offsets();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(bench.settings.seed ^ 0x50c3);
    // A data set has an edge, so some vertex has neighbours.
    let source = |_| loop {
        let vertex = random.random_range(0..bench.data.vertices());
        if offsets[vertex as usize] < offsets[vertex as usize + 1] {
            return VertexId::new(vertex);
        }
    };
    Ok((0..SOURCES).map(source).collect())
}

/// Runs a kernel once, or a search once from every source.
fn run(
    kernel: KernelName,
    subject: &Subject,
    sources: &[VertexId],
    execution: Execution<'_>,
) -> Result<Answer, Failure> {
    match kernel {
        KernelName::PageRank => {
            let kernel = PageRank { iterations: ITERATIONS, execution, ..PageRank::default() };
            Ok(Answer::Ranks(subject.run(OnUndirected(kernel))?.ranks))
        }
        KernelName::Bfs => search(subject, sources, |source| Bfs { execution, ..Bfs::new(source) }),
        KernelName::BfsTopDown => {
            search(subject, sources, |source| Bfs { alpha: 0, execution, ..Bfs::new(source) })
        }
    }
}

/// Searches from every source; all depths together are the answer.
fn search<'e>(
    subject: &Subject,
    sources: &[VertexId],
    kernel: impl Fn(VertexId) -> Bfs<'e>,
) -> Result<Answer, Failure> {
    let mut depths = Vec::new();
    for source in sources {
        depths.push(subject.run(OnUndirected(kernel(*source)))?.depths);
    }
    Ok(Answer::hashed(&depths))
}
