//! Neighbors in both directions.

use hedgerow_model::{Adjacency, Cursor, ReadError, VertexId};
use std::ops::ControlFlow;

/// Reads the neighbors of a vertex, whatever the direction of the edges.
pub(super) struct EitherWay<'a, A: Adjacency + 'a> {
    outgoing: A::Cursor<'a>,
    /// `None` in an undirected graph.
    incoming: Option<A::Cursor<'a>>,
}

impl<'a, A: Adjacency> EitherWay<'a, A> {
    pub(super) fn new(outgoing: &'a A, incoming: Option<&'a A>) -> Self {
        EitherWay { outgoing: outgoing.cursor(), incoming: incoming.map(A::cursor) }
    }

    /// Visits the neighbors of a vertex after the first `skip`, until `visit` breaks. A neighbor in
    /// both directions is visited twice.
    #[inline]
    pub(super) fn each<B>(
        &mut self,
        vertex: VertexId,
        mut skip: usize,
        mut visit: impl FnMut(VertexId) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        for cursor in std::iter::once(&mut self.outgoing).chain(&mut self.incoming) {
            let walked = cursor.neighbors(vertex, |run, _| {
                let skipped = skip.min(run.len());
                skip -= skipped;
                run[skipped..].iter().try_for_each(|neighbor| visit(*neighbor))
            })?;
            if walked.is_break() {
                return Ok(walked);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Returns true if there is an edge between two vertices.
    pub(super) fn are_joined(&mut self, one: VertexId, other: VertexId) -> Result<bool, ReadError> {
        let is_directed = self.incoming.is_some();
        Ok(self.outgoing.find(one, other)?.is_some()
            || is_directed && self.outgoing.find(other, one)?.is_some())
    }
}
