//! Kernels on snapshots, and static copies of them.

use super::Snapshot;
use crate::error::{Error, Reason, WrongWeight};
use hedgerow_kernels::{
    BuildOptions, Csr, CsrError, EdgeWeight, Kernel, KernelError, MemoryError, ParallelWeight,
};
use hedgerow_model::{Column, GraphView, LabelId};
use hedgerow_pipeline::Overlay;
use std::marker::PhantomData;

impl Snapshot {
    /// Runs a kernel on this state. Dispatches to the engine once; the kernel is compiled for each
    /// engine, and for the states of transactions.
    ///
    /// # Errors
    /// The error of the kernel. An edge without a valid weight is named by the keys of its ends.
    pub fn run<K: Kernel>(&self, kernel: K) -> Result<K::Output, Error> {
        match self.staged() {
            None => self.run_committed(kernel),
            Some(staged) => {
                self.typed()?;
                let view = Overlay::new(self.view_below(), staged);
                kernel.run(&view).map_err(|error| self.name_edge(error))
            }
        }
    }

    /// Runs a kernel as [`Snapshot::run`] does, on any state but a transaction's, for which the
    /// kernel is not compiled.
    ///
    /// # Errors
    /// As [`Snapshot::run`]; or this is the state of a transaction.
    #[doc(hidden)]
    pub fn run_committed<K: Kernel>(&self, kernel: K) -> Result<K::Output, Error> {
        if self.staged().is_some() {
            return Err(Reason::StagedKernel.into());
        }
        self.typed()?;
        self.run_below(kernel).map_err(|error| self.name_edge(error))
    }

    /// Returns the weight of a label's edges, for kernels: a property, or their values with `None`.
    /// Both are numbers. O(properties).
    ///
    /// A kernel copies the label with its weights to a static graph before it runs, at 12 bytes per
    /// edge in each direction, and reads all records. For several kernels, make the copy with
    /// [`Snapshot::to_weighted_csr`].
    ///
    /// ```
    /// use hedgerow::kernels::{PageRank, Sssp};
    /// use hedgerow::prelude::*;
    ///
    /// #[derive(Properties)]
    /// struct Payment {
    ///     amount: f64,
    /// }
    ///
    /// let graph = Graph::in_memory(GraphOptions::new().parallel_label::<Payment>("pays", "number"))?;
    /// let pays = graph.label::<Payment>("pays")?;
    /// for (number, from, to, amount) in [(1, 1, 2, 9.0), (2, 1, 2, 1.0), (3, 1, 3, 20.0)] {
    ///     graph.put_parallel_edge(pays, from, to, number, Payment { amount })?;
    /// }
    /// let snapshot = graph.snapshot()?;
    /// let amount = snapshot.edge_weight(pays, "amount")?;
    /// let [one, two] = [1, 2].map(|key| snapshot.vertex_id(key).unwrap().expect("it has edges"));
    ///
    /// let search = Sssp { parents: true, ..Sssp::<f64>::new(one) }.label(pays).weight(amount);
    /// let found = snapshot.run(search)?;
    /// assert_eq!(found.distances[two.index()], 1.0, "the least of parallel edges");
    /// assert_eq!(found.parents.and_then(|parents| parents.path_to(two)), Some(vec![one, two]));
    ///
    /// let back_to_one = [(one, 1.0)];
    /// let ranks = PageRank::default().label(pays).weight(amount).personalized(&back_to_one);
    /// let ranks = snapshot.run(PageRank { iterations: 200, ..ranks })?.ranks;
    /// assert!((ranks[two.index()] / ranks[one.index()] - 0.85 / 3.0).abs() < 1e-6, "a third of 30");
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// There is no such label or property, or it is no number.
    pub fn edge_weight<'n>(
        &self,
        label: impl Into<LabelId>,
        property: impl Into<Option<&'n str>>,
    ) -> Result<EdgeWeight, Error> {
        self.typed()?.edge_weight(label.into(), property.into())
    }

    /// Returns a static copy of one label with these weights as `f64` values, in which parallel
    /// edges are one: see [`Csr::weighted`].
    ///
    /// # Errors
    /// As [`Csr::weighted`]. An edge without a valid weight is named by the keys of its ends.
    pub fn to_weighted_csr(
        &self,
        label: impl Into<LabelId>,
        weight: EdgeWeight,
        parallel: ParallelWeight,
        options: BuildOptions<'_>,
    ) -> Result<Csr, Error> {
        self.run(WeightedCopy { label: label.into(), weight, parallel, options })
    }

    /// Names the edge of an error by the keys of its ends.
    fn name_edge(&self, error: KernelError) -> Error {
        let KernelError::Weight(weight) = error else { return error.into() };
        let (from, to) = (self.key_of(weight.source), self.key_of(weight.destination));
        Reason::Weight(Box::new(WrongWeight { from, to, fault: weight.fault(), error })).into()
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
        self.run(LabelCopy { label: label.into(), options, values: PhantomData::<W> })
    }
}

/// Copies one label, with its values if `W` is not `()`.
struct LabelCopy<'o, W> {
    label: LabelId,
    options: BuildOptions<'o>,
    values: PhantomData<W>,
}

impl<W: Column> Kernel for LabelCopy<'_, W> {
    type Output = Csr;

    fn run<V: GraphView>(self, view: &V) -> Result<Csr, KernelError> {
        Ok(Csr::from_view::<_, W>(view, self.label, self.options)?)
    }
}

/// Copies one label with weights.
struct WeightedCopy<'o> {
    label: LabelId,
    weight: EdgeWeight,
    parallel: ParallelWeight,
    options: BuildOptions<'o>,
}

impl Kernel for WeightedCopy<'_> {
    type Output = Csr;

    fn run<V: GraphView>(self, view: &V) -> Result<Csr, KernelError> {
        Ok(Csr::weighted(view, self.label, self.weight, self.parallel, self.options)?)
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
            Reason::Weight(wrong) => Some(&wrong.error),
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
