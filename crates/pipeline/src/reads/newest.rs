//! Queries for the newest edges of a vertex.

use crate::error::Error;
use hedgerow_model::{Column, ColumnType, EdgeSchema, EdgeValue, LabelSchema, Record, Value, ValueType};
use std::cmp::Reverse;
use std::ops::RangeInclusive;

/// A query for the newest edges of a vertex: how many, by which time, and in which range.
///
/// By default, the time of an edge is its first property of type `timestamp`, or its value if its
/// label has integers (`u32`, `u64`, `i64`), or the key of parallel edges without such a property.
/// Edges whose time is null are left out. At equal times the lower vertex id comes first, then the
/// lower key.
///
/// That costs O(degree) time, and memory for the result. Engine `tel` keeps an upper bound on how
/// far the edges of a vertex are out of order by their first property of type `timestamp`. So it
/// reads from the end of the log, and only edges that are in the result, that are too late for the
/// range, or that are earlier than the whole result by at most that bound (LiveGraph, section 4).
/// The edges of one commit are logged in the order of that property. Edges that may be parallel,
/// and values, are read as in other engines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Newest {
    pub(super) most: usize,
    order: Order,
    pub(super) times: RangeInclusive<i64>,
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
        Newest { most: count, order: Order::OfLabel, times: i64::MIN..=i64::MAX }
    }

    /// Returns edges of this time or later.
    #[must_use]
    pub fn since(self, time: i64) -> Self {
        Newest { times: time..=*self.times.end(), ..self }
    }

    /// Returns edges of this time or earlier.
    #[must_use]
    pub fn until(self, time: i64) -> Self {
        Newest { times: *self.times.start()..=time, ..self }
    }

    /// Uses a property of the edge, of type `timestamp` or `i64`, as its time.
    #[must_use]
    pub fn by_property(self, name: impl Into<String>) -> Self {
        Newest { order: Order::Property(name.into()), ..self }
    }

    /// Uses the commit that put or last changed the edge as its time, as the number of its
    /// [`CommitTimestamp`](hedgerow_model::CommitTimestamp). Engine `tel` only.
    ///
    /// Reads only the result, from the end of the log (LiveGraph, section 4). The edges of one
    /// commit have the same time. Opening a store puts the edges of its checkpoint, and of the log
    /// after it, in few commits, unless `GraphOptions::keep_commit_order` keeps those of the log
    /// apart. Not for labels whose edges may be parallel.
    #[must_use]
    pub fn by_commit(self) -> Self {
        Newest { order: Order::Commit, ..self }
    }

    /// Where the edges of a label store their time.
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
                    ValueType::Timestamp | ValueType::I64 => Ok(NewestBy::Property(position)),
                    _ => Err(Error::NotATime { property: name.clone() }),
                }
            }
            (Order::OfLabel, EdgeSchema::Topology | EdgeSchema::Value(_)) => Err(no_time()),
        }
    }
}

/// Where an edge stores its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewestBy {
    /// In its integer value.
    Value,
    /// In the property at this position of its record.
    Property(usize),
    /// In its key among parallel edges.
    Key,
    /// In the commit that put or last changed it.
    Commit,
}

impl Newest {
    /// The edges that the query selects, with their times.
    #[must_use]
    pub fn chosen<T>(&self, edges: impl Iterator<Item = (Option<i64>, T)>) -> Vec<T> {
        let is_wanted = |time: &i64| self.times.contains(time);
        let mut dated: Vec<(i64, T)> =
            edges.filter_map(|(time, edge)| Some((time.filter(is_wanted)?, edge))).collect();
        // Stable: keeps the order at equal times.
        dated.sort_by_key(|(time, _)| Reverse(*time));
        dated.truncate(self.most);
        dated.into_iter().map(|(_, edge)| edge).collect()
    }
}

impl NewestBy {
    /// The time of an edge with a record.
    #[must_use]
    pub fn time(self, key: u64, record: &Record) -> Option<i64> {
        match self {
            NewestBy::Key => key_time(key),
            NewestBy::Property(position) => match record.values().get(position)? {
                Value::Timestamp(time) | Value::I64(time) => Some(*time),
                _ => None,
            },
            NewestBy::Value | NewestBy::Commit => None,
        }
    }
}

/// The key of a parallel edge as a time; the largest time if it does not fit.
pub(super) fn key_time(key: u64) -> Option<i64> {
    Some(i64::try_from(key).unwrap_or(i64::MAX))
}

/// The integer value of an edge as a time; the largest time if it does not fit.
#[must_use]
pub fn time_of(column: ColumnType, value: EdgeValue) -> i64 {
    match column {
        ColumnType::I64 => i64::from_bits(value),
        ColumnType::U32 => i64::from(u32::from_bits(value)),
        _ => i64::try_from(value.0).unwrap_or(i64::MAX),
    }
}
