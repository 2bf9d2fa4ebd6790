//! In-neighbors, whether or not the view keeps them.

use crate::csr::Csr;
use crate::{Execution, KernelError};
use hedgerow_model::{Column, Direction, GraphView, LabelId};
use std::time::{Duration, Instant};

/// A transposed copy of a view that keeps no in-neighbors.
pub(crate) struct Transposed {
    pub(crate) graph: Csr,
    /// Time to build the copy.
    pub(crate) elapsed: Duration,
}

impl Transposed {
    /// Builds a copy with values of type `W`; `None` if the view has in-neighbors.
    pub(crate) fn if_needed<W: Column>(
        view: &impl GraphView,
        label: LabelId,
        execution: Execution<'_>,
    ) -> Result<Option<Self>, KernelError> {
        if view.topology().stored(Direction::In).is_some() {
            return Ok(None);
        }
        let started = Instant::now();
        let graph = Csr::transposed::<_, W>(view, label, execution.build_options())?;
        Ok(Some(Transposed { graph, elapsed: started.elapsed() }))
    }
}

/// Evaluates an expression with the in-neighbors of a view, and their values of type `$W`, or of a
/// transposed copy if the view keeps none. Returns the value, and the time to build the copy if one
/// was built.
///
/// A macro because the two adjacencies have different types. For use where `?` converts to a
/// [`KernelError`].
macro_rules! with_incoming {
    (<$W:ty> $view:expr, $label:expr, $execution:expr, $incoming:ident => $run:expr) => {
        match $crate::incoming::Transposed::if_needed::<$W>($view, $label, $execution)? {
            None => {
                let $incoming = $view.adjacency::<$W>($label, hedgerow_model::Direction::In)?;
                ($run, None)
            }
            Some(transposed) => {
                let out = hedgerow_model::Direction::Out;
                let $incoming = transposed.graph.adjacency::<$W>(hedgerow_model::LabelId::DEFAULT, out)?;
                ($run, Some(transposed.elapsed))
            }
        }
    };
    ($view:expr, $label:expr, $execution:expr, $incoming:ident => $run:expr) => {
        $crate::incoming::with_incoming!(<()> $view, $label, $execution, $incoming => $run)
    };
}

pub(crate) use with_incoming;
