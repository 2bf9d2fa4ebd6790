//! A stream of edges with one commit per edge.
//!
//! A single commit waits for memory several times, each time for an address that the previous
//! access returned. The writer of a stream knows its next edges, so a few commits at a time take
//! their locks together, if they need any, prefetch all memory that they will touch, and take their
//! stamps in one step. Otherwise each is an ordinary commit with its own timestamp, which the
//! engine has [planned](super::plan_each) or which it [appends](super::append_each).

use crate::commit::BYTES_OF_CHANGE;
use crate::commit::append_each::{AppendRoom, Appending};
use crate::commit::edge::EdgeWrite;
use crate::commit::group::{Commits, Group, Together};
use crate::commit::plan_each::Planning;
use crate::error::Error;
use crate::journal::Journal;
use crate::store::{OnEngine, Store};
use hedgerow_log::Durability;
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{Engine, Operation, ShortWrites, StoredEdge};
use hedgerow_sequencer::{LockGuard, PendingReclaim, Stripes};

/// The error that ended a stream of commits early. Earlier commits stay.
#[derive(Debug)]
pub struct EndedStream<F = Error> {
    /// The commits before the error. Empty if they could not be made durable: then they may or may
    /// not be durable.
    pub committed: Commits,
    /// The error of the next edge of the stream.
    pub error: F,
}

impl<E: Engine> OnEngine<'_, E> {
    /// Commits `count` edges of one label one by one; `write` returns an edge by its position.
    pub fn commit_each<'k>(
        self,
        count: usize,
        write: impl Fn(usize) -> EdgeWrite<'k>,
    ) -> Result<Commits, EndedStream> {
        let mut done = Commits::default();
        let stream = self.commit_each_unsettled(count, write, &mut done);
        self.store.end_stream(stream, done)
    }

    /// Like [`OnEngine::commit_each`], but does not settle the commits. `done` holds what was
    /// committed before an error.
    fn commit_each_unsettled<'k>(
        self,
        count: usize,
        write: impl Fn(usize) -> EdgeWrite<'k>,
        done: &mut Commits,
    ) -> Result<(), Error> {
        let (mut group, mut plans, mut appended) = (Group::default(), Vec::new(), AppendRoom::default());
        while done.committed < count {
            let next = done.committed;
            let writes = (next..count).map(&write);
            // With history, the state after each commit is kept, so stamps cannot be taken
            // together.
            if let Some(short) = self.engine.short_writes()
                && !self.store.sequencer.keeps_history()
            {
                match self.store.append_edges(write(next).label) {
                    Some(by) => {
                        let mut appending = Appending { by, room: &mut appended };
                        self.commit_together(short, writes, &mut group, &mut appending, done)?;
                    }
                    None => {
                        let mut planning = Planning { short, plans: &mut plans };
                        self.commit_together(short, writes, &mut group, &mut planning, done)?;
                    }
                }
            }
            if done.committed == next {
                let commit = self.commit_edge_unsettled(write(next))?;
                done.count(commit);
            }
            self.store.journal().map_or(Ok(()), Journal::relieve)?;
        }
        Ok(())
    }

    /// Commits the next edges that can be one group; none if the next edge needs the general
    /// commit.
    fn commit_together<'k, T: Together>(
        self,
        short: &E::ShortWrites,
        writes: impl Iterator<Item = EdgeWrite<'k>> + Clone,
        group: &mut Group,
        together: &mut T,
        done: &mut Commits,
    ) -> Result<(), Error> {
        let store = self.store;
        self.admit(T::LARGEST * BYTES_OF_CHANGE)?;
        let generation = store.dictionary.generation();
        self.gather(writes.take(T::LARGEST), together, group);
        short.prefetch(&group.edges);
        let appending = T::APPENDS.then(|| LockGuard::append(&store.units)).flatten();
        let guard = appending.unwrap_or_else(|| LockGuard::lock(&store.units, self.stripes_of_group(group)));
        let held = guard.held(&store.sequencer);
        group.edges.truncate(self.count_existing(&held, &group.edges)?);
        // Checked last: a key may have lost its id to another key, whose vertex was found instead.
        let pending = if store.dictionary.generation() == generation {
            together.commit(store, &held, group, done)?
        } else {
            PendingReclaim::default()
        };
        group.stripes = guard.release();
        store.reclaim_after_commit(pending, T::LARGEST);
        Ok(())
    }

    /// Collects the next edges that can be one group and whose ends have ids, with their locks
    /// unless they append.
    fn gather<'k, T: Together>(
        self,
        writes: impl Iterator<Item = EdgeWrite<'k>> + Clone,
        together: &T,
        group: &mut Group,
    ) {
        let store = self.store;
        group.edges.clear();
        group.stripes.clear();
        if T::PREFETCHES_KEYS {
            let keys = writes.clone().flat_map(|write| [write.source, write.destination]);
            keys.for_each(|key| store.dictionary.prefetch(key));
        }
        for EdgeWrite { label, source, destination, value } in writes {
            let (source, destination) =
                (store.dictionary.current(source), store.dictionary.current(destination));
            // A wrong key is reported when its edge is committed alone.
            let (Ok(Some(source)), Ok(Some(destination))) = (source, destination) else { break };
            let edge = StoredEdge::new(store.topology, label, source, destination, value);
            let stripes = if T::APPENDS { Stripes::new() } else { self.stripes_of_edge(&edge) };
            if !together.admits(group, &edge, &stripes) {
                break;
            }
            group.stripes.extend_from_slice(&stripes);
            group.edges.push(edge);
        }
    }

    /// Takes the lock stripes of a group out of it, ascending, without duplicates.
    fn stripes_of_group(self, group: &mut Group) -> Stripes {
        let mut stripes = std::mem::take(&mut group.stripes);
        if stripes.is_empty() {
            stripes.extend(group.edges.iter().flat_map(|edge| self.stripes_of_edge(edge)));
        }
        stripes.sort_unstable();
        stripes.dedup();
        stripes
    }

    /// The number of edges before the first that lacks an end.
    fn count_existing(self, held: &HeldLocks<'_>, edges: &[StoredEdge]) -> Result<usize, Error> {
        let mut existing = 0;
        while existing < edges.len() && self.both_exist(held, &edges[existing])? {
            existing += 1;
        }
        Ok(existing)
    }
}

