//! Workloads, and the state that they share in a run.

use crate::answers::{Answer, Answers};
use crate::data_set::Entry;
use crate::monitor::{Latencies, resident_bytes};
use crate::samples::{Figure, Samples};
use crate::stores::{StoreFolder, TemporaryStore};
use crate::{BenchError, DataSet, Engine, Failure, Settings, Step, Watch, load};
use hedgerow::kernels::{BuildOptions, Csr, MemoryBudget};
use hedgerow::{EngineKind, Graph, Topology};
use hedgerow_compiled_kernels::Target;
use hedgerow_sync::Arc;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::time::{Duration, Instant};

/// A workload. `docs/bench.md` describes each.
#[derive(Debug)]
pub struct Workload {
    /// Its name on the command line and in reports.
    pub name: &'static str,
    /// A description.
    pub description: &'static str,
    /// The metric that represents the workload; more is better if its name begins with
    /// `throughput`.
    pub contract_metric: &'static str,
    /// True if the workload is measured by default, not only by name or in a full run.
    pub is_default: bool,
    /// True if the workload creates stores.
    pub is_on_store: bool,
    /// True if the report has the speed-up of several threads.
    pub scales: bool,
    /// The rough duration of one measurement of an engine, with its preparation, in seconds, on a
    /// graph of this number of adjacency entries.
    pub seconds: fn(&Settings, usize) -> f64,
    /// Measures all engines of a run.
    pub measure: fn(&mut Bench<'_>) -> Result<(), Failure>,
}

impl Workload {
    /// Finds the workload called `name` in `workloads`.
    ///
    /// # Errors
    /// There is no such workload; the error lists all.
    pub fn named(name: &str, workloads: &[&'static Workload]) -> Result<&'static Workload, BenchError> {
        workloads.iter().find(|workload| workload.name == name).copied().ok_or_else(|| {
            BenchError::UnknownWorkload {
                name: name.to_owned(),
                known: workloads.iter().map(|workload| workload.name).collect(),
            }
        })
    }

    /// Returns true if larger values of the contract metric are better.
    pub(crate) fn more_is_better(&self) -> bool {
        self.contract_metric.starts_with("throughput")
    }
}

/// Workloads are equal if their names are.
impl PartialEq for Workload {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Workload {}

/// One measurement of one engine in a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Number of threads, or of clients.
    pub threads: usize,
    /// The repetition, from 0.
    pub repetition: usize,
    /// The engine.
    pub engine: Engine,
}

/// State shared by the workloads of a run: the graphs, the figures, the answers.
#[derive(Debug)]
pub struct Bench<'a> {
    /// The graph.
    pub data: &'a DataSet,
    /// The settings of the run.
    pub settings: &'a Settings,
    /// Progress and cancellation.
    pub watch: &'a Watch<'a>,
    pub(crate) samples: Samples,
    answers: Answers,
    pub(crate) workload: &'static Workload,
    pub(crate) done: usize,
    engine: &'static str,
    csr: StaticGraph,
    loaded: Vec<(Engine, Loaded)>,
    pub(crate) stores: Option<StoreFolder>,
}

/// The static graph and the rates at which it was built, one per repetition.
#[derive(Debug, Default)]
struct StaticGraph {
    graph: Option<Arc<Csr>>,
    rates: Vec<f64>,
    resident_growth: Option<u64>,
}

/// A graph filled with the data set, edge by edge.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    pub(crate) graph: Graph,
    /// Growth of the process's resident memory during the load.
    pub(crate) resident_growth: Option<u64>,
}

impl<'a> Bench<'a> {
    pub(crate) fn new(
        data: &'a DataSet,
        settings: &'a Settings,
        watch: &'a Watch<'a>,
    ) -> Result<Self, BenchError> {
        Ok(Bench {
            data,
            settings,
            watch,
            samples: Samples::default(),
            answers: Answers::default(),
            workload: settings.workloads.first().copied().ok_or_else(|| settings.nothing_to_measure())?,
            done: 0,
            engine: Engine::CSR.name,
            csr: StaticGraph::default(),
            loaded: Vec::new(),
            stores: settings.store_folder()?,
        })
    }

    pub(crate) fn failed(&self, failure: Failure) -> BenchError {
        if self.watch.cancel.is_cancelled() {
            return BenchError::Cancelled;
        }
        BenchError::Workload { workload: self.workload.name, engine: self.engine, failure }
    }

    /// The engines of graphs in memory: the static graph first, whether it was requested or not.
    #[must_use]
    pub fn engines(&self) -> Vec<Engine> {
        let in_memory = |engine: &&Engine| engine.kind.is_some() && !engine.needs_store();
        let others = self.settings.engines.iter().filter(in_memory);
        [Engine::CSR].iter().chain(others).copied().collect()
    }

