//! The newest edges of a vertex in a view.

use super::dated::Dated;
use super::selection::{HandOver, Selection};
use super::{Clock, Newest};
use crate::error::{Reason, read_failed};
use crate::records::{KeptAlive, each_fetched_ahead, prefetch_behind, time_in};
use crate::state::ViewReads;
use hedgerow_model::{
    Adjacency, Column, ColumnType, Cursor, Direction, EdgeValue, Engine, GraphView, LabelId, LabelSchema,
    ReadError, RecordSchema, Timestamp, VertexId, with_column,
};
use hedgerow_sync::epoch;
use std::cmp::Reverse;
use std::ops::ControlFlow;

/// One of the newest edges.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewestEdge<'e> {
    /// Where it leads.
    pub(crate) neighbour: VertexId,
    /// Which of parallel edges it is; 0 where there are none such.
    pub(crate) key: u64,
    /// What lies beside the neighbour.
    pub(crate) value: EdgeValue,
    /// Its record, encoded, if the label has records.
    pub(crate) record: &'e [u8],
}

/// Is handed an edge.
pub(crate) type VisitEdge<'v> = dyn FnMut(NewestEdge<'_>) -> Result<(), Reason> + 'v;

/// One read of the newest edges of a vertex.
struct Pass<'p, C> {
    cursor: C,
    vertex: VertexId,
    selection: Selection<'p>,
    hand_over: &'p mut HandOver<'p>,
}

