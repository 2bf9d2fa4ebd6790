//! The extent of a window, and the times of edges.

use super::{Change, ChangedEdge, Changes};
use crate::data::Property;
use crate::error::Error;
use hedgerow_model::Value;
use std::time::{Duration, SystemTime};

/// The latest time, so that a period with it ends after it.
pub(super) const LATEST: i64 = i64::MAX / 2;

/// The extent of a [`Window`](crate::Window): a number of edges, or a time.
pub struct Span {
    unit: Unit,
    /// Number of edges, or microseconds.
    pub(super) length: i64,
    /// Microseconds that edges may be out of order.
    pub(super) grace: i64,
}

enum Unit {
    Edges,
    TimeOfCommit,
    TimeOfEdge(Box<TimeOf>),
}

type TimeOf = dyn Fn(&ChangedEdge<'_>) -> Result<Option<SystemTime>, Error> + Send + Sync;

impl std::fmt::Debug for Span {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let unit = match self.unit {
            Unit::Edges => "edges",
            Unit::TimeOfCommit => "microseconds of commits",
            Unit::TimeOfEdge(_) => "microseconds of edges",
        };
        f.debug_struct("Span").field("length", &self.length).field("unit", &unit).finish_non_exhaustive()
    }
}

impl Span {
    /// A number of edges, at least one, in the order of commits.
    #[must_use]
    pub fn edges(count: usize) -> Self {
        let length = i64::try_from(count).unwrap_or(i64::MAX).max(1);
        Span { unit: Unit::Edges, length, grace: 0 }
    }

    /// A length of time, at least a microsecond. The time of an edge is that of its commit, and
    /// time passes without commits, too.
    #[must_use]
    pub fn time(length: Duration) -> Self {
        Span { unit: Unit::TimeOfCommit, length: microseconds(length).max(1), grace: 0 }
    }

    /// A length of time, at least a microsecond, by the times that a function returns, such as a
    /// property of an edge. Time passes as edges come: it is the latest so far. An edge without a
    /// time is in no window.
    ///
    /// ```
    /// use hedgerow::prelude::*;
    /// use hedgerow::{Span, SubscribeOptions};
    /// use std::time::{Duration, SystemTime};
    ///
    /// #[derive(Properties)]
    /// struct Payment {
    ///     amount: f64,
    ///     time: SystemTime,
    /// }
    ///
    /// let graph = Graph::in_memory(GraphOptions::new().label::<Payment>("pays"))?;
    /// let pays = graph.label::<Payment>("pays")?;
    /// let hour = Span::time_of(Duration::from_secs(3600), move |edge| {
    ///     Ok(edge.data(pays)?.map(|payment| payment.time))
    /// });
    /// let mut window = graph.subscribe(&SubscribeOptions::new().label(pays))?.sliding(hour);
    /// for (minute, (from, to)) in [(100, (1, 2)), (130, (2, 3)), (120, (3, 4)), (190, (4, 5))] {
    ///     let time = SystemTime::UNIX_EPOCH + Duration::from_secs(60 * minute);
    ///     graph.put_edge_with(pays, from, to, Payment { amount: 1.0, time })?;
    /// }
    /// window.advance()?;
    /// let sources: Vec<_> = window.edges().map(|edge| edge.source().to_key()).collect();
    /// assert_eq!(sources, [2, 4]);
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn time_of(
        length: Duration,
        time: impl Fn(&ChangedEdge<'_>) -> Result<Option<SystemTime>, Error> + Send + Sync + 'static,
    ) -> Self {
        let unit = Unit::TimeOfEdge(Box::new(time));
        Span { unit, length: microseconds(length).max(1), grace: 0 }
    }

    /// Waits for edges that are out of order by at most this time, by
    /// [their own times](Span::time_of): nothing by default. Windows show the state that long
    /// before the latest time.
    #[must_use]
    pub fn grace(mut self, time: Duration) -> Self {
        if matches!(self.unit, Unit::TimeOfEdge(_)) {
            self.grace = microseconds(time);
        }
        self
    }

    /// True if time passes without edges.
    pub(super) fn follows_clock(&self) -> bool {
        matches!(self.unit, Unit::TimeOfCommit)
    }

    /// The time before which there are no edges; edges that are counted begin with 0.
    pub(super) fn first_time(&self) -> i64 {
        if matches!(self.unit, Unit::Edges) { 0 } else { i64::MIN }
    }

    /// The edges that are put, each with its time in microseconds, or its number from `next` on.
    pub(super) fn times<'c>(
        &self,
        changes: &'c Changes,
        mut next: i64,
    ) -> Result<Vec<(i64, ChangedEdge<'c>)>, Error> {
        let mut edges = Vec::new();
        for commit in changes.commits() {
            for change in commit.iter() {
                let Change::PutEdge(edge) = change else { continue };
                let time = match &self.unit {
                    Unit::Edges => {
                        next += 1;
                        Some(next - 1)
                    }
                    Unit::TimeOfCommit => Some(commit.wall_clock().try_into().unwrap_or(i64::MAX)),
                    Unit::TimeOfEdge(time) => time(&edge)?.and_then(|time| Value::from(time).as_timestamp()),
                };
                edges.extend(time.map(|time| (time.clamp(-LATEST, LATEST), edge)));
            }
        }
        Ok(edges)
    }

    /// The time up to which all edges have come, if one at `time` has.
    pub(super) fn reached_by(&self, time: i64) -> i64 {
        if matches!(self.unit, Unit::Edges) { time + 1 } else { time }
    }

    /// The end of the tumbling window with an edge of this time.
    pub(super) fn end_after(&self, time: i64) -> i64 {
        time.div_euclid(self.length).saturating_add(1).saturating_mul(self.length)
    }

    /// A time as applications know it; `None` if edges are counted.
    pub(super) fn to_system_time(&self, time: i64) -> Option<SystemTime> {
        if matches!(self.unit, Unit::Edges) {
            return None;
        }
        SystemTime::from_value(&Value::Timestamp(time))
    }
}

fn microseconds(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}
