//! A stream of edges, each its own commit.
//!
//! A single commit waits for memory several times, each time for an address that the previous
//! access returned. The writer of a stream knows its next edges, so a few commits at a time take
//! their locks together, prefetch all that they will touch, and take their stamps in one step.
//! Otherwise each is an ordinary commit with its own timestamp.

use crate::commit::append_each::AppendedGroup;
use crate::commit::decided::{PlannedCounts, PlannedEdge, apply};
use crate::commit::edge::{EdgeWrite, PlanOf};
use crate::commit::{BYTES_OF_CHANGE, Commit};
use crate::error::Error;
use crate::journal::Journal;
use crate::store::Store;
use hedgerow_log::{Body, Durability};
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{CommitTimestamp, Count, Engine, Operation, ShortPlan, ShortWrites, StoredEdge};
use hedgerow_sequencer::{LockGuard, PendingReclaim, Stripes, Writer};
use std::ops::Range;

/// Number of commits that wait for memory together, enough to overlap the waits. They also hold
/// each other's locks meanwhile.
const TOGETHER: usize = if cfg!(hedgerow_shuttle) { 2 } else { 16 };

/// What a stream of commits did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Commits {
    /// Number of edges committed, from the beginning of the stream.
    pub committed: usize,
    /// Number of them that changed something, and so took a timestamp.
    pub changed: usize,
    /// The newest timestamp among them; zero if nothing changed.
    pub at: CommitTimestamp,
    /// Edges that did not exist before.
    pub edges_added: Count,
    /// Edges that existed and no longer do.
    pub edges_removed: Count,
    /// Vertices that did not exist before.
    pub vertices_added: u64,
}

impl Commits {
    /// Adds a commit that was made alone.
    pub fn count(&mut self, commit: Commit) {
        self.committed += 1;
        if commit.changed {
            self.changed += 1;
            self.at = commit.at;
        }
        self.edges_added += commit.edges_added;
        self.edges_removed += commit.edges_removed;
        self.vertices_added += commit.vertices_added;
    }
}

/// Why a stream of commits ended early. Earlier commits stay.
#[derive(Debug)]
pub struct StreamError<F = Error> {
    /// The commits before the error. Empty if they could not be made durable: then they may or may
    /// not be durable.
    pub committed: Commits,
    /// The error of the next edge of the stream.
    pub error: F,
}

/// Commits that go together: no two need the same lock.
struct Group<P> {
    edges: Vec<StoredEdge>,
    stripes: Stripes,
    plans: Vec<P>,
    /// Memory for what is logged.
    bodies: Vec<Body>,
}

impl<P> Group<P> {
    fn new() -> Self {
        Group { edges: Vec::new(), stripes: Stripes::new(), plans: Vec::new(), bodies: Vec::new() }
    }

    fn clear(&mut self) {
        self.edges.clear();
        self.stripes.clear();
    }

    /// Adds the locks of another edge unless one of them is in the group already; returns whether
    /// it did.
    #[inline]
    fn admit(&mut self, stripes: &[u32]) -> bool {
        if stripes.iter().any(|stripe| self.stripes.contains(stripe)) {
            return false;
        }
        self.stripes.extend_from_slice(stripes);
        true
    }
}

