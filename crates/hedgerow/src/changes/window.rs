//! Sliding and tumbling windows of the edges that a subscription passes on.

use super::retained::RetainedEdges;
use super::span::LATEST;
use super::{ChangeToken, ChangedEdge, Changes, LOOK_AGAIN, Lag, Span, Subscription};
use crate::error::Error;
use std::collections::BTreeSet;
use std::time::{Duration, Instant, SystemTime};

/// The newest edges of a subscription, or the edges of one period after the other (GraphOne,
/// section 6.2: windows).
///
/// - A [sliding](Subscription::sliding) window holds the last edges, and moves with each
///   [advance](Window::advance).
/// - A [tumbling](Subscription::tumbling) window holds the edges of a period that is over, and is
///   replaced by the next one that has edges.
///
/// After an advance, [`entered`](Window::entered) and [`left`](Window::left) tell the difference,
/// so that sums and counts need no look at other edges. Each edge enters once and leaves once,
/// perhaps in the same advance.
///
/// Windows hold events, as in other stream processors: each put that [changes](crate::Change) an
/// edge enters, also of one that was there, and an edge that is deleted leaves at its time. A
/// [snapshot](crate::Snapshot) tells if it still exists. If the time is a property, an edge may
/// come when its time is over: it is in no window, and [counted](Window::late).
///
/// A window keeps copies of its edges and of those that will enter, at about 90 bytes each with the
/// bytes of text keys and records, and the changes of one pull.
///
/// ```
/// use hedgerow::prelude::*;
/// use hedgerow::{Span, SubscribeOptions};
/// use std::collections::BTreeMap;
///
/// let graph = Graph::in_memory(GraphOptions::new().label::<()>("likes"))?;
/// let likes = graph.label::<()>("likes")?;
/// let mut window = graph.subscribe(&SubscribeOptions::new())?.sliding(Span::edges(3));
/// let mut counts = BTreeMap::<Key, usize>::new();
/// for edge in [(1, 7), (2, 7), (3, 8), (4, 8), (5, 8)] {
///     graph.put_edge(likes, edge.0, edge.1)?;
///     window.advance()?;
///     for edge in window.entered() {
///         *counts.entry(edge.destination().to_key()).or_default() += 1;
///     }
///     for edge in window.left() {
///         *counts.entry(edge.destination().to_key()).or_default() -= 1;
///     }
/// }
/// assert_eq!((counts[&Key::from(7)], counts[&Key::from(8)]), (0, 3));
/// # Ok::<(), Error>(())
/// ```
pub struct Window {
    subscription: Subscription,
    span: Span,
    slides: bool,
    /// Changes that were pulled and not taken in, with the position before them.
    pulled: Option<(ChangeToken, Changes)>,
    edges: RetainedEdges,
    /// Edges that will enter. Of a tumbling window, those of periods that are not over.
    waiting: BTreeSet<Entry>,
    inside: BTreeSet<Entry>,
    entered: Vec<Entry>,
    left: Vec<Entry>,
    /// The latest time.
    newest: i64,
    late: u64,
}

/// The time of an edge, and its number among those retained.
type Entry = (i64, u64);

impl std::fmt::Debug for Window {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Window")
            .field("subscription", &self.subscription)
            .field("span", &self.span)
            .field("slides", &self.slides)
            .field("edges", &self.inside.len())
            .finish_non_exhaustive()
    }
}

impl Subscription {
    /// Returns a window of the last edges: the last `n`, or those that are at most a time older
    /// than the newest. Empty before the first advance.
    #[must_use]
    pub fn sliding(self, span: Span) -> Window {
        Window::new(self, span, true)
    }

    /// Returns windows of `n` edges, or of a length of time, one after the other. Times are divided
    /// at multiples of the length since 1970-01-01 UTC. Empty until the first period is over.
    ///
    /// ```
    /// use hedgerow::prelude::*;
    /// use hedgerow::{Span, SubscribeOptions};
    ///
    /// let graph = Graph::in_memory(GraphOptions::new().label::<f64>("pays"))?;
    /// let pays = graph.label::<f64>("pays")?;
    /// let mut window = graph.subscribe(&SubscribeOptions::new())?.tumbling(Span::edges(2));
    /// let mut sums = Vec::new();
    /// graph.ingest(pays, &[(1, 2, 0.5), (2, 3, 1.0), (3, 4, 2.0), (4, 5, 4.0), (5, 6, 8.0)])?;
    /// while window.advance()? {
    ///     let mut sum = 0.0;
    ///     for edge in window.edges() {
    ///         sum += edge.data(pays)?.unwrap_or_default();
    ///     }
    ///     sums.push(sum);
    /// }
    /// assert_eq!(sums, [1.5, 6.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn tumbling(self, span: Span) -> Window {
        Window::new(self, span, false)
    }
}

