//! In-neighbors, whether or not the view keeps them.

use crate::{Execution, KernelError};
use hedgerow_csr::Csr;
use hedgerow_model::{Direction, GraphView, LabelId};
use std::time::{Duration, Instant};

/// A view turned round, made because it keeps no in-neighbors.
pub(crate) struct Transposed {
    pub(crate) graph: Csr,
    /// How long it took to make.
    pub(crate) elapsed: Duration,
}

impl Transposed {
    /// `None` if the view can be read in both directions as it is.
    pub(crate) fn if_needed(
        view: &impl GraphView,
        label: LabelId,
        execution: Execution<'_>,
    ) -> Result<Option<Self>, KernelError> {
        if view.topology().stored(Direction::In).is_some() {
            return Ok(None);
        }
        let started = Instant::now();
        let graph = Csr::transposed(view, label, execution.build_options())?;
        Ok(Some(Transposed { graph, elapsed: started.elapsed() }))
    }
}

/// Runs an expression with the in-neighbors of a view; of one that keeps none, with those of a
/// transposed copy. Gives the expression's value, and how long the copy took if one was made.
///
/// A macro because the two adjacencies have different types. For use where `?` leads to a [`KernelError`].
macro_rules! with_incoming {
    ($view:expr, $label:expr, $execution:expr, $incoming:ident => $run:expr) => {
        match $crate::incoming::Transposed::if_needed($view, $label, $execution)? {
            None => {
                let $incoming = $view.adjacency::<()>($label, hedgerow_model::Direction::In)?;
                ($run, None)
            }
            Some(transposed) => {
                let out = hedgerow_model::Direction::Out;
                let $incoming = transposed.graph.adjacency::<()>(hedgerow_model::LabelId::DEFAULT, out)?;
                ($run, Some(transposed.elapsed))
            }
        }
    };
}

pub(crate) use with_incoming;
