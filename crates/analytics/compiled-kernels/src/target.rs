//! The graph that a kernel runs on.

use crate::compiled::Compiled;
use hedgerow::kernels::{Csr, Kernel};
use hedgerow::{Error, Snapshot};
use std::sync::Arc;

/// A snapshot of a graph on any engine, or a static copy. Cloned in O(1).
///
/// Kernels are not compiled here for snapshots of transactions, which
/// [`Snapshot::run`](hedgerow::Snapshot::run) accepts.
#[derive(Clone, Debug)]
pub enum Target {
    /// A snapshot.
    Snapshot(Snapshot),
    /// A static graph, such as a copy of a snapshot, which has the snapshot's vertex ids.
    Csr(Arc<Csr>),
}

impl From<Snapshot> for Target {
    fn from(snapshot: Snapshot) -> Self {
        Target::Snapshot(snapshot)
    }
}

impl From<Csr> for Target {
    fn from(csr: Csr) -> Self {
        Target::Csr(Arc::new(csr))
    }
}

impl Target {
    /// Runs a kernel of the library, which is compiled in this crate.
    ///
    /// # Errors
    /// The error of the kernel.
    pub fn compute<K: Compiled>(&self, kernel: K) -> Result<K::Output, Error> {
        kernel.compute(self, false)
    }

    /// Runs a kernel of the library on a directed graph that holds every edge in both directions,
    /// as if it were undirected: its out-neighbors are its in-neighbors. Ignores self loops when it
    /// counts edges.
    ///
    /// # Errors
    /// The error of the kernel.
    pub fn compute_symmetric<K: Compiled>(&self, kernel: K) -> Result<K::Output, Error> {
        kernel.compute(self, true)
    }

    /// Runs any kernel, which the caller's crate compiles for every engine.
    ///
    /// # Errors
    /// The error of the kernel.
    pub fn run<K: Kernel>(&self, kernel: K) -> Result<K::Output, Error> {
        match self {
            Target::Snapshot(snapshot) => snapshot.run_committed(kernel),
            Target::Csr(csr) => Ok(kernel.run(&**csr)?),
        }
    }
}