impl Window {
    fn new(subscription: Subscription, span: Span, slides: bool) -> Self {
        Window {
            newest: span.first_time(),
            subscription,
            span,
            slides,
            pulled: None,
            edges: RetainedEdges::default(),
            waiting: BTreeSet::new(),
            inside: BTreeSet::new(),
            entered: Vec::new(),
            left: Vec::new(),
            late: 0,
        }
    }

    /// Moves on, and returns true if an edge entered or left; of a tumbling window, if another
    /// period is over. Never waits for a commit. [Pulls](Subscription::pull) at most once, and not
    /// while periods that are over have edges. O(changes · log edges).
    ///
    /// After an error, nothing has entered or left, and the next advance goes on there.
    ///
    /// # Errors
    /// As [`Subscription::pull`]; the error of the function that returns
    /// [times](Span::time_of).
    pub fn advance(&mut self) -> Result<bool, Error> {
        self.step(Duration::ZERO)
    }

    /// Moves on, and waits until an edge enters or leaves, at most for `time`; of a tumbling
    /// window, until another period is over. Returns true if that has happened.
    ///
    /// # Errors
    /// As [`Window::advance`] and [`Subscription::pull_within`].
    pub fn advance_within(&mut self, time: Duration) -> Result<bool, Error> {
        let until = Instant::now().checked_add(time);
        loop {
            let left = until.map_or(time, |until| until.saturating_duration_since(Instant::now()));
            let has_moved = self.step(left.min(self.time_to_move()?))?;
            if has_moved || left.is_zero() {
                return Ok(has_moved);
            }
        }
    }

    /// Moves on, and if there are no changes, waits for some, at most for `time`.
    fn step(&mut self, time: Duration) -> Result<bool, Error> {
        self.entered.clear();
        self.left.drain(..).for_each(|(_, number)| self.edges.remove(number));
        if self.slides || !self.is_over() {
            self.pull(time)?;
        }
        match self.slides {
            true => self.slide(),
            false => self.tumble(),
        }
        Ok(!self.entered.is_empty() || !self.left.is_empty())
    }

    /// Takes in the next changes.
    fn pull(&mut self, time: Duration) -> Result<(), Error> {
        let now = self.now()?;
        if self.pulled.is_none() {
            let before = self.subscription.token();
            self.pulled = Some((before, self.subscription.pull_within(time)?));
        }
        if let Some((before, changes)) = &self.pulled {
            for (time, edge) in self.span.times(changes, self.newest)? {
                if self.is_late(time) {
                    self.late += 1;
                } else {
                    let number = self.edges.add(&edge, || changes.none_at(*before));
                    self.waiting.insert((time, number));
                    self.newest = self.newest.max(self.span.reached_by(time));
                }
            }
        }
        self.pulled = None;
        // Commits up to now were pulled.
        if self.span.follows_clock() && self.subscription.behind()?.0 == 0 {
            self.newest = self.newest.max(now);
        }
        Ok(())
    }

    /// The time up to which all edges have come, but for late ones.
    fn reached(&self) -> i64 {
        self.newest.saturating_sub(self.span.grace)
    }

    /// True if an edge of this time comes after its time is over.
    fn is_late(&self, time: i64) -> bool {
        match self.slides {
            true => time < self.oldest(),
            false => self.span.end_after(time) <= self.reached(),
        }
    }

    /// The time of the oldest edge that a sliding window may have.
    fn oldest(&self) -> i64 {
        self.reached().saturating_sub(self.span.length)
    }

    fn slide(&mut self) {
        self.enter_before(self.reached().saturating_add(1));
        let oldest = self.oldest();
        while let Some(entry) = pop_before(&mut self.inside, oldest) {
            self.left.push(entry);
        }
    }

