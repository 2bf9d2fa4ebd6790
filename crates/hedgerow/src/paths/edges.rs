//! The edges that a search for paths follows, and their weights.

use crate::error::{Error, Reason};
use hedgerow_model::{Column, ColumnType, Direction, EdgeValue, LabelId, Value, VertexId};
use hedgerow_pipeline::{Error as Cause, StateReads, decoded};
use hedgerow_sync::CancelToken;

/// The weight of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EdgeWeight {
    /// 1.
    One,
    /// The value, of this type.
    Value(ColumnType),
    /// The property at this position; an edge without it is not followed.
    Property(usize),
}

/// The edges of one label in a state.
pub(super) struct FollowedEdges<'s> {
    pub(super) state: &'s dyn StateReads,
    pub(super) label: LabelId,
    pub(super) weight: EdgeWeight,
    /// True if edges can be followed backwards.
    pub(super) is_reversible: bool,
    pub(super) cancel: Option<&'s CancelToken>,
}

impl FollowedEdges<'_> {
    pub(super) fn are_weighted(&self) -> bool {
        self.weight != EdgeWeight::One
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
            return Err(Reason::PathCancelled.into());
        }
        let mut wrong: Option<(VertexId, f64)> = None;
        let mut pass = |neighbor, weight: f64| match weight >= 0.0 && weight.is_finite() {
            true => visit(neighbor, weight),
            false => wrong = wrong.or(Some((neighbor, weight))),
        };
        match self.weight {
            EdgeWeight::One => {
                self.state
                    .neighbors(self.label, direction, vertex, &mut |neighbor, _| pass(neighbor, 1.0))?;
            }
            EdgeWeight::Value(column) => {
                self.state.neighbors(self.label, direction, vertex, &mut |neighbor, value| {
                    pass(neighbor, number(column, value));
                })?;
            }
            EdgeWeight::Property(position) => {
                let mut failed: Option<Cause> = None;
                let visit = &mut |neighbor, record: &[u8]| match decoded(record) {
                    Ok(record) => {
                        let weight = record.values().get(position).and_then(property);
                        weight.into_iter().for_each(|weight| pass(neighbor, weight));
                    }
                    Err(error) => failed = failed.take().or(Some(error)),
                };
                self.state.neighbor_records(self.label, direction, vertex, visit)?;
                failed.map_or(Ok(()), Err)?;
            }
        }
        match wrong {
            None => Ok(()),
            Some((neighbor, weight)) => {
                let (from, to) = (self.state.key(vertex), self.state.key(neighbor));
                Err(Reason::BadWeight { from, to, weight }.into())
            }
        }
    }
}

fn number(column: ColumnType, value: EdgeValue) -> f64 {
    match column {
        ColumnType::Unit | ColumnType::Record => 1.0,
        ColumnType::U32 => f64::from(<u32 as Column>::from_bits(value)),
        ColumnType::U64 => <u64 as Column>::from_bits(value) as f64,
        ColumnType::I64 => <i64 as Column>::from_bits(value) as f64,
        ColumnType::F32 => f64::from(<f32 as Column>::from_bits(value)),
        ColumnType::F64 => <f64 as Column>::from_bits(value),
    }
}

/// Returns a property as a number; `None` for null.
fn property(value: &Value) -> Option<f64> {
    match *value {
        Value::I64(number) => Some(number as f64),
        Value::U64(number) => Some(number as f64),
        Value::F64(number) => Some(number),
        _ => None,
    }
}