impl Store {
    /// Commits `operations` on edges one by one, up to the first that is an error: for edges with
    /// records, which are not planned together. Waits once, as [`OnEngine::commit_each`] does.
    pub fn commit_each_operation<F: From<Error>>(
        &self,
        operations: impl Iterator<Item = Result<Operation, F>>,
    ) -> Result<Commits, EndedStream<F>> {
        let mut done = Commits::default();
        let mut commit = |operation: Result<Operation, F>| {
            done.count(self.commit_unsettled(&[operation?], None)?);
            Ok(self.journal().map_or(Ok(()), Journal::relieve)?)
        };
        let stream = { operations }.try_for_each(&mut commit);
        self.end_stream(stream, done)
    }

    /// Settles a stream, even if it ended early.
    fn end_stream<F: From<Error>>(
        &self,
        stream: Result<(), F>,
        done: Commits,
    ) -> Result<Commits, EndedStream<F>> {
        // If settling fails, the commits may or may not be durable.
        self.settle_stream(&done)
            .map_err(|error| EndedStream { committed: Commits::default(), error: error.into() })?;
        match stream {
            Ok(()) => Ok(done),
            Err(error) => Err(EndedStream { committed: done, error }),
        }
    }

    /// Waits until all that a stream committed or saw is as durable as the graph's option demands.
    fn settle_stream(&self, done: &Commits) -> Result<(), Error> {
        if done.committed == 0 {
            return Ok(());
        }
        let stamped = done.changed.at_most();
        let at = if stamped == done.committed as u64 { done.at } else { self.sequencer.newest().0 };
        self.settle_at(at, stamped > 0, Durability::None)
    }
}
