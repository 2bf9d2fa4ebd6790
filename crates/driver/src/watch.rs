//! How a run is watched and stopped.

use crate::Failure;
use hedgerow::kernels::CancelToken;

/// How a run is watched and stopped. By default nobody watches.
#[derive(Clone, Default)]
pub struct Watch<'a> {
    /// Stops the run at the next opportunity.
    pub cancel: CancelToken,
    /// Hears of every step as it begins.
    pub progress: Option<&'a dyn Fn(&Step)>,
}

/// What is being done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// How many workloads are done, and how many there are; `None` while the data set is made.
    pub position: Option<(usize, usize)>,
    /// What is being done, in words.
    pub what: String,
}

impl Watch<'_> {
    /// Tells whoever watches.
    pub(crate) fn begin(&self, step: &Step) {
        if let Some(progress) = self.progress {
            progress(step);
        }
    }

    /// A failure once the run is to stop.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        check(&self.cancel)
    }
}

/// A failure once `cancel` is raised.
pub(crate) fn check(cancel: &CancelToken) -> Result<(), Failure> {
    if cancel.is_cancelled() { Err(Failure::Cancelled) } else { Ok(()) }
}

impl std::fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").field("cancel", &self.cancel).finish_non_exhaustive()
    }
}