impl<C: Cursor<Error: Into<ReadError>>> Pass<'_, C> {
    /// Sees edges from the one that was put last on, until those that follow are too old. The time of none exceeds that of one before by more
    /// than `lateness`.
    fn see_from_last(
        &mut self,
        lateness: u64,
        time: impl Fn(EdgeValue, Timestamp) -> Result<Option<i64>, Reason>,
    ) -> Result<(), Reason> {
        let Pass { cursor, vertex, selection, hand_over } = self;
        let mut see = |neighbour, value, commit| {
            let Some(time) = time(value, commit)? else { return Ok(true) };
            let latest_behind = time.saturating_add_unsigned(lateness);
            selection.see(time, neighbour, 0, value);
            selection.settle(latest_behind, *hand_over)?;
            Ok(selection.may_want(latest_behind))
        };
        let flow = cursor.newest_first(*vertex, |neighbour, value, commit| {
            match see(neighbour, value.to_bits(), commit) {
                Ok(true) => ControlFlow::Continue(()),
                Ok(false) => ControlFlow::Break(Ok(())),
                Err(error) => ControlFlow::Break(Err(error)),
            }
        });
        flow.map_err(read_failed)?.break_value().unwrap_or(Ok(()))
    }

    /// By how much, at most, the time of an edge exceeds that of one that was put later, if that is known.
    fn lateness(&mut self) -> Result<Option<u64>, Reason> {
        self.cursor.lateness(self.vertex).map_err(read_failed)
    }

    /// Sees all edges.
    fn see_all(&mut self, time: impl Fn(EdgeValue) -> Result<Option<i64>, Reason>) -> Result<(), Reason> {
        self.see_each(|selection, neighbour, value| {
            if let Some(time) = time(value)? {
                selection.see(time, neighbour, 0, value);
            }
            Ok(())
        })
    }

    /// Sees all edges, which may be parallel.
    fn see_parallel(
        &mut self,
        (records, label): (&KeptAlive<'_>, LabelId),
        time: impl Fn(u64, &[u8]) -> Result<Option<i64>, Reason>,
    ) -> Result<(), Reason> {
        self.see_each(|selection, neighbour, value| {
            let edges =
                records.parallel(label, value).into_iter().flat_map(|edges| edges.edges(0..=u64::MAX));
            for edge in edges {
                let (key, record) = edge?;
                if let Some(time) = time(key, record)? {
                    selection.see(time, neighbour, key, value);
                }
            }
            Ok(())
        })
    }

    /// Sees what leads to each neighbour, up to the first that fails.
    fn see_each(
        &mut self,
        mut see: impl FnMut(&mut Selection<'_>, VertexId, EdgeValue) -> Result<(), Reason>,
    ) -> Result<(), Reason> {
        let selection = &mut self.selection;
        let flow = self.cursor.neighbours(self.vertex, |neighbours, values| {
            for (position, (neighbour, value)) in neighbours.iter().zip(values).enumerate() {
                prefetch_behind(values, position);
                if let Err(error) = see(selection, *neighbour, value.to_bits()) {
                    return ControlFlow::Break(error);
                }
            }
            ControlFlow::Continue(())
        });
        flow.map_err(read_failed)?.break_value().map_or(Ok(()), Err)
    }
}

impl<E: Engine, V: GraphView> ViewReads<'_, E, V> {
    /// Visits the edges of a vertex newest first.
    pub(crate) fn visit_newest(
        &self,
        label: LabelId,
        direction: Direction,
        vertex: VertexId,
        wanted: &Newest,
        visit: &mut VisitEdge<'_>,
    ) -> Result<(), Reason> {
        let schema = self.schema(label)?;
        // Pinned before the values are read that lead to the records, until these are.
        let guard = epoch::pin();
        let records = self.store.records.seen_by(self.view, &guard);
        let mut visit = |dated: &Dated, record: &[u8]| {
            let Dated { neighbour: Reverse(neighbour), key: Reverse(key), value, .. } = *dated;
            visit(NewestEdge { neighbour, key, value: EdgeValue(value), record })
        };
        let handle = |dated: &Dated| EdgeValue(dated.value);
        let mut hand_over = |newest: &[Dated]| match (records.one_each(label), schema.edges.record()) {
            (Some(one_each), _) => {
                each_fetched_ahead(newest, handle, |dated| visit(dated, one_each.record(handle(dated))))
            }
            (None, Some(_)) => each_fetched_ahead(newest, handle, |dated| {
                let edges = records.parallel(label, handle(dated));
                let found = edges.map(|edges| edges.find(dated.key.0)).transpose()?.flatten();
                visit(dated, found.unwrap_or_default())
            }),
            (None, None) => newest.iter().try_for_each(|dated| visit(dated, &[])),
        };
        let of = (label, direction, vertex);
        with_column!(schema.edges.column(), W => self.newest::<W>(of, schema, &records, wanted, &mut hand_over))
    }

    /// Hands over the edges of a vertex newest first.
    fn newest<W: Column>(
        &self,
        (label, direction, vertex): (LabelId, Direction, VertexId),
        schema: &LabelSchema,
        records: &KeptAlive<'_>,
        wanted: &Newest,
        hand_over: &mut HandOver<'_>,
    ) -> Result<(), Reason> {
        let adjacency = self.view.adjacency::<W>(label, direction)?;
        let (cursor, selection) = (adjacency.cursor(), Selection::new(wanted));
        let mut pass = Pass { cursor, vertex, selection, hand_over };
        match wanted.clock(schema)? {
            Clock::Commit if !<V::Adjacency<'_, W> as Adjacency>::KEEPS_COMMIT_ORDER => {
                return Err(Reason::NoCommitOrder);
            }
            _ if pass.selection.is_complete() => {}
            Clock::Commit => pass.see_from_last(0, |_, commit| Ok(Some(commit.0 as i64)))?,
            Clock::Value => pass.see_all(|value| Ok(Some(time_of(W::TYPE, value))))?,
            Clock::Key => pass.see_parallel((records, label), |key, _| Ok(key_time(key)))?,
            Clock::Property(position) if self.store.records.are_parallel(label) => {
                pass.see_parallel((records, label), |_, record| time_in(record, position))?;
            }
            Clock::Property(position) => {
                let Some(records) = records.one_each(label) else { return Ok(()) };
                let time = |value| time_in(records.record(value), position);
                let is_of_label = schema.edges.record().and_then(RecordSchema::time) == Some(position);
                let lateness = if is_of_label { pass.lateness()? } else { None };
                match lateness {
                    Some(lateness) => pass.see_from_last(lateness, |value, _| time(value))?,
                    None => pass.see_all(time)?,
                }
            }
        }
        pass.selection.finish(pass.hand_over)
    }
}

/// The key of parallel edges as a time; the largest there is if it is larger.
pub(super) fn key_time(key: u64) -> Option<i64> {
    Some(i64::try_from(key).unwrap_or(i64::MAX))
}

/// An integer of a column as a time; the largest there is if it is larger.
pub(super) fn time_of(column: ColumnType, value: EdgeValue) -> i64 {
    match column {
        ColumnType::I64 => i64::from_bits(value),
        ColumnType::U32 => i64::from(u32::from_bits(value)),
        _ => i64::try_from(value.0).unwrap_or(i64::MAX),
    }
}
