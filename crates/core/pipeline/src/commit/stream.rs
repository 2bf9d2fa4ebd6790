//! A stream of edges with one commit per edge, which waits once for all to be durable.

use crate::commit::Commit;
use crate::commit::edges::{EdgeWrite, Slice};
use crate::error::Error;
use crate::journal::Journal;
use crate::store::{OnEngine, Store};
use hedgerow_log::Durability;
use hedgerow_model::{CommitTimestamp, Count, Engine, Operation};

/// The result of a stream of commits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Commits {
    /// Number of edges committed, from the beginning of the stream.
    pub committed: usize,
    /// Number of commits that changed something. Exact, unless the engine counts later; the upper
    /// bound is the number of timestamps that the commits took.
    pub changed: Count,
    /// The newest timestamp of the commits; zero if they took none.
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
        if commit.changed != Some(false) {
            self.changed += commit.changed.map_or(Count::between(0, 1), |_| Count::exactly(1));
            self.at = commit.at;
        }
        self.edges_added += commit.edges_added;
        self.edges_removed += commit.edges_removed;
        self.vertices_added += commit.vertices_added;
    }

    /// The only one of the commits. If it changed nothing, it saw the state at `newest`.
    #[inline]
    pub(super) fn to_only(self, newest: impl FnOnce() -> CommitTimestamp) -> Commit {
        let Commits { changed, at, edges_added, edges_removed, vertices_added, .. } = self;
        let changed = changed.exact().map(|changed| changed > 0);
        let at = if changed == Some(false) { newest() } else { at };
        Commit { at, changed, edges_added, edges_removed, vertices_added, ..Commit::default() }
    }
}

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
        let mut slice = Slice::default();
        while done.committed < count {
            let next = done.committed;
            self.commit_slice((next..count).map(&write), &mut slice, done)?;
            if done.committed == next {
                done.count(self.store.commit_unsettled(&[write(next).to_operation()], None)?);
            }
            self.store.journal().map_or(Ok(()), Journal::relieve)?;
        }
        Ok(())
    }
}

impl Store {
    /// Commits `operations` on edges one by one, up to the first that is an error: for edges with
    /// records, which are not made together. Waits once, as [`OnEngine::commit_each`] does.
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
