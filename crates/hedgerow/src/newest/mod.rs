//! Newest-first reads: the edges of a vertex by time, the latest first, as many as are wanted.

mod dated;
mod selection;
mod staged;
mod view;

pub(crate) use view::{NewestEdge, VisitEdge};

use crate::error::{Error, Reason};
use crate::records::{RecordRef, decoded};
use crate::snapshot::{Snapshot, check_adjacency};
use crate::state::StateReads;
use hedgerow_model::{
    AsKey, Column, ColumnType, Direction, EdgeSchema, Key, LabelId, LabelSchema, Record, ValueType, VertexId,
};
use std::ops::RangeInclusive;

/// Which edges of a vertex are read newest first: at most how many, by which time, and from when to when.
///
/// Without more said, the time of an edge is its first property of type `timestamp`, or the integer beside it if its label has
/// values (`u32`, `u64`, `i64`), or the key of parallel edges without such a property. Edges whose time is null are left out. Of equal
/// times the lower vertex id comes first, then the lower key.
///
/// That costs O(degree), and the memory of what is wanted. Engine `tel` notes how far the edges of a vertex were put in the order of their
/// first property of type `timestamp`: by that it reads from the end of the log, and no more than those that are wanted or too late, and those that are
/// earlier than all of them by no more than any edge was late (LiveGraph, section 4). What one commit puts it keeps in that order. Edges that may be parallel, and
/// values, it reads as other engines do.
///
/// ```
/// use hedgerow::{ColumnType, Direction, EdgeSchema, Graph, GraphOptions, LabelId, LabelSchema, Newest};
///
/// let sent = LabelSchema { name: "sent".to_owned(), edges: EdgeSchema::Value(ColumnType::I64) };
/// let graph = Graph::in_memory(GraphOptions::new().label(sent))?;
/// for (to, time) in [(2, 1_700_i64), (3, 1_900), (4, 1_800)] {
///     graph.put_edge_value(LabelId::DEFAULT, 1, to, time)?;
/// }
/// let latest = Newest::most(2).until(1_850);
/// let found = graph.snapshot()?.newest_neighbours::<i64>(LabelId::DEFAULT, Direction::Out, 1, &latest)?;
/// assert_eq!(found, [(4.into(), 1_800), (2.into(), 1_700)]);
/// # Ok::<(), hedgerow::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Newest {
    most: usize,
    order: Order,
    times: RangeInclusive<i64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Order {
    OfLabel,
    Property(String),
    Commit,
}

impl Newest {
    /// At most so many edges.
    #[must_use]
    pub fn most(count: usize) -> Self {
        Newest { most: count, order: Order::OfLabel, times: i64::MIN..=i64::MAX }
    }

    /// Edges of this time or later.
    #[must_use]
    pub fn since(self, time: i64) -> Self {
        Newest { times: time..=*self.times.end(), ..self }
    }

    /// Edges of this time or earlier.
    #[must_use]
    pub fn until(self, time: i64) -> Self {
        Newest { times: *self.times.start()..=time, ..self }
    }

    /// The time is this property of the edge, of type `timestamp` or `i64`.
    #[must_use]
    pub fn by_property(self, name: impl Into<String>) -> Self {
        Newest { order: Order::Property(name.into()), ..self }
    }

    /// The time is the commit that put the edge, or changed what lies on it, as the number of its
    /// [`Timestamp`](crate::Timestamp). Engine `tel` only.
    ///
    /// Costs what is read (LiveGraph, section 4: a log is read from its end). What one commit put has one time; a store that is opened puts what its
    /// checkpoint has, and what its log says after that, in few commits, unless [`GraphOptions::keep_commit_order`](crate::GraphOptions::keep_commit_order)
    /// keeps those of the log apart. Not for labels whose edges may be parallel.
    #[must_use]
    pub fn by_commit(self) -> Self {
        Newest { order: Order::Commit, ..self }
    }

