//! Why a run gave no report.

use crate::Workload;
use hedgerow_formats::{FormatError, KroneckerError};
use std::io;
use std::path::PathBuf;

/// A run gave no report.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// No engine has that name.
    #[error("there is no engine {name:?}; there are: {}", names(known.iter().copied()))]
    UnknownEngine {
        /// What was asked for.
        name: String,
        /// Those that there are.
        known: Vec<&'static str>,
    },
    /// No workload has that name.
    #[error("there is no workload {0:?}; there are: {known}", known = names(Workload::ALL.iter().map(|workload| workload.name())))]
    UnknownWorkload(String),
    /// Neither a data set nor a file has that name.
    #[error(
        "there is no data set and no file {0:?}; data sets are kron-N, sparse-N (N from 4 to 26) and \
         uniform-VERTICESxDEGREE"
    )]
    UnknownDataSet(String),
    /// A data set by name is too small, too large, or cannot be.
    #[error("there can be no data set {name:?}: {problem}")]
    ImpossibleDataSet {
        /// The name as given.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A synthetic graph cannot be made.
    #[error(transparent)]
    Kronecker(#[from] KroneckerError),
    /// A graph without edges cannot be measured.
    #[error("the graph {0:?} has no edge between two vertices")]
    NoEdges(String),
    /// The file has more vertices than ids can number.
    #[error("the graph {0:?} has more vertices than 32-bit ids can number")]
    TooManyVertices(String),
    /// The graph file could not be read.
    #[error(transparent)]
    Input(#[from] FormatError),
    /// Stores cannot be made where they are to be.
    #[error("no stores can be made in {}: {source}", directory.display())]
    StoreFolder {
        /// Where they are to be.
        directory: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A workload failed.
    #[error("workload {workload}, engine {engine}: {failure}")]
    Workload {
        /// The workload.
        workload: &'static str,
        /// The engine that it ran on.
        engine: &'static str,
        /// What happened.
        failure: Failure,
    },
    /// It was stopped from outside.
    #[error("the run was interrupted")]
    Cancelled,
}

/// Why a workload failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The graph or a kernel on it refused.
    #[error(transparent)]
    Graph(#[from] hedgerow::Error),
    /// A pool of threads could not be started.
    #[error("the worker threads could not be started: {0}")]
    Pool(#[from] rayon::ThreadPoolBuildError),
    /// A thread could not be started.
    #[error("a thread could not be started: {0}")]
    Thread(#[from] io::Error),
    /// A file beside the stores, by which the disk is measured, or the folder of a store.
    #[error("{}: {source}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What happened.
        source: io::Error,
    },
    /// Two engines gave different results, or one lost or invented edges.
    #[error("{what} is {found} where {expected} was expected: the engine is wrong, its figures mean nothing")]
    WrongResult {
        /// What was computed.
        what: String,
        /// What this engine gave.
        found: String,
        /// What it must be.
        expected: String,
    },
    /// It was stopped from outside.
    #[error("interrupted")]
    Cancelled,
}

fn names(names: impl Iterator<Item = &'static str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}
