//! What the process of a store is told, and what it answers.

use super::edges::{EXTRA, FINAL_IN_ORDER, LOADED_IN_ORDER, SHUFFLED};
use hedgerow::VertexId;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The numbers of undirected edges of each part.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Counts {
    /// Put before anything is measured.
    pub loaded: u64,
    /// Put alone.
    pub alone: u64,
    /// All; those that are neither loaded nor put alone are put among deletions.
    pub all: u64,
    /// Deleted: the first ones.
    pub deleted: u64,
    /// Put while shortest paths are searched.
    pub extra: u64,
}

impl Counts {
    /// Edges at the end, before the extra ones.
    pub fn left(&self) -> u64 {
        self.all - self.deleted
    }
}

/// What a process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Task {
    /// Makes the store and puts the edges in their random order.
    Write,
    /// Makes the store with all edges, in whatever way takes the least time.
    Rebuild,
    /// Opens the store and reads it.
    Read,
}

/// A task for one process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// What to do.
    pub task: Task,
    /// The store.
    pub store: String,
    /// Where its files are.
    pub folder: PathBuf,
    /// Where the edges are.
    pub edges: PathBuf,
    /// The vertex bound.
    pub vertices: u32,
    /// The numbers of edges.
    pub counts: Counts,
    /// Where searches start.
    pub source: u32,
    /// Random numbers that choose the vertices to ask for.
    pub queries: Vec<u64>,
    /// Bytes that the store may use for changes and blocks of files.
    pub budget: u64,
    /// Bytes that every process may use besides.
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

    /// Further edges.
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

    /// Where searches start.
    pub fn source(&self) -> VertexId {
        VertexId::new(self.source)
    }
}

/// Sums that identify answers; `None` where there is no answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answers {
    /// All neighbors and the sum of their ids.
    pub neighbors: Option<(u64, u64)>,
    /// Vertices reached, and the sum of their depths.
    pub bfs: Option<(u64, u64)>,
    /// Connected components.
    pub components: Option<u64>,
    /// Vertices reached, and the sum of their distances.
    pub shortest_paths: Option<(u64, u64)>,
    /// The sum of the neighbors of the vertices asked for.
    pub one_hop: Option<u64>,
}

impl Answers {
    /// Whether all answers that there are agree with the right ones.
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

/// A line of a process's answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Line {
    /// A figure.
    Figure {
        /// The phase.
        workload: String,
        /// What is measured.
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
