//! A loaded graph, a session of a kernel on it, and the result of the kernel.

use super::args::{EngineName, ViewName};
use super::hub::LargestDegree;
use super::sources;
use super::value::Value;
use crate::console::Console;
use crate::error::CliError;
use crate::input::Loaded;
use crate::interrupt::Interrupt;
use crate::keys::{self, JsonKey};
use crate::options::Place;
use crate::progress;
use crate::threads::Threads;
use hedgerow::kernels::{EdgeWeight, Execution, KernelError, Parents, Progress};
use hedgerow::{Key, LabelId, VertexId};
use hedgerow_compiled_kernels::{Compiled, Target};
use indicatif::ProgressBar;
use std::path::Path;
use std::time::Duration;

/// A loaded graph, and the options for kernels on it.
#[derive(Clone, Copy, Debug)]
pub struct OpenGraph<'a> {
    /// The origin of the graph.
    pub place: Place<'a>,
    /// True if the graph is from the newest checkpoint of a store.
    pub from_checkpoint: bool,
    pub loaded: &'a Loaded,
    /// The label that the kernel reads.
    pub label: LabelId,
    pub engine: EngineName,
    pub view: ViewName,
    pub threads: &'a Threads,
}

/// A graph, and the target that a kernel runs on.
pub struct Session<'a> {
    pub graph: &'a OpenGraph<'a>,
    /// The label that the kernel reads, in the target.
    pub label: LabelId,
    /// The weight of edges, in the target.
    pub weight: Option<EdgeWeight>,
    /// The file for the result of every vertex.
    pub output: Option<&'a Path>,
    pub(super) target: Target,
    pub(super) sources: Vec<Key>,
    pub(super) console: &'a Console,
    pub(super) interrupt: &'a Interrupt,
}

/// The result of a kernel.
pub struct Finished {
    /// The duration of the kernel.
    pub elapsed: Duration,
    /// The fields of the JSON summary after the facts.
    pub details: serde_json::Value,
    /// The lines of the table after the facts.
    pub rows: Vec<(&'static str, String)>,
    /// Text after the table.
    pub appendix: String,
    /// The name of the results of vertices, in files that name columns.
    pub column: &'static str,
    /// Returns the result of a vertex; `None` if it has none.
    pub value: Box<dyn Fn(VertexId) -> Option<Value>>,
    /// The parents of vertices, to be written with their results.
    pub parents: Option<Parents>,
}

impl Session<'_> {
    /// Watches a kernel whose amount of work is unknown.
    pub fn watch(&self, what: &str) -> Watch<'_> {
        Watch::new(self, progress::spinner(self.console, what))
    }

    /// Watches a kernel of at most `iterations` iterations.
    pub fn watch_iterations(&self, what: &str, iterations: u32) -> Watch<'_> {
        Watch::new(self, progress::of_steps(self.console, what, u64::from(iterations)))
    }

    /// The given vertices that the kernel starts from.
    pub fn given_sources(&self) -> Result<Vec<VertexId>, CliError> {
        let find = |key| sources::find(key, &self.graph.loaded.state, self.graph.place);
        self.sources.iter().map(find).collect()
    }

    /// Returns at least one vertex that the kernel starts from, and true if none was given: then it
    /// is the vertex with the largest out-degree.
    pub fn sources(&self) -> Result<(Vec<VertexId>, bool), CliError> {
        if !self.sources.is_empty() {
            return Ok((self.given_sources()?, false));
        }
        let execution = self.graph.threads.execution(self.interrupt);
        let kernel = LargestDegree { label: self.label, execution };
        let largest = self.interrupt.or_interrupted(self.target.run(kernel))?;
        let largest = largest.ok_or_else(|| CliError::EmptyGraph(self.graph.place.path().into()))?;
        Ok((vec![largest], true))
    }

    /// Like [`Self::sources`], for a kernel that starts from one vertex.
    pub fn source(&self) -> Result<(VertexId, bool), CliError> {
        let (sources, chosen) = self.sources()?;
        Ok((sources[0], chosen))
    }

    /// The key of a vertex of the graph.
    pub fn key(&self, vertex: VertexId) -> Result<JsonKey, CliError> {
        Ok(self.graph.loaded.state.key(vertex)?.expect("kernels tell of vertices that exist").into())
    }
}

/// The execution of a kernel, with a progress display.
pub struct Watch<'a> {
    session: &'a Session<'a>,
    bar: ProgressBar,
    report: Box<dyn Fn(Progress) + Sync>,
}

impl<'a> Watch<'a> {
    fn new(session: &'a Session<'a>, bar: ProgressBar) -> Self {
        let shown = bar.clone();
        let report = Box::new(move |progress: Progress| shown.set_position(u64::from(progress.iteration)));
        Watch { session, bar, report }
    }

    /// Runs on the requested threads, until Ctrl-C.
    pub fn execution(&self) -> Execution<'_> {
        self.session.graph.threads.execution(self.session.interrupt).reporting_to(&*self.report)
    }

    /// Runs a kernel with this execution.
    pub fn run<K: Compiled>(&self, kernel: K) -> Result<K::Output, CliError> {
        let result = self.session.target.compute(kernel);
        self.bar.finish_and_clear();
        let result = self.session.interrupt.or_interrupted(result);
        result.map_err(|error| name_edge(error, self.session.graph))
    }
}

/// Names an edge without a valid weight by its keys. Edges of files were already checked while
/// reading.
pub fn name_edge(error: CliError, graph: &OpenGraph<'_>) -> CliError {
    let CliError::Graph(cause) = &error else { return error };
    let Some(KernelError::Weight(weight)) = cause.kernel() else { return error };
    let key = |vertex| Some(keys::text(&graph.loaded.state.key(vertex).ok()??));
    let (Some(from), Some(to)) = (key(weight.source), key(weight.destination)) else { return error };
    CliError::BadWeight { graph: graph.place.path().into(), from, to, fault: weight.fault() }
}
