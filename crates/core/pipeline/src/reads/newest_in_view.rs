//! The newest edges of a vertex in a view.

use super::Newest;
use super::dated::{Dated, EdgeContent};
use super::newest::{NewestBy, place_of, place_of_value};
use super::selection::{HandOver, Selection};
use crate::error::Error;
use crate::reads::ViewReads;
use crate::reads::records::{LentEdge, VisitEdge};
use crate::records::time_in;
use hedgerow_model::{
    Adjacency, Column, ColumnType, Cursor, Direction, EdgeSchema, EdgeValue, GraphView, KeyRef, LabelId,
    ParallelEdges, ReadError, RecordCursor, VertexId, with_width,
};
use std::cmp::Reverse;
use std::ops::ControlFlow;

/// Collects the newest of the edges seen so far, and passes them on.
struct NewestReading<'p, 'h, 'r> {
    selection: Selection<'r>,
    hand_over: &'p mut HandOver<'h>,
}

impl<'r> NewestReading<'_, '_, 'r> {
    /// Takes an edge in a sequence in which no later edge exceeds its time by more than `disorder`.
    /// Breaks when all later edges are too old. Skips edges without a time.
    #[inline]
    fn see_in_order(
        &mut self,
        time: Result<Option<i64>, Error>,
        disorder: u64,
        neighbor: VertexId,
        beside: EdgeContent<'r>,
    ) -> ControlFlow<Result<(), Error>> {
        let time = match time {
            Ok(Some(time)) => time,
            Ok(None) => return ControlFlow::Continue(()),
            Err(error) => return ControlFlow::Break(Err(error)),
        };
        let latest_behind = time.saturating_add_unsigned(disorder);
        self.selection.see(time, neighbor, 0, beside);
        if let Err(error) = self.selection.settle(latest_behind, self.hand_over) {
            return ControlFlow::Break(Err(error));
        }
        match self.selection.may_want(latest_behind) {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(Ok(())),
        }
    }

    /// Takes an edge in any order. Skips edges without a time.
    #[inline]
    fn see(
        &mut self,
        time: Result<Option<i64>, Error>,
        neighbor: VertexId,
        key: u64,
        beside: EdgeContent<'r>,
    ) -> ControlFlow<Result<(), Error>> {
        match time {
            Ok(time) => {
                time.into_iter().for_each(|time| self.selection.see(time, neighbor, key, beside));
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(Err(error)),
        }
    }

    fn finish(self) -> Result<(), Error> {
        self.selection.finish(self.hand_over)
    }
}

/// The result of a pass over the edges of a vertex.
type Passed = ControlFlow<Result<(), Error>>;

/// The result of a pass over the edges of a vertex.
fn passed(flow: Result<Passed, ReadError>) -> Result<(), Error> {
    flow?.break_value().unwrap_or(Ok(()))
}

/// The result of a pass by descending commits.
fn passed_in_order(flow: Result<Option<Passed>, ReadError>) -> Result<(), Error> {
    flow?.ok_or(Error::NoCommitOrder)?.break_value().unwrap_or(Ok(()))
}

impl<V: GraphView> ViewReads<'_, V> {
    /// Visits the edges of a vertex newest first; none if it does not exist.
    ///
    /// # Errors
    /// The key is of another kind than the graph's, the label's edges have no such time, the engine
    /// keeps no such order, the view cannot be read, or the error of `visit`.
    pub(super) fn visit_newest(
        &self,
        label: LabelId,
        direction: Direction,
        key: KeyRef<'_>,
        wanted: &Newest,
        visit: &mut VisitEdge<'_>,
    ) -> Result<(), Error> {
        let schema = self.schema(label)?;
        let clock = wanted.clock(schema)?;
        if clock == NewestBy::Commit && self.staged.is_some() {
            return Err(Error::NoCommitOrderOfStaged);
        }
        let Some(vertex) = self.owner(key)? else { return Ok(()) };
        let mut hand_over = |newest: &[Dated<'_>]| {
            newest.iter().try_for_each(|dated| {
                let Dated { neighbor: Reverse(neighbor), key: Reverse(key), beside, .. } = *dated;
                let (value, record) = match beside {
                    EdgeContent::Value(value) => (EdgeValue(value), &[][..]),
                    EdgeContent::Record(record) => (EdgeValue::default(), record),
                };
                visit(LentEdge { neighbor, key, value, record })
            })
        };
        let of = (label, direction, vertex);
        let selection = Selection::new(wanted.most, wanted.places(clock, &schema.edges));
        match &schema.edges {
            EdgeSchema::Record(record) => {
                let is_of_label = clock == NewestBy::Commit
                    || matches!(clock, NewestBy::Property(position) if record.time() == Some(position));
                self.newest_records(of, clock, is_of_label, selection, &mut hand_over)
            }
            EdgeSchema::Parallel(_) => self.newest_parallel(of, clock, selection, &mut hand_over),
            EdgeSchema::Topology | EdgeSchema::Value(_) => {
                let column = schema.edges.column();
                with_width!(column, W => self.newest_values::<W>(of, column, clock, selection, &mut hand_over))
            }
        }
    }