    /// What says the time on the edges of a label.
    pub(crate) fn clock(&self, label: &LabelSchema) -> Result<Clock, Reason> {
        let no_time = || Reason::NoTime { label: label.name.clone() };
        match (&self.order, &label.edges) {
            (Order::Commit, EdgeSchema::Parallel(_)) => {
                Err(Reason::NoCommitOrderOfParallel { label: label.name.clone() })
            }
            (Order::Commit, _) => Ok(Clock::Commit),
            (Order::OfLabel, EdgeSchema::Value(ColumnType::U32 | ColumnType::U64 | ColumnType::I64)) => {
                Ok(Clock::Value)
            }
            (Order::Property(name), EdgeSchema::Parallel(schema)) if *name == schema.key => Ok(Clock::Key),
            (Order::OfLabel, EdgeSchema::Parallel(schema)) => {
                Ok(schema.record.time().map_or(Clock::Key, Clock::Property))
            }
            (Order::OfLabel, EdgeSchema::Record(schema)) => {
                schema.time().map(Clock::Property).ok_or_else(no_time)
            }
            (Order::Property(name), edges) => {
                let schema = edges.record().ok_or_else(no_time)?;
                let position = schema.position(name)?;
                match schema.fields[position].value_type {
                    ValueType::Timestamp | ValueType::I64 => Ok(Clock::Property(position)),
                    _ => Err(Reason::NotATime { property: name.clone() }),
                }
            }
            (Order::OfLabel, EdgeSchema::Topology | EdgeSchema::Value(_)) => Err(no_time()),
        }
    }
}

/// What says the time of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// The integer beside it.
    Value,
    /// The property at this position of its record.
    Property(usize),
    /// The key that tells it from those parallel to it.
    Key,
    /// The commit that put it as it is.
    Commit,
}

impl Snapshot {
    /// The neighbours of a vertex and the values beside them, newest first: see [`Newest`] for what that means and costs.
    ///
    /// # Errors
    /// The key is of another kind than the graph's, there is no such label or direction, its edges carry another type, or they
    /// have no such time.
    pub fn newest_neighbours<W: Column>(
        &self,
        label: LabelId,
        direction: Direction,
        key: impl AsKey,
        newest: &Newest,
    ) -> Result<Vec<(Key, W)>, Error> {
        check_adjacency::<W>(self.stores(), label, direction)?;
        self.newest(label, direction, key, newest, |neighbour, edge| {
            Ok((neighbour, W::from_bits(edge.value)))
        })
    }

    /// The neighbours of a vertex over a label that has records, with their records, newest first: one that parallel edges lead
    /// to with each of them.
    ///
    /// # Errors
    /// As [`Snapshot::newest_neighbours`], or the edges have no records.
    pub fn newest_records(
        &self,
        label: LabelId,
        direction: Direction,
        key: impl AsKey,
        newest: &Newest,
    ) -> Result<Vec<(Key, Record)>, Error> {
        self.stores().any_record_schema(label)?;
        check_adjacency::<()>(self.stores(), label, direction)?;
        self.newest(label, direction, key, newest, |neighbour, edge| Ok((neighbour, decoded(edge.record)?)))
    }

    /// Visits the neighbours of a vertex over a label that has records, newest first, with their records where they lie: nothing is
    /// copied. As [`Snapshot::newest_records`], which hands over keys and records. What writers replace meanwhile is freed when the visit
    /// has ended.
    ///
    /// # Errors
    /// As [`Snapshot::newest_records`].
    pub fn visit_newest_records(
        &self,
        label: LabelId,
        direction: Direction,
        key: impl AsKey,
        newest: &Newest,
        mut visit: impl FnMut(VertexId, RecordRef<'_>),
    ) -> Result<(), Error> {
        self.stores().any_record_schema(label)?;
        check_adjacency::<()>(self.stores(), label, direction)?;
        self.visit_newest(label, direction, key, newest, |_, edge| {
            visit(edge.neighbour, RecordRef::new(edge.record));
            Ok(())
        })
    }

    /// What `on_edge` makes of the edges of a vertex, each with the key of the neighbour, newest first.
    pub(crate) fn newest<T>(
        &self,
        label: LabelId,
        direction: Direction,
        key: impl AsKey,
        newest: &Newest,
        on_edge: impl Fn(Key, NewestEdge<'_>) -> Result<T, Reason>,
    ) -> Result<Vec<T>, Error> {
        let mut found = Vec::new();
        self.visit_newest(label, direction, key, newest, |state, edge| {
            found.push(on_edge(state.key(edge.neighbour), edge)?);
            Ok(())
        })?;
        Ok(found)
    }

    fn visit_newest(
        &self,
        label: LabelId,
        direction: Direction,
        key: impl AsKey,
        newest: &Newest,
        mut visit: impl FnMut(&dyn StateReads, NewestEdge<'_>) -> Result<(), Reason>,
    ) -> Result<(), Error> {
        let schema = self.catalogue().label(label).ok_or(hedgerow_model::ViewError::UnknownLabel(label))?;
        // A vertex that does not exist has no edges, but what is asked of it is checked all the same.
        newest.clock(schema)?;
        self.read(|state| match state.owner(key.as_key())? {
            Some(vertex) => state.newest(label, direction, vertex, newest, &mut |edge| visit(state, edge)),
            None => Ok(()),
        })?;
        Ok(())
    }
}