    /// All measurements of a workload: per thread count, repetitions that take turns over the
    /// engines.
    #[must_use]
    pub fn turns(&self) -> Vec<Turn> {
        self.settings.threads.iter().flat_map(|threads| self.turns_of(*threads)).collect()
    }

    /// The measurements with this number of threads.
    #[must_use]
    pub fn turns_of(&self, threads: usize) -> Vec<Turn> {
        self.turns_over(&self.engines(), threads)
    }

    fn turns_over(&self, engines: &[Engine], threads: usize) -> Vec<Turn> {
        let of = |repetition| engines.iter().map(move |engine| Turn { threads, repetition, engine: *engine });
        (0..self.settings.repetitions).flat_map(of).collect()
    }

    /// The measurements with this number of threads, of writable engines.
    #[must_use]
    pub fn turns_of_written(&self, threads: usize) -> Vec<(Turn, EngineKind)> {
        let turns = self.turns_of(threads).into_iter();
        turns.filter_map(|turn| Some((turn, turn.engine.kind?))).collect()
    }

    /// The measurements with one thread, of all writable engines, those that need a store included.
    #[must_use]
    pub(crate) fn turns_with_stores(&self) -> Vec<(Turn, EngineKind)> {
        let turns = self.turns_over(&self.settings.engines, 1).into_iter();
        turns.filter_map(|turn| Some((turn, turn.engine.kind?))).collect()
    }

    /// All measurements of writable engines.
    #[must_use]
    pub fn turns_written(&self) -> Vec<(Turn, EngineKind)> {
        self.settings.threads.iter().flat_map(|threads| self.turns_of_written(*threads)).collect()
    }

    /// The first requested thread count.
    #[must_use]
    pub fn first_threads(&self) -> usize {
        self.settings.threads.first().copied().unwrap_or(1)
    }

    /// Reports the beginning of a turn.
    ///
    /// # Errors
    /// The run was canceled.
    pub fn begin(&mut self, turn: Turn, detail: &str) -> Result<(), Failure> {
        self.engine = turn.engine.name;
        let total = self.settings.workloads.len();
        let (workload, engine, threads) = (self.workload.name, turn.engine.name, turn.threads);
        let (repetition, repetitions) = (turn.repetition + 1, self.settings.repetitions);
        let threads = if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") };
        let what =
            format!("{workload}{detail}: {engine}, {threads}, repetition {repetition} of {repetitions}");
        self.watch.begin(&Step { position: Some((self.done + 1, total)), what });
        self.watch.check()
    }

    fn figure(&self, turn: Turn, metric: impl Into<String>, unit: &'static str) -> Figure {
        let (engine, threads) = (turn.engine.name, turn.threads);
        Figure { workload: self.workload.name, engine, threads, metric: metric.into(), unit }
    }

    /// Switches to another workload, which is measured together with the current one.
    pub fn go_on_with(&mut self, workload: &'static Workload) {
        self.workload = workload;
    }

    /// Records a figure of the current workload.
    pub fn record(&mut self, turn: Turn, metric: impl Into<String>, unit: &'static str, value: f64) {
        let figure = self.figure(turn, metric, unit);
        self.samples.push(figure, value);
    }

