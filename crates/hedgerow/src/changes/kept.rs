//! A computation that is kept up to date with a graph.

use super::{StreamView, SubscribeOptions};
use crate::error::{Error, ErrorKind};
use crate::graph::Graph;
use crate::snapshot::Snapshot;
use hedgerow_kernels::{Execution, Follow};
use std::fmt;

/// A computation whose result is kept up to date with a graph: each
/// [refresh](Kept::refresh) lets it [follow](Follow) the commits since the one before, or begin
/// anew where that cannot be done, and the result is that of one state, the
/// [snapshot](Kept::snapshot).
///
/// ```
/// use hedgerow::kernels::{Components, Execution};
/// use hedgerow::prelude::*;
/// use hedgerow::Topology;
///
/// let options = GraphOptions::new().topology(Topology::Undirected).label::<()>("knows");
/// let graph = Graph::in_memory(options)?;
/// let knows = graph.label::<()>("knows")?;
/// graph.put_each(knows, &[(1, 2), (2, 3), (4, 5)])?;
///
/// let mut components = graph.keep(Components::default().label(knows), Execution::default())?;
/// assert_eq!(components.result().count(), 2);
/// graph.delete_edge(knows, 1, 2)?;
/// assert_eq!(components.refresh()?.count(), 3);
/// assert_eq!(components.snapshot().timestamp(), graph.snapshot()?.timestamp());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Kept<'e, C> {
    graph: Graph,
    view: StreamView,
    computation: C,
    execution: Execution<'e>,
    /// False after an error of the computation.
    is_current: bool,
}

impl<C: fmt::Debug> fmt::Debug for Kept<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Kept { view, computation, .. } = self;
        f.debug_struct("Kept").field("view", view).field("computation", computation).finish_non_exhaustive()
    }
}

impl Graph {
    /// Keeps the result of a computation up to date: begins it with the newest state, and
    /// subscribes to what is committed after it, durable or not.
    ///
    /// # Errors
    /// As [`Graph::follow`] and [`Snapshot::begin`].
    pub fn keep<'e, C: Follow>(
        &self,
        mut computation: C,
        execution: Execution<'e>,
    ) -> Result<Kept<'e, C>, Error> {
        let view = self.follow(&subscribed())?;
        view.snapshot().begin(&mut computation, execution)?;
        Ok(Kept { graph: self.clone(), view, computation, execution, is_current: true })
    }
}

fn subscribed() -> SubscribeOptions {
    SubscribeOptions::new().undurable(true)
}

impl<C: Follow> Kept<'_, C> {
    /// Brings the result up to date with the newest state, and returns it. If changes are
    /// [lost](ErrorKind::ChangesLost), because there were too many since the last time, the
    /// computation begins anew. O(changes) besides the computation.
    ///
    /// # Errors
    /// As [`StreamView::advance`], after which the result is as before; or the error of the
    /// computation, after which it is that of an empty graph until a refresh succeeds.
    pub fn refresh(&mut self) -> Result<&C, Error> {
        match self.view.advance() {
            Err(error) if error.kind() == ErrorKind::ChangesLost => {
                self.view = self.graph.follow(&subscribed())?;
                self.is_current = false;
            }
            advanced => drop(advanced?),
        }
        let Kept { view, computation, execution, is_current, .. } = self;
        let snapshot = view.snapshot();
        let followed = match view.before() {
            Some(before) if *is_current => snapshot.follow(before, view.changes(), computation, *execution),
            _ => snapshot.begin(computation, *execution),
        };
        *is_current = followed.is_ok();
        followed?;
        Ok(computation)
    }

    /// Returns the result as of the last refresh.
    #[must_use]
    pub fn result(&self) -> &C {
        &self.computation
    }

    /// Returns the state that the result is of.
    #[must_use]
    pub fn snapshot(&self) -> &Snapshot {
        self.view.snapshot()
    }
}
