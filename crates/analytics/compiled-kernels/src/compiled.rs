//! The kernels that this crate compiles.

use crate::target::Target;
use crate::topology::Symmetric;
use hedgerow::Error;
use hedgerow::kernels::{
    Betweenness, Bfs, Communities, Cores, GraphView, Kernel, KernelError, LocalClustering, Neighborhood,
    PageRank, Sssp, TriangleCount, Wcc,
};

/// A kernel of the library, compiled here for every engine and for static graphs.
pub trait Compiled: Kernel + Sized {
    /// Runs the kernel; if `symmetric`, like [`Target::compute_symmetric`].
    ///
    /// # Errors
    /// The error of the kernel.
    fn compute(self, target: &Target, symmetric: bool) -> Result<Self::Output, Error>;
}

/// A kernel on a graph whose topology is known at run time, so that both topologies share one
/// compiled copy.
struct WithTopology<K> {
    kernel: K,
    symmetric: bool,
}

impl<K: Kernel> Kernel for WithTopology<K> {
    type Output = K::Output;

    fn run<V: GraphView>(self, view: &V) -> Result<K::Output, KernelError> {
        self.kernel.run(&Symmetric { view, is_on: self.symmetric })
    }
}

/// Implements [`Compiled`] for kernels. The methods are not generic, so that they are compiled
/// here.
macro_rules! compiled {
    ($($kernel:ty),* $(,)?) => {
        $(impl Compiled for $kernel {
            #[inline(never)]
            fn compute(self, target: &Target, symmetric: bool) -> Result<Self::Output, Error> {
                target.run(WithTopology { kernel: self, symmetric })
            }
        })*
    };
}

compiled!(
    Betweenness<'_>,
    Bfs<'_>,
    Communities<'_>,
    Cores<'_>,
    LocalClustering<'_>,
    Neighborhood<'_>,
    PageRank<'_>,
    Sssp<'_, f64>,
    Sssp<'_, u32>,
    TriangleCount<'_>,
    Wcc<'_>,
);
