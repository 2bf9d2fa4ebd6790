//! The edges that a search for paths follows, and their weights.

use crate::error::{Error, Reason};
use hedgerow_encoding::EdgeWeight;
use hedgerow_erased::ErasedView;
use hedgerow_model::{Direction, LabelId, ReadError, VertexId};
use hedgerow_pipeline::ViewReads;
use hedgerow_sync::CancelToken;

/// The edges of one label in a state.
pub(super) struct FollowedEdges<'s> {
    /// Behind virtual calls, so that a search is compiled once.
    pub(super) reads: ViewReads<'s, ErasedView<'s>>,
    pub(super) label: LabelId,
    /// The weight of an edge; `None` is 1. An edge without the property is not followed.
    pub(super) weight: Option<EdgeWeight>,
    /// True if edges can be followed backwards.
    pub(super) is_reversible: bool,
    pub(super) cancel: Option<&'s CancelToken>,
}

impl FollowedEdges<'_> {
    pub(super) fn are_weighted(&self) -> bool {
        self.weight.is_some()
    }

    /// Visits the neighbors of a vertex with the weights of the edges, ascending by id; once for
    /// each of several parallel edges, if they have weights.
    ///
    /// Fails if the search was cancelled, which it thus notices at each vertex.
    pub(super) fn for_each(
        &self,
        vertex: VertexId,
        direction: Direction,
        visit: &mut dyn FnMut(VertexId, f64),
    ) -> Result<(), Error> {
        if self.cancel.is_some_and(CancelToken::is_cancelled) {
            return Err(Reason::Cancelled("the search for paths").into());
        }
        let mut wrong: Option<(VertexId, f64)> = None;
        let mut pass = |neighbor, weight: f64| match weight >= 0.0 && weight.is_finite() {
            true => visit(neighbor, weight),
            false => wrong = wrong.or(Some((neighbor, weight))),
        };
        match self.weight {
            None => {
                self.reads
                    .neighbor_values(self.label, direction, vertex, &mut |neighbor, _| pass(neighbor, 1.0))?;
            }
            Some(weight @ EdgeWeight::Value(_)) => {
                self.reads.neighbor_values(self.label, direction, vertex, &mut |neighbor, value| {
                    pass(neighbor, weight.of_value(value));
                })?;
            }
            Some(weight @ EdgeWeight::Property(_)) => {
                self.reads.neighbor_records(self.label, direction, vertex, 0..=u64::MAX, &mut |edge| {
                    let weight = weight.of_record(edge.record);
                    let weight = weight.map_err(|error| ReadError::new("the record of an edge", error))?;
                    weight.into_iter().for_each(|weight| pass(edge.neighbor, weight));
                    Ok(())
                })?;
            }
        }
        match wrong {
            None => Ok(()),
            Some((neighbor, weight)) => {
                let (from, to) = (self.reads.key(vertex), self.reads.key(neighbor));
                Err(Reason::BadWeight { from, to, weight }.into())
            }
        }
    }
}
