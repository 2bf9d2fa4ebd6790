//! Errors of a run.

use hedgerow_formats::{FormatError, KroneckerError};
use std::io;
use std::path::PathBuf;

/// A run failed.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// No engine has that name.
    #[error("there is no engine {name:?}; there are: {}", names(known))]
    UnknownEngine {
        /// The requested name.
        name: String,
        /// The known names.
        known: Vec<&'static str>,
    },
    /// No workload has that name.
    #[error("there is no workload {name:?}; there are: {}", names(known))]
    UnknownWorkload {
        /// The requested name.
        name: String,
        /// The known names.
        known: Vec<&'static str>,
    },
    /// Neither a data set nor a file has that name.
    #[error(
        "there is no data set and no file {0:?}; data sets are kron-N, sparse-N (N from 4 to 26) and \
         uniform-VERTICESxDEGREE"
    )]
    UnknownDataSet(String),
    /// A named data set is too small, too large, or impossible.
    #[error("there can be no data set {name:?}: {problem}")]
    ImpossibleDataSet {
        /// The name as given.
        name: String,
        /// The problem.
        problem: &'static str,
    },
    /// A synthetic graph cannot be generated.
    #[error(transparent)]
    Kronecker(#[from] KroneckerError),
    /// The workloads have nothing to measure on these engines.
    #[error("there is nothing to measure for {} on {}: name other engines", names(workloads), names(engines))]
    NothingToMeasure {
        /// The workloads of the run.
        workloads: Vec<&'static str>,
        /// The engines of the run.
        engines: Vec<&'static str>,
    },
    /// A graph without edges cannot be measured.
    #[error("the graph {0:?} has no edge between two vertices")]
    NoEdges(String),
    /// The file has more vertices than ids can number.
    #[error("the graph {0:?} has more vertices than 32-bit ids can number")]
    TooManyVertices(String),
    /// The graph file could not be read.
    #[error(transparent)]
    Input(#[from] FormatError),
    /// Stores cannot be created in the given directory.
    #[error("no stores can be made in {}: {source}", directory.display())]
    StoreFolder {
        /// The directory.
        directory: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A workload failed.
    #[error("workload {workload}, engine {engine}: {failure}")]
    Workload {
        /// The workload.
        workload: &'static str,
        /// The engine.
        engine: &'static str,
        /// The cause.
        failure: Failure,
    },
    /// The caller canceled the run.
    #[error("the run was interrupted")]
    Cancelled,
}

/// The error of a workload.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The graph or a kernel on it returned an error.
    #[error(transparent)]
    Graph(#[from] hedgerow::Error),
    /// A file with the graph could not be written or read.
    #[error(transparent)]
    Format(#[from] hedgerow_formats::FormatError),
    /// A file did not become a static graph.
    #[error(transparent)]
    Static(#[from] hedgerow_formats::StaticGraphError),
    /// A pool of threads could not be started.
    #[error("the worker threads could not be started: {0}")]
    Pool(#[from] rayon::ThreadPoolBuildError),
    /// A thread could not be started.
    #[error("a thread could not be started: {0}")]
    Thread(#[from] io::Error),
    /// A file for measuring the disk, or the folder of a store, failed.
    #[error("{}: {source}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Two engines gave different results, or one lost or invented edges.
    #[error("{what} is {found} where {expected} was expected: the engine is wrong, its figures mean nothing")]
    WrongResult {
        /// The computed quantity.
        what: String,
        /// The result of this engine.
        found: String,
        /// The expected result.
        expected: String,
    },
    /// The caller canceled the run.
    #[error("interrupted")]
    Cancelled,
}

fn names(names: &[&str]) -> String {
    names.join(", ")
}
