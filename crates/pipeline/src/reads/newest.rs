//! Which edges of a vertex are read newest first.

use crate::error::Error;
use hedgerow_model::{Column, ColumnType, EdgeSchema, EdgeValue, LabelSchema, Record, Value, ValueType};
use std::cmp::Reverse;
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
    /// [`Timestamp`](hedgerow_model::Timestamp). Engine `tel` only.
    ///
    /// Costs what is read (LiveGraph, section 4: a log is read from its end). What one commit put has one time; a store that is opened puts what its
    /// checkpoint has, and what its log says after that, in few commits, unless `GraphOptions::keep_commit_order`
    /// keeps those of the log apart. Not for labels whose edges may be parallel.
    #[must_use]
    pub fn by_commit(self) -> Self {
        Newest { order: Order::Commit, ..self }
    }

    /// What says the time on the edges of a label.
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

/// What says the time of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewestBy {
    /// The integer beside it.
    Value,
    /// The property at this position of its record.
    Property(usize),
    /// The key that tells it from those parallel to it.
    Key,
    /// The commit that put it as it is.
    Commit,
}

impl Newest {
    /// Those of some edges that are wanted, by their times.
    #[must_use]
    pub fn chosen<T>(&self, edges: impl Iterator<Item = (Option<i64>, T)>) -> Vec<T> {
        let is_wanted = |time: &i64| self.times.contains(time);
        let mut dated: Vec<(i64, T)> =
            edges.filter_map(|(time, edge)| Some((time.filter(is_wanted)?, edge))).collect();
        // Stable: of equal times those that come first stay so.
        dated.sort_by_key(|(time, _)| Reverse(*time));
        dated.truncate(self.most);
        dated.into_iter().map(|(_, edge)| edge).collect()
    }
}

impl NewestBy {
    /// The time of an edge that has a record.
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

/// The key of parallel edges as a time; the largest there is if it is larger.
pub(super) fn key_time(key: u64) -> Option<i64> {
    Some(i64::try_from(key).unwrap_or(i64::MAX))
}

/// An integer of a column as a time; the largest there is if it is larger.
#[must_use]
pub fn time_of(column: ColumnType, value: EdgeValue) -> i64 {
    match column {
        ColumnType::I64 => i64::from_bits(value),
        ColumnType::U32 => i64::from(u32::from_bits(value)),
        _ => i64::try_from(value.0).unwrap_or(i64::MAX),
    }
}
