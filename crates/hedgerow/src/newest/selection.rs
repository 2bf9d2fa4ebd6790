//! The newest of all edges of a vertex in a view.

use super::dated::{Dated, sort_newest_first};
use super::{Clock, Newest};
use crate::error::{Reason, read_failed};
use crate::records::{KeptAlive, decoded_value, each_fetched_ahead, prefetch_behind};
use crate::state::ViewReads;
use hedgerow_model::{
    Adjacency, Column, ColumnType, Cursor, Direction, EdgeValue, Engine, GraphView, LabelId, ValueRef,
    VertexId, with_column,
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

/// Above so many edges more than are wanted, those that are not among the newest go.
const SPARE: usize = 64;

/// The newest of the edges that were seen.
struct Selection<'n> {
    wanted: &'n Newest,
    /// All that may be among them, in no order.
    found: Vec<Dated>,
    /// Nothing up to this is among them.
    oldest: Option<Dated>,
}

impl<'n> Selection<'n> {
    fn new(wanted: &'n Newest) -> Self {
        Selection { wanted, found: Vec::with_capacity(wanted.most.min(SPARE)), oldest: None }
    }

    /// O(1) amortised, or O(seen / wanted) if few are wanted.
    fn see(&mut self, time: i64, neighbour: VertexId, key: u64, value: EdgeValue) {
        if !self.wanted.times.contains(&time) {
            return;
        }
        let dated = Dated { time, neighbour: Reverse(neighbour), key: Reverse(key), value: value.0 };
        if self.oldest.is_some_and(|oldest| dated <= oldest) {
            return;
        }
        self.found.push(dated);
        if self.found.len() >= self.wanted.most.saturating_mul(2).saturating_add(SPARE) {
            self.drop_older();
        }
    }

    /// Leaves as many as are wanted, the newest. O(found).
    fn drop_older(&mut self) {
        let most = self.wanted.most;
        if self.found.len() > most {
            let (_, first_older, _) = self.found.select_nth_unstable_by(most, |one, other| other.cmp(one));
            self.oldest = Some(*first_older);
            self.found.truncate(most);
        }
    }

    /// Sees the edges of a vertex by the commits that put them, until those that follow are too old.
    fn see_commits<C: Cursor>(&mut self, cursor: &mut C, vertex: VertexId) -> Result<(), C::Error> {
        // How many are still wanted, and the time of the last of them.
        let (mut missing, mut last) = (self.wanted.most, None);
        let flow = cursor.newest_first(vertex, |neighbour, value, commit| {
            let time = commit.0 as i64;
            // What one commit put is seen whole, so that its lower ids are found.
            let is_full = missing == 0 && last.is_none_or(|last| time < last);
            if is_full || time < *self.wanted.times.start() {
                return ControlFlow::Break(());
            }
            if missing > 0 && self.wanted.times.contains(&time) {
                (missing, last) = (missing - 1, Some(time));
            }
            self.see(time, neighbour, 0, value.to_bits());
            ControlFlow::Continue(())
        })?;
        // Either way, all that is wanted was seen.
        let (ControlFlow::Continue(()) | ControlFlow::Break(())) = flow;
        Ok(())
    }

    /// Sees all edges of a vertex by the integers beside them.
    fn see_values<C: Cursor>(&mut self, cursor: &mut C, vertex: VertexId) -> Result<(), C::Error> {
        let time = |value| Ok(Some(time_of(C::Value::TYPE, value)));
        self.see_all::<C, std::convert::Infallible>(cursor, vertex, time).map(|Ok(())| ())
    }

