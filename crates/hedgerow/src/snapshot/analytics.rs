//! Kernels on snapshots, and static copies of them.

use super::{Snapshot, with_view};
use crate::error::{Error, Reason};
use hedgerow_kernels::{BuildOptions, Csr, CsrError, Kernel, KernelError, MemoryError};
use hedgerow_model::{Column, LabelId};

impl Snapshot {
    /// Runs a kernel on this state. Dispatches to the engine once; the kernel is compiled for each
    /// engine.
    ///
    /// # Errors
    /// The error of the kernel.
    pub fn run<K: Kernel>(&self, kernel: K) -> Result<K::Output, Error> {
        Ok(with_view!(self, _store, view => kernel.run(&view))?)
    }

    /// Returns a static copy of one label, with its values if `W` is not `()`. The copy has a
    /// neighbor for each parallel edge, so kernels compute the same on it. O(vertices + edges).
    ///
    /// # Errors
    /// There is no such label, its edges carry another type, or the copy does not fit into memory.
    pub fn to_csr<W: Column>(
        &self,
        label: impl Into<LabelId>,
        options: BuildOptions<'_>,
    ) -> Result<Csr, Error> {
        let label = label.into();
        Ok(with_view!(self, _store, view => Csr::from_view::<_, W>(&view, label, options))?)
    }
}

impl Error {
    /// Returns details if the arrays of a computation over all vertex ids do not fit into memory.
    #[must_use]
    pub fn memory(&self) -> Option<&MemoryError> {
        match self.kernel()? {
            KernelError::Memory(error) => Some(error),
            _ => None,
        }
    }

    /// Returns details if a kernel was cancelled or could not run.
    #[must_use]
    pub fn kernel(&self) -> Option<&KernelError> {
        match &self.0 {
            Reason::Kernel(error) => Some(error),
            _ => None,
        }
    }
}

impl From<KernelError> for Error {
    fn from(error: KernelError) -> Self {
        Reason::Kernel(error).into()
    }
}

impl From<CsrError> for Error {
    fn from(error: CsrError) -> Self {
        KernelError::from(error).into()
    }
}
