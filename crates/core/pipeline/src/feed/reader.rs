//! Reading commits where they are: in the log of a store, or in memory.

use super::log_of;
use crate::error::Error;
use crate::journal::Journal;
use crate::store::Store;
use hedgerow_log::{CommitReader, LogRecord};
use hedgerow_model::CommitTimestamp;
use hedgerow_sequencer::{CommitDropped, Following, ReaderKind, Sequencer};
use hedgerow_sync::Arc;
use std::ops::ControlFlow;

/// A place among the commits of a graph.
#[derive(Clone, Debug)]
pub(super) enum Reader {
    /// Commits that are kept for followers, and the next one.
    Recent(Arc<Following>, CommitTimestamp),
    Log(CommitReader),
}

impl Reader {
    /// The commits of a graph without a log after `after`, or from now on.
    pub(super) fn of_recent(
        sequencer: &Arc<Sequencer>,
        after: Option<CommitTimestamp>,
        bytes: usize,
    ) -> Result<Self, Error> {
        let following = Following::new(Arc::clone(sequencer), bytes);
        let next = after.unwrap_or(following.after()).next();
        match following.oldest() {
            oldest if next < oldest => Err(CommitDropped { asked: next, oldest }.into()),
            _ => Ok(Reader::Recent(Arc::new(following), next)),
        }
    }

    /// The commits of a store after `after`, or after the newest that a snapshot shows, and the
    /// wall-clock time of that one.
    pub(super) fn of_log(
        store: &Store,
        journal: &Journal,
        after: Option<CommitTimestamp>,
    ) -> Result<(Self, u64), Error> {
        let after = match after {
            Some(after) => after,
            None => Sequencer::open(&*store.sequencer, ReaderKind::Snapshot)?.token().at(),
        };
        if let Some(log) = log_of(store) {
            log.write_through(after)?;
        }
        let manifest = || Ok(journal.manifest());
        let (reader, wall_clock) = CommitReader::from_commit(Arc::clone(journal.files()), after, manifest)?;
        Ok((Reader::Log(reader), wall_clock))
    }

    /// The commit to be read next.
    pub(super) fn next(&self) -> CommitTimestamp {
        match self {
            Reader::Recent(_, next) => *next,
            Reader::Log(reader) => reader.next(),
        }
    }

    /// Passes over all commits up to `at`.
    pub(super) fn pass_over(&mut self, at: CommitTimestamp) {
        match self {
            Reader::Recent(_, next) => *next = at.next().max(*next),
            Reader::Log(reader) => reader.pass_over(at),
        }
    }

    /// Passes the next commits, up to `through`, which was published, to `visit`, until it breaks
    /// or fails. A commit with which it fails is passed again next time.
    pub(super) fn read(
        &mut self,
        store: &Store,
        through: CommitTimestamp,
        visit: &mut dyn FnMut(&LogRecord<'_>) -> Result<ControlFlow<()>, Error>,
    ) -> Result<(), Error> {
        match self {
            Reader::Recent(following, next) => {
                while *next <= through {
                    let Some(piece) = following.piece(*next)? else { return Ok(()) };
                    for record in piece.commits(*next).take_while(|record| record.at <= through) {
                        let flow = visit(&record)?;
                        *next = record.at.next();
                        if flow.is_break() {
                            return Ok(());
                        }
                    }
                }
                Ok(())
            }
            Reader::Log(reader) => {
                if let Some(log) = log_of(store) {
                    log.write_through(through)?;
                }
                let journal = store.journal().ok_or(Error::InMemory)?;
                reader.read(through, || Ok(journal.manifest()), visit)
            }
        }
    }
}