    /// Sees all edges of a vertex, which may be parallel, up to the first whose time cannot be told.
    fn see_parallel<C: Cursor>(
        &mut self,
        cursor: &mut C,
        vertex: VertexId,
        (records, label): (&KeptAlive<'_>, LabelId),
        time: impl Fn(u64, &[u8]) -> Result<Option<i64>, Reason>,
    ) -> Result<Result<(), Reason>, C::Error> {
        self.see_each(cursor, vertex, |selection, neighbour, value| {
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

    /// Sees all edges of a vertex, up to the first whose time cannot be told.
    fn see_all<C: Cursor, E>(
        &mut self,
        cursor: &mut C,
        vertex: VertexId,
        time: impl Fn(EdgeValue) -> Result<Option<i64>, E>,
    ) -> Result<Result<(), E>, C::Error> {
        self.see_each(cursor, vertex, |selection, neighbour, value| {
            if let Some(time) = time(value)? {
                selection.see(time, neighbour, 0, value);
            }
            Ok(())
        })
    }

    /// Hands over what leads to each neighbour of a vertex, up to the first that fails.
    fn see_each<C: Cursor, E>(
        &mut self,
        cursor: &mut C,
        vertex: VertexId,
        mut see: impl FnMut(&mut Self, VertexId, EdgeValue) -> Result<(), E>,
    ) -> Result<Result<(), E>, C::Error> {
        let flow = cursor.neighbours(vertex, |neighbours, values| {
            for (position, (neighbour, value)) in neighbours.iter().zip(values).enumerate() {
                prefetch_behind(values, position);
                if let Err(error) = see(self, *neighbour, value.to_bits()) {
                    return ControlFlow::Break(error);
                }
            }
            ControlFlow::Continue(())
        })?;
        Ok(flow.break_value().map_or(Ok(()), Err))
    }

    fn newest_first(mut self) -> Vec<Dated> {
        self.drop_older();
        sort_newest_first(&mut self.found);
        self.found
    }
}

/// The time that a property of an encoded record says.
fn time_in(record: &[u8], position: usize) -> Result<Option<i64>, Reason> {
    decoded_value(record, position).map(|value| match value {
        ValueRef::Timestamp(time) | ValueRef::I64(time) => Some(time),
        _ => None,
    })
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
        let column = schema.edges.column();
        let clock = wanted.clock(schema)?;
        // Pinned before the values are read that lead to the records, until these are.
        let guard = epoch::pin();
        let records = self.store.records.seen_by(self.view, &guard);
        let of = (label, direction, vertex);
        let newest = with_column!(column, W => self.newest::<W>(of, &records, wanted, clock))?;
        let mut visit = |dated: &Dated, record| {
            let Dated { neighbour: Reverse(neighbour), key: Reverse(key), value, .. } = *dated;
            visit(NewestEdge { neighbour, key, value: EdgeValue(value), record })
        };
        let handle = |dated: &Dated| EdgeValue(dated.value);
        match (records.one_each(label), schema.edges.record()) {
            (Some(one_each), _) => {
                each_fetched_ahead(&newest, handle, |dated| visit(dated, one_each.record(handle(dated))))
            }
            (None, Some(_)) => each_fetched_ahead(&newest, handle, |dated| {
                let edges = records.parallel(label, handle(dated));
                let found = edges.map(|edges| edges.find(dated.key.0)).transpose()?.flatten();
                visit(dated, found.unwrap_or_default())
            }),
            (None, None) => newest.iter().try_for_each(|dated| visit(dated, &[])),
        }
    }

    fn newest<W: Column>(
        &self,
        (label, direction, vertex): (LabelId, Direction, VertexId),
        records: &KeptAlive<'_>,
        wanted: &Newest,
        clock: Clock,
    ) -> Result<Vec<Dated>, Reason> {
        let adjacency = self.view.adjacency::<W>(label, direction)?;
        let mut cursor = adjacency.cursor();
        let mut selection = Selection::new(wanted);
        match clock {
            Clock::Commit if !<V::Adjacency<'_, W> as Adjacency>::KEEPS_COMMIT_ORDER => {
                return Err(Reason::NoCommitOrder);
            }
            Clock::Commit => selection.see_commits(&mut cursor, vertex).map_err(read_failed)?,
            Clock::Value => selection.see_values(&mut cursor, vertex).map_err(read_failed)?,
            Clock::Key => {
                let time = |key, _: &[u8]| Ok(key_time(key));
                selection
                    .see_parallel(&mut cursor, vertex, (records, label), time)
                    .map_err(read_failed)??;
            }
            Clock::Property(position) if self.store.records.are_parallel(label) => {
                let time = |_, record: &[u8]| time_in(record, position);
                selection
                    .see_parallel(&mut cursor, vertex, (records, label), time)
                    .map_err(read_failed)??;
            }
            Clock::Property(position) => {
                if let Some(records) = records.one_each(label) {
                    let time = |value| time_in(records.record(value), position);
                    selection.see_all(&mut cursor, vertex, time).map_err(read_failed)??;
                }
            }
        }
        Ok(selection.newest_first())
    }
}