impl<E: Engine> Store<E> {
    /// Commits `count` edges of one label one by one; `write` returns each by its position.
    pub fn commit_each<'k>(
        &self,
        count: usize,
        write: impl Fn(usize) -> EdgeWrite<'k>,
    ) -> Result<Commits, StreamError> {
        let mut done = Commits::default();
        let stream = self.commit_each_unsettled(count, write, &mut done);
        self.end_stream(stream, done)
    }

    /// Commits `operations` on edges one by one, up to the first that is an error: for edges with
    /// records, which are not planned together. Waits once, as [`Store::commit_each`] does.
    pub fn commit_each_operation<F: From<Error>>(
        &self,
        operations: impl Iterator<Item = Result<Operation, F>>,
    ) -> Result<Commits, StreamError<F>> {
        let mut done = Commits::default();
        let mut commit = |operation: Result<Operation, F>| {
            done.count(self.commit_unsettled(&[operation?], None)?);
            Ok(self.journal().map_or(Ok(()), Journal::relieve)?)
        };
        let stream = { operations }.try_for_each(&mut commit);
        self.end_stream(stream, done)
    }

    /// Settles a stream, whether or not it ended early.
    fn end_stream<F: From<Error>>(
        &self,
        stream: Result<(), F>,
        done: Commits,
    ) -> Result<Commits, StreamError<F>> {
        // If settling fails, the commits may or may not be durable.
        self.settle_stream(&done)
            .map_err(|error| StreamError { committed: Commits::default(), error: error.into() })?;
        match stream {
            Ok(()) => Ok(done),
            Err(error) => Err(StreamError { committed: done, error }),
        }
    }

    /// Like [`Store::commit_each`], but does not settle the commits. `done` holds what was
    /// committed before an error.
    fn commit_each_unsettled<'k>(
        &self,
        count: usize,
        write: impl Fn(usize) -> EdgeWrite<'k>,
        done: &mut Commits,
    ) -> Result<(), Error> {
        let (mut group, mut appended) = (Group::new(), AppendedGroup::default());
        while done.committed < count {
            let next = done.committed;
            // With history, the state after each commit is kept, so stamps cannot be taken
            // together.
            if let Some(short) = self.engine.short_writes()
                && !self.sequencer.keeps_history()
            {
                match self.append_edges(write(next).label) {
                    Some(by) => {
                        self.append_together((short, by), next..count, &write, &mut appended, done)?;
                    }
                    None => self.commit_together(short, next..count, &write, &mut group, done)?,
                }
            }
            if done.committed == next {
                let commit = self.commit_edge_unsettled(write(next))?;
                done.count(commit);
            }
            self.journal().map_or(Ok(()), Journal::relieve)?;
        }
        Ok(())
    }

    /// Waits until all that a stream committed or saw is as durable as the graph's option demands.
    fn settle_stream(&self, done: &Commits) -> Result<(), Error> {
        if done.committed == 0 {
            return Ok(());
        }
        let all_changed = done.changed == done.committed;
        let at = if all_changed { done.at } else { self.sequencer.newest().0 };
        self.settle_at(at, done.changed > 0, Durability::None)
    }

    /// Commits as many of the next edges as can go together; none if the next one needs the general
    /// commit.
    fn commit_together<'k>(
        &self,
        short: &E::ShortWrites,
        next: Range<usize>,
        write: impl Fn(usize) -> EdgeWrite<'k>,
        group: &mut Group<PlanOf<E>>,
        done: &mut Commits,
    ) -> Result<(), Error> {
        self.admit(TOGETHER * BYTES_OF_CHANGE)?;
        let generation = self.dictionary.generation();
        self.gather(next.take(TOGETHER).map(write), group);
        short.prefetch(&group.edges);
        let guard = LockGuard::lock(&self.units, std::mem::take(&mut group.stripes));
        let pending = if self.dictionary.generation() == generation {
            self.plan_group(short, &guard.held(&self.sequencer), group)?;
            self.finish_group(short, group, done)?
        } else {
            PendingReclaim::default()
        };
        group.stripes = guard.release();
        self.reclaim_after_commit(pending);
        Ok(())
    }

    /// Collects the next edges whose ends have ids and need different locks.
    fn gather<'k, P>(&self, writes: impl Iterator<Item = EdgeWrite<'k>>, group: &mut Group<P>) {
        group.clear();
        for EdgeWrite { label, source, destination, value } in writes {
            let (source, destination) =
                (self.dictionary.current(source), self.dictionary.current(destination));
            // A wrong key is reported when its edge is committed alone.
            let (Ok(Some(source)), Ok(Some(destination))) = (source, destination) else { break };
            let edge = StoredEdge::new(self.topology, label, source, destination, value);
            let stripes = self.stripes_of_edge(&edge);
            if !group.admit(&stripes) {
                break;
            }
            group.edges.push(edge);
        }
        group.stripes.sort_unstable();
    }

    /// The number of edges up to the first that lacks an end.
    pub(super) fn count_existing(&self, held: &HeldLocks<'_>, edges: &[StoredEdge]) -> Result<usize, Error> {
        let mut existing = 0;
        while existing < edges.len() && self.both_exist(held, &edges[existing])? {
            existing += 1;
        }
        Ok(existing)
    }

    /// Plans the edges of a group, up to the first that needs the general commit.
    fn plan_group(
        &self,
        short: &E::ShortWrites,
        held: &HeldLocks<'_>,
        group: &mut Group<PlanOf<E>>,
    ) -> Result<(), Error> {
        let Group { edges, plans, .. } = group;
        plans.clear();
        let existing = self.count_existing(held, edges)?;
        short.plan_edges(held, &edges[..existing], self.is_unlimited(), plans);
        Ok(())
    }

    /// The shrinking phase of a group: stamps all in one step, also in the log, then applies them one after the other.
    fn finish_group(
        &self,
        short: &E::ShortWrites,
        group: &mut Group<PlanOf<E>>,
        done: &mut Commits,
    ) -> Result<PendingReclaim, Error> {
        let Group { edges, plans, bodies, .. } = group;
        let mut pending = PendingReclaim::default();
        let changes = || edges.iter().zip(&*plans).filter(|(_, plan)| plan.is_change());
        let changed = changes().count();
        if changed > 0 {
            let counts = PlannedCounts::of(plans);
            let mut stamps = match self.journal() {
                None => self.sequencer.stamp_many(changed, counts.changes(), Writer::Blind)?,
                Some(journal) => {
                    bodies.resize_with(changed.max(bodies.len()), Body::default);
                    let bodies = &mut bodies[..changed];
                    for ((edge, _), body) in changes().zip(&mut *bodies) {
                        body.encode_edge(edge, self.topology);
                    }
                    let (log, counts) = (journal.commit_log()?, counts.changes());
                    self.sequencer.stamp_many_logged(log, bodies, None, counts, Writer::Blind)?
                }
            };
            let (record_conflicts, released) = (stamps.record_conflicts, stamps.released);
            self.poisoning_on_panic(|| {
                for ((edge, plan), stamp) in changes().zip(&mut stamps) {
                    let mut decided = PlannedEdge::new(self, short, edge, plan);
                    apply(&mut decided, stamp, record_conflicts);
                    pending = self.sequencer.applied(stamp, released);
                    done.at = stamp.at();
                }
            });
            let (added, removed) = counts.edges();
            done.edges_added += added;
            done.edges_removed += removed;
        }
        done.changed += changed;
        done.committed += plans.len();
        Ok(pending)
    }
}
