//! The target of readers.

use hedgerow::kernels::{Csr, Kernel};
use hedgerow::{Error, Snapshot};
use hedgerow_sync::Arc;

/// The static graph, or a snapshot of an engine.
#[derive(Clone, Debug)]
pub(crate) enum Subject {
    Csr(Arc<Csr>),
    Snapshot(Snapshot),
}

impl Subject {
    /// Runs a kernel, or a measuring loop in the form of one: compiled for each engine, dispatched
    /// once per run.
    pub(crate) fn run<K: Kernel>(&self, kernel: K) -> Result<K::Output, Error> {
        match self {
            Subject::Csr(csr) => Ok(kernel.run(&**csr)?),
            Subject::Snapshot(snapshot) => snapshot.run(kernel),
        }
    }
}