    /// Visits the edges of a vertex newest first, by their values or by their commits.
    fn newest_values<W: Column>(
        &self,
        (label, direction, vertex): (LabelId, Direction, VertexId),
        column: ColumnType,
        clock: NewestBy,
        selection: Selection<'_>,
        hand_over: &mut HandOver<'_>,
    ) -> Result<(), Error> {
        let adjacency = self.view.adjacency::<W>(label, direction)?;
        let mut cursor = adjacency.cursor();
        let is_complete = selection.is_complete();
        let mut reading = NewestReading { selection, hand_over };
        match clock {
            NewestBy::Commit => {
                passed_in_order(cursor.newest_first(vertex, |neighbor, value, commit| {
                    if is_complete {
                        return ControlFlow::Break(Ok(()));
                    }
                    let time = Ok(Some(place_of(commit.0)));
                    reading.see_in_order(time, 0, neighbor, EdgeContent::Value(value.to_bits().0))
                }))?;
            }
            _ if is_complete => {}
            NewestBy::Value | NewestBy::Property(_) | NewestBy::Key => {
                passed(cursor.neighbors(vertex, |neighbors, values| {
                    neighbors.iter().zip(values).try_for_each(|(neighbor, value)| {
                        let bits = value.to_bits();
                        reading.see(
                            Ok(Some(place_of_value(column, bits))),
                            *neighbor,
                            0,
                            EdgeContent::Value(bits.0),
                        )
                    })
                }))?;
            }
        }
        reading.finish()
    }

    /// Visits the edges of a vertex newest first, by a property of their records or by their
    /// commits; in the order of the engine, if the engine has an out-of-order bound for this time.
    fn newest_records(
        &self,
        (label, direction, vertex): (LabelId, Direction, VertexId),
        clock: NewestBy,
        is_of_label: bool,
        selection: Selection<'_>,
        hand_over: &mut HandOver<'_>,
    ) -> Result<(), Error> {
        let mut records = self.view.edge_records(label, direction)?;
        let disorder = match clock {
            NewestBy::Commit => Some(0),
            _ if is_of_label => records.time_disorder(vertex)?,
            _ => None,
        };
        let time = |record: &[u8]| match clock {
            NewestBy::Property(position) => time_in(record, position),
            NewestBy::Commit | NewestBy::Value | NewestBy::Key => Ok(None),
        };
        let is_complete = selection.is_complete();
        let mut reading = NewestReading { selection, hand_over };
        match disorder {
            Some(disorder) => passed_in_order(records.newest_first(vertex, |neighbor, record, commit| {
                if is_complete {
                    return ControlFlow::Break(Ok(()));
                }
                let time =
                    if clock == NewestBy::Commit { Ok(Some(place_of(commit.0))) } else { time(record) };
                reading.see_in_order(time, disorder, neighbor, EdgeContent::Record(record))
            }))?,
            None if is_complete => {}
            None => passed(records.neighbors(vertex, |neighbor, record| {
                reading.see(time(record), neighbor, 0, EdgeContent::Record(record))
            }))?,
        }
        reading.finish()
    }

    /// Visits the edges of a vertex that may be parallel, newest first, by their keys or by a
    /// property of their records.
    fn newest_parallel(
        &self,
        (label, direction, vertex): (LabelId, Direction, VertexId),
        clock: NewestBy,
        selection: Selection<'_>,
        hand_over: &mut HandOver<'_>,
    ) -> Result<(), Error> {
        let mut records = self.view.edge_records(label, direction)?;
        let mut reading = NewestReading { selection, hand_over };
        if !reading.selection.is_complete() {
            passed(records.parallel_neighbors(vertex, |neighbor, edges| {
                edges.edges(0..=u64::MAX).try_for_each(|edge| {
                    let (key, record) = match edge {
                        Ok(edge) => edge,
                        Err(error) => return ControlFlow::Break(Err(error.into())),
                    };
                    let time = match clock {
                        NewestBy::Property(position) => time_in(record, position),
                        NewestBy::Key | NewestBy::Value | NewestBy::Commit => Ok(Some(place_of(key))),
                    };
                    reading.see(time, neighbor, key, EdgeContent::Record(record))
                })
            }))?;
        }
        reading.finish()
    }
}
