//! Queries for the newest edges of a vertex.

use crate::error::Error;
use hedgerow_model::{Column, ColumnType, EdgeSchema, EdgeValue, LabelSchema, RecordSchema, ValueType};
use std::ops::RangeInclusive;

/// A query for the newest edges of a vertex: their number, their kind of time, and a range of
/// times.
///
/// By default, the time of an edge is its first property of type `timestamp`, or its value if its
/// label has integers (`u32`, `u64`, `i64`), or the key of parallel edges without such a property.
/// Edges whose time is null are left out. At equal times the lower vertex id comes first, then the
/// lower key.
///
/// A query costs O(degree) time, and memory for the result. Engine `tel` keeps an upper bound on
/// how far the edges of a vertex are out of order by their first property of type `timestamp`. So
/// it reads from the end of the log, and only edges that are in the result, that are too late for
/// the range, or that are earlier than the whole result by at most that bound (LiveGraph, section
/// 4). The edges of one commit are logged in the order of that property. Edges that may be
/// parallel, and values, are read as in other engines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Newest {
    pub(super) most: usize,
    order: Order,
    /// `i128` holds times of both `i64` and `u64`.
    times: RangeInclusive<i128>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Order {
    OfLabel,
    Property(String),
    Commit,
}

impl Newest {
    /// Returns at most `count` edges.
    #[must_use]
    pub fn most(count: usize) -> Self {
        Newest { most: count, order: Order::OfLabel, times: i128::MIN..=i128::MAX }
    }

    /// Returns edges of this time or later: an `i64` or a `u64`, whichever the times are.
    #[must_use]
    pub fn since(self, time: impl Into<i128>) -> Self {
        Newest { times: time.into()..=*self.times.end(), ..self }
    }

    /// Returns edges of this time or earlier: an `i64` or a `u64`, whichever the times are.
    #[must_use]
    pub fn until(self, time: impl Into<i128>) -> Self {
        Newest { times: *self.times.start()..=time.into(), ..self }
    }

    /// Uses a property of the edge, of type `timestamp`, `i64` or `u64`, as its time.
    #[must_use]
    pub fn by_property(self, name: impl Into<String>) -> Self {
        Newest { order: Order::Property(name.into()), ..self }
    }

    /// Uses the commit that put or last changed the edge as its time, as the number of its
    /// [`CommitTimestamp`](hedgerow_model::CommitTimestamp). Engine `tel` only.
    ///
    /// Reads only the result, from the end of the log (LiveGraph, section 4). The edges of one
    /// commit have equal times. Opening a store puts the edges of its checkpoint, and of the log
    /// after it, in few commits, unless `GraphOptions::keep_commit_order` keeps the commits of the
    /// log apart. Not for labels whose edges may be parallel.
    #[must_use]
    pub fn by_commit(self) -> Self {
        Newest { order: Order::Commit, ..self }
    }

    /// The storage of the time in edges of a label.
    pub fn clock(&self, label: &LabelSchema) -> Result<NewestBy, Error> {
        let no_time = || Error::NoTime { label: label.name.clone() };
        match (&self.order, &label.edges) {
            (Order::Commit, EdgeSchema::Parallel(_)) => {
                Err(Error::NoCommitOrderOfParallel { label: label.name.clone() })
            }
            (Order::Commit, _) => Ok(NewestBy::Commit),
            (Order::OfLabel, EdgeSchema::Value(ColumnType::U32 | ColumnType::U64 | ColumnType::I64)) => {
                Ok(NewestBy::Value)
            }
            (Order::Property(name), EdgeSchema::Parallel(schema)) if *name == schema.key => Ok(NewestBy::Key),
            (Order::OfLabel, EdgeSchema::Parallel(schema)) => {
                Ok(schema.record.time().map_or(NewestBy::Key, NewestBy::Property))
            }
            (Order::OfLabel, EdgeSchema::Record(schema)) => {
                schema.time().map(NewestBy::Property).ok_or_else(no_time)
            }
            (Order::Property(name), edges) => {
                let schema = edges.record().ok_or_else(no_time)?;
                let position = schema.position(name)?;
                match schema.fields[position].value_type {
                    ValueType::Timestamp | ValueType::I64 | ValueType::U64 => {
                        Ok(NewestBy::Property(position))
                    }
                    _ => Err(Error::NotATime { property: name.clone() }),
                }
            }
            (Order::OfLabel, EdgeSchema::Topology | EdgeSchema::Value(_)) => Err(no_time()),
        }
    }
}

/// The part of an edge that stores its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewestBy {
    /// Its integer value.
    Value,
    /// The property at this position of its record.
    Property(usize),
    /// Its key among parallel edges.
    Key,
    /// The commit that put or last changed it.
    Commit,
}

impl Newest {
    /// The wanted times as [places](place_of); an empty range if no time of the label can be
    /// wanted.
    pub(super) fn places(&self, by: NewestBy, edges: &EdgeSchema) -> RangeInclusive<i64> {
        let (first, last) = match by.is_unsigned(edges) {
            true => (0, u64::MAX.into()),
            false => (i64::MIN.into(), i64::MAX.into()),
        };
        let (since, until) = (*self.times.start().max(&first), *self.times.end().min(&last));
        let place = |time: i128| (time - first + i128::from(i64::MIN)) as i64;
        if since > until { RangeInclusive::new(1, 0) } else { place(since)..=place(until) }
    }
}

impl NewestBy {
    /// Returns true if times are of type `u64`.
    fn is_unsigned(self, edges: &EdgeSchema) -> bool {
        let is_unsigned =
            |schema: &RecordSchema, position: usize| schema.fields[position].value_type == ValueType::U64;
        match self {
            NewestBy::Key | NewestBy::Commit => true,
            NewestBy::Value => edges.column() == ColumnType::U64,
            NewestBy::Property(position) => {
                edges.record().is_some_and(|schema| is_unsigned(schema, position))
            }
        }
    }
}

/// The place of a time of type `u64` in the order of times, which readers keep as `i64`: 2^63 less,
/// so that order and differences stay. A time of type `i64` is its own place.
pub(crate) fn place_of(time: u64) -> i64 {
    (time ^ 1 << 63) as i64
}

/// The place of the integer value of an edge.
pub(super) fn place_of_value(column: ColumnType, value: EdgeValue) -> i64 {
    match column {
        ColumnType::I64 => i64::from_bits(value),
        ColumnType::U32 => u32::from_bits(value).into(),
        _ => place_of(value.0),
    }
}