    /// Records a figure together with its baseline.
    pub fn record_against(
        &mut self,
        turn: Turn,
        metric: &str,
        unit: &'static str,
        value: f64,
        baseline: (&'static str, f64),
    ) {
        let figure = self.figure(turn, metric, unit);
        self.samples.push_against(figure, value, baseline.0, baseline.1);
    }

    /// Records percentiles of latencies.
    pub(crate) fn record_latencies(&mut self, turn: Turn, latencies: &Latencies) {
        for (metric, value) in latencies.percentiles() {
            self.record(turn, metric, "ns", value);
        }
    }

    /// Creates a temporary store on the measured disk.
    ///
    /// # Errors
    /// Its folder cannot be created.
    ///
    /// # Panics
    /// No workload of the run [is on a store](Workload::is_on_store).
    pub fn new_store(&self) -> Result<TemporaryStore, Failure> {
        let stores = self.stores.as_ref();
        stores.expect("a run with workloads on stores has a folder for them").new_store()
    }

    /// A recorded figure of another workload.
    pub(crate) fn recorded(&self, workload: &Workload, turn: Turn, metric: &str) -> Option<&[f64]> {
        let series = self.samples.find(workload.name, turn.engine.name, turn.threads, metric);
        series.map(|series| series.values.as_slice())
    }

    /// The figure of the current workload that was just recorded in the same repetition.
    ///
    /// # Panics
    /// It was not recorded.
    #[must_use]
    pub fn recorded_now(&self, turn: Turn, metric: &str) -> f64 {
        let values = self.recorded(self.workload, turn, metric);
        let value = values.and_then(|values| values.get(turn.repetition));
        *value.expect("a baseline is measured before the figures compared with it")
    }

    /// Compares a result with the results of the other engines.
    ///
    /// # Errors
    /// They differ.
    pub fn check_answer(&mut self, what: &str, answer: Answer) -> Result<(), Failure> {
        self.answers.check(what, answer)
    }

    /// Records the rate at which the static graph is built, as the baseline of writers. Records it
    /// once per repetition, as only one thread builds the graph.
    ///
    /// # Errors
    /// The graph cannot be built.
    pub fn record_build_rate(&mut self, turn: Turn, metric: &str) -> Result<(), Failure> {
        if turn.threads == self.first_threads() {
            let rate = self.build_rate(turn.repetition)?;
            self.record(Turn { threads: 1, ..turn }, metric, "edges/s", rate);
        }
        Ok(())
    }

    /// The rate at which one thread builds the static graph from the stream: it counts, places and
    /// sorts the entries. Measured on first use in a repetition: the better of two consecutive
    /// builds, because the first may have to wait for memory that the operating system still has to
    /// clear.
    fn build_rate(&mut self, repetition: usize) -> Result<f64, Failure> {
        while self.csr.rates.len() <= repetition {
            let first = self.time_build()?;
            let elapsed = first.min(self.time_build()?);
            self.csr.rates.push(self.data.stream().len() as f64 / elapsed.as_secs_f64());
        }
        Ok(self.csr.rates[repetition])
    }

    fn time_build(&mut self) -> Result<Duration, Failure> {
        // Free the memory of the previous build first.
        self.csr.graph = None;
        let before = resident_bytes();
        let started = Instant::now();
        let graph = self.build_csr(self.data.stream())?;
        let elapsed = started.elapsed();
        self.csr.resident_growth = growth(before);
        self.csr.graph = Some(Arc::new(graph));
        Ok(elapsed)
    }

    /// A static graph of some entries of the data set.
    ///
    /// # Errors
    /// The graph cannot be built.
    pub fn build_csr(&self, entries: &[Entry]) -> Result<Csr, Failure> {
        let options = BuildOptions { memory: MemoryBudget::detect(), ..BuildOptions::default() };
        let graph = Csr::from_edges(self.data.vertices(), Topology::Directed, entries, options);
        Ok(graph.map_err(hedgerow::Error::from)?)
    }

    /// The static graph.
    ///
    /// # Errors
    /// The graph cannot be built.
    pub fn csr(&mut self) -> Result<Arc<Csr>, Failure> {
        if self.csr.graph.is_none() {
            self.build_rate(0)?;
        }
        let graph = self.csr.graph.as_ref();
        Ok(Arc::clone(graph.expect("the graph was just built")))
    }

    /// Growth of resident memory when the static graph was built.
    pub(crate) fn csr_resident_growth(&self) -> Option<u64> {
        self.csr.resident_growth
    }

    /// The graph that readers read: filled on first use, edge by edge, by one writer per core.
    pub(crate) fn loaded(&mut self, engine: Engine, kind: EngineKind) -> Result<Loaded, Failure> {
        if let Some((_, loaded)) = self.loaded.iter().find(|(other, _)| *other == engine) {
            return Ok(loaded.clone());
        }
        let what = format!("{}: loading {}", self.workload.name, engine.name);
        let position = Some((self.done + 1, self.settings.workloads.len()));
        self.watch.begin(&Step { position, what });
        let writers = std::thread::available_parallelism().map_or(1, usize::from);
        let before = resident_bytes();
        let graph = load::empty_graph(kind, 1, self.data.vertices())?;
        let (cancel, mut latencies) = (&self.watch.cancel, Latencies::new());
        load::put_one_by_one(&graph, self.data.stream(), writers, &mut latencies, cancel)?;
        load::check_edges(&graph, self.data)?;
        load::reclaim_all(&graph)?;
        let loaded = Loaded { graph, resident_growth: growth(before) };
        self.loaded.push((engine, loaded.clone()));
        Ok(loaded)
    }

    /// The target for readers of an engine.
    ///
    /// # Errors
    /// The graph cannot be filled or read.
    pub fn subject(&mut self, engine: Engine) -> Result<Target, Failure> {
        match engine.kind {
            None => Ok(Target::Csr(self.csr()?)),
            Some(kind) => Ok(Target::from(self.loaded(engine, kind)?.graph.snapshot()?)),
        }
    }
}

/// Growth of resident memory since `before`.
fn growth(before: Option<u64>) -> Option<u64> {
    Some(resident_bytes()?.saturating_sub(before?))
}

/// The thread pool of a reader; `None` for one thread, which is the calling thread.
///
/// # Errors
/// The threads cannot be started.
pub fn pool(threads: usize) -> Result<Option<ThreadPool>, Failure> {
    let build = || ThreadPoolBuilder::new().num_threads(threads).build();
    Ok((threads > 1).then(build).transpose()?)
}
