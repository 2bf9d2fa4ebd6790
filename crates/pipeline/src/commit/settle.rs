//! What a commit waits for before anybody is told.

use crate::commit::Commit;
use crate::error::Error;
use crate::store::Store;
use hedgerow_log::Durability;
use hedgerow_model::{Engine, Timestamp};

impl<E: Engine> Store<E> {
    /// Waits until a commit is as durable as the graph's option says, or as `asked` does if that is more. Of a commit that
    /// changed nothing, until what it saw is. Its locks are released.
    #[inline]
    pub fn settle(&self, commit: Commit, asked: Durability) -> Result<Commit, Error> {
        if let Some(journal) = self.journal() {
            journal.settle(commit.at, commit.changed, asked)?;
        }
        Ok(commit)
    }

    /// Waits until everything that is stamped is published: whoever saw it under locks may then tell.
    pub fn settle_seen(&self) -> Result<(), Error> {
        match self.journal() {
            Some(journal) => journal.settle_read(self.sequencer.newest().0, Durability::None),
            None => Ok(()),
        }
    }

    /// Waits until what was read at `at` is as durable as `asked` says.
    pub fn settle_read(&self, at: Timestamp, asked: Durability) -> Result<(), Error> {
        match self.journal() {
            Some(journal) => journal.settle_read(at, asked),
            None => Ok(()),
        }
    }
}