    fn enter_before(&mut self, end: i64) {
        while let Some(entry) = pop_before(&mut self.waiting, end) {
            self.inside.insert(entry);
            self.entered.push(entry);
        }
    }

    /// The end of the first period with edges that wait.
    fn next_end(&self) -> Option<i64> {
        self.waiting.first().map(|(time, _)| self.span.end_after(*time))
    }

    /// True if that period is over.
    fn is_over(&self) -> bool {
        self.next_end().is_some_and(|end| end <= self.reached())
    }

    fn tumble(&mut self) {
        let Some(end) = self.next_end().filter(|end| *end <= self.reached()) else { return };
        self.left.extend(std::mem::take(&mut self.inside));
        self.enter_before(end);
    }

    /// The time after which edges leave, or a period is over, without a commit.
    fn time_to_move(&self) -> Result<Duration, Error> {
        let next = match self.slides {
            true => {
                self.inside.first().map(|(time, _)| time.saturating_add(self.span.length).saturating_add(1))
            }
            false => self.next_end(),
        };
        let Some(next) = next.filter(|_| self.span.follows_clock()) else { return Ok(Duration::MAX) };
        let time = next.saturating_sub(self.now()?).max(0).unsigned_abs();
        Ok(Duration::from_micros(time).max(LOOK_AGAIN))
    }

    /// The time by the clock of commits, in microseconds.
    fn now(&self) -> Result<i64, Error> {
        let (_, now) = self.subscription.source.now()?;
        Ok(i64::try_from(now).unwrap_or(LATEST).min(LATEST))
    }

    fn each<'w>(
        &'w self,
        entries: impl IntoIterator<Item = &'w Entry>,
    ) -> impl Iterator<Item = ChangedEdge<'w>> {
        entries.into_iter().filter_map(|(_, number)| self.edges.get(*number))
    }

    /// Returns the edges in the window, oldest first.
    pub fn edges(&self) -> impl Iterator<Item = ChangedEdge<'_>> {
        self.each(&self.inside)
    }

    /// Returns the number of edges in the window.
    #[must_use]
    pub fn len(&self) -> usize {
        self.inside.len()
    }

    /// Returns true if the window is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.inside.is_empty()
    }

    /// Returns the edges that entered with the last advance, oldest first.
    pub fn entered(&self) -> impl Iterator<Item = ChangedEdge<'_>> {
        self.each(&self.entered)
    }

    /// Returns the edges that left with the last advance, oldest first.
    pub fn left(&self) -> impl Iterator<Item = ChangedEdge<'_>> {
        self.each(&self.left)
    }

    /// Returns the number of edges that came too late, and so were in no window: too old for a
    /// sliding window, or of a period that was over.
    #[must_use]
    pub fn late(&self) -> u64 {
        self.late
    }

    /// Returns the time at which the window ends; `None` if edges are counted, or none has come. A
    /// tumbling window has the times before its end.
    #[must_use]
    pub fn end(&self) -> Option<SystemTime> {
        let end = match (self.slides, self.inside.first()) {
            (true, _) => Some(self.reached()).filter(|reached| *reached > i64::MIN),
            (false, first) => first.map(|(time, _)| self.span.end_after(*time)),
        };
        end.and_then(|end| self.span.to_system_time(end))
    }

    /// Returns the position up to which changes were pulled: see [`Subscription::token`].
    #[must_use]
    pub fn token(&self) -> ChangeToken {
        self.subscription.token()
    }

    /// Returns a position before the edges in the window and those that will enter. A window over a
    /// subscription from there has the same edges once it has pulled as much; before that, a
    /// tumbling one may have parts of earlier periods, and counts edges from there.
    #[must_use]
    pub fn restart_token(&self) -> ChangeToken {
        let pulled = self.pulled.as_ref().map(|(before, _)| *before);
        self.edges.begin().or(pulled).unwrap_or(self.token())
    }

    /// Returns the distance from the newest commit.
    ///
    /// # Errors
    /// As [`Subscription::lag`].
    pub fn lag(&self) -> Result<Lag, Error> {
        self.subscription.lag()
    }
}

/// Removes the first entry, if its time is before another.
fn pop_before(entries: &mut BTreeSet<Entry>, end: i64) -> Option<Entry> {
    entries.first().filter(|(time, _)| *time < end)?;
    entries.pop_first()
}
