//! Progress and cancellation of a run.

use crate::Failure;
use hedgerow::kernels::CancelToken;

/// Progress callback and cancellation of a run. By default there is no callback.
#[derive(Clone, Default)]
pub struct Watch<'a> {
    /// Stops the run at the next opportunity.
    pub cancel: CancelToken,
    /// Called when a step begins.
    pub progress: Option<&'a dyn Fn(&Step)>,
}

/// A step of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The number of finished workloads and of all workloads; `None` while the data set is made.
    pub position: Option<(usize, usize)>,
    /// A description of the step.
    pub what: String,
}

impl Watch<'_> {
    /// Calls the progress callback, if there is one.
    pub(crate) fn begin(&self, step: &Step) {
        if let Some(progress) = self.progress {
            progress(step);
        }
    }

    /// Fails if the run was canceled.
    ///
    /// # Errors
    /// It was.
    pub fn check(&self) -> Result<(), Failure> {
        check(&self.cancel)
    }
}

/// Fails if `cancel` is raised.
///
/// # Errors
/// It is.
pub fn check(cancel: &CancelToken) -> Result<(), Failure> {
    if cancel.is_cancelled() { Err(Failure::Cancelled) } else { Ok(()) }
}

impl std::fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").field("cancel", &self.cancel).finish_non_exhaustive()
    }
}
