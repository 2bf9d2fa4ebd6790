//! The jobs of a store's process, and its answers.

use super::edges::{EXTRA, FINAL_IN_ORDER, LOADED_IN_ORDER, SHUFFLED};
use hedgerow::VertexId;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The numbers of undirected edges of each part.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Counts {
    /// Edges put before the measurement.
    pub loaded: u64,
    /// Edges put alone.
    pub alone: u64,
    /// All edges; those neither loaded nor put alone are put among deletions.
    pub all: u64,
    /// Deleted edges: the first ones.
    pub deleted: u64,
    /// Edges put during the search for shortest paths.
    pub extra: u64,
}

impl Counts {
    /// Edges at the end, without the extra ones.
    pub fn left(&self) -> u64 {
        self.all - self.deleted
    }
}

/// The task of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Task {
    /// Makes the store and puts the edges in their random order.
    Write,
    /// Makes the store with all edges, in the fastest way.
    Rebuild,
    /// Opens the store and reads it.
    Read,
}

/// A task with its parameters, for one process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// The task.
    pub task: Task,
    /// The store.
    pub store: String,
    /// The folder of the store.
    pub folder: PathBuf,
    /// The folder of the edges.
    pub edges: PathBuf,
    /// The vertex bound.
    pub vertices: u32,
    /// The numbers of edges.
    pub counts: Counts,
    /// The source of searches.
    pub source: u32,
    /// Random numbers that choose the queried vertices.
    pub queries: Vec<u64>,
    /// Bytes that the store may use for changes and blocks of files.
    pub budget: u64,
    /// Bytes that every process may use in addition to the budget.
    pub process_bytes: u64,
    /// Seconds after which a phase is cut.
    pub most_seconds: f64,
    /// The cgroup, if there is one.
    pub group: Option<PathBuf>,
}

impl Job {
    /// The edges in random order.
    pub fn shuffled(&self) -> PathBuf {
        self.edges.join(SHUFFLED)
    }

    /// The extra edges.
    pub fn extra(&self) -> PathBuf {
        self.edges.join(EXTRA)
    }

    /// The loaded edges, in order.
    pub fn loaded_in_order(&self) -> PathBuf {
        self.edges.join(LOADED_IN_ORDER)
    }

    /// The edges at the end, in order.
    pub fn final_in_order(&self) -> PathBuf {
        self.edges.join(FINAL_IN_ORDER)
    }

    /// The source of searches.
    pub fn source(&self) -> VertexId {
        VertexId::new(self.source)
    }
}

/// Sums that identify answers; `None` where there is no answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answers {
    /// The number of all neighbors, and the sum of their ids.
    pub neighbors: Option<(u64, u64)>,
    /// Vertices reached, and the sum of their depths.
    pub bfs: Option<(u64, u64)>,
    /// Connected components.
    pub components: Option<u64>,
    /// Vertices reached, and the sum of their distances.
    pub shortest_paths: Option<(u64, u64)>,
    /// The sum of the neighbors of the queried vertices.
    pub one_hop: Option<u64>,
}

impl Answers {
    /// Returns true if all present answers equal the right ones.
    pub fn agree_with(&self, right: &Answers) -> bool {
        fn agrees<T: PartialEq>(answer: Option<&T>, right: Option<&T>) -> bool {
            answer.is_none() || answer == right
        }
        agrees(self.neighbors.as_ref(), right.neighbors.as_ref())
            && agrees(self.bfs.as_ref(), right.bfs.as_ref())
            && agrees(self.components.as_ref(), right.components.as_ref())
            && agrees(self.shortest_paths.as_ref(), right.shortest_paths.as_ref())
            && agrees(self.one_hop.as_ref(), right.one_hop.as_ref())
    }
}

/// A line of a process's output.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Line {
    /// A figure.
    Figure {
        /// The phase.
        workload: String,
        /// The metric.
        metric: String,
        /// Its unit.
        unit: String,
        /// The value.
        value: f64,
    },
    /// Answers to check.
    Answers(Answers),
    /// A phase that was cut or does not exist.
    Note(String),
    /// The store lacks edges, because a phase of writes was cut.
    Incomplete,
}
