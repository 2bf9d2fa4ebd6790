//! The target that a kernel runs on.

use hedgerow::kernels::{Csr, Kernel};
use hedgerow::{Error, Snapshot};

/// A snapshot, or a static copy of one.
#[derive(Debug)]
pub enum Target<'a> {
    /// A snapshot.
    Snapshot(&'a Snapshot),
    /// A static copy; it has the snapshot's vertex ids.
    Csr(Csr),
}

impl Target<'_> {
    /// Runs a kernel.
    pub fn run<K: Kernel>(&self, kernel: K) -> Result<K::Output, Error> {
        match self {
            Target::Snapshot(snapshot) => snapshot.run(kernel),
            Target::Csr(csr) => Ok(kernel.run(csr)?),
        }
    }
}
