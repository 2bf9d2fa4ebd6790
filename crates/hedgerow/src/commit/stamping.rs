//! The stamp of a commit, with its place in the log where there is one; and what a commit waits for before anybody is told.

use crate::commit::Commit;
use crate::commit::resolve::Resolved;
use crate::durable::with_body;
use crate::error::Reason;
use crate::storage::Store;
use hedgerow_log::{CommitRef, Durability};
use hedgerow_model::{EdgeOutcome, Engine, Key, Outcome, StoredEdge, Timestamp, VertexId};
use hedgerow_sequencer::{CountChanges, Stamped, Writer};

impl<E: Engine> Store<E> {
    /// Stamps a commit of one edge. Its locks are held.
    #[inline]
    pub(super) fn stamp_edge(&self, edge: &StoredEdge, outcome: EdgeOutcome) -> Result<Stamped, Reason> {
        let outcome = [outcome];
        let counts = CountChanges { edges: &outcome, ..CountChanges::default() };
        let Some(journal) = self.journal() else {
            return Ok(self.sequencer.stamp(counts, Writer::Blind)?);
        };
        with_body(|body| {
            body.encode_edge(edge, self.topology);
            Ok(self.sequencer.stamp_logged(journal.commit_log()?, body, None, counts, Writer::Blind)?)
        })
    }

    /// Stamps a commit. Its locks are held. `input` is what an importer notes with it.
    pub(super) fn stamp(
        &self,
        resolved: &Resolved,
        outcome: &Outcome,
        writer: Writer,
        input: Option<&[u8]>,
    ) -> Result<Stamped, Reason> {
        let Outcome { edges, parallel } = outcome;
        let counts = CountChanges { vertices: resolved.vertex_counts(), edges, parallel };
        let Some(journal) = self.journal() else {
            let stamped = self.sequencer.stamp(counts, writer)?;
            input.into_iter().for_each(|input| self.sequencer.note_input(input));
            return Ok(stamped);
        };
        let keys = self.keys_of(&resolved.created);
        with_body(|body| {
            let effects = &resolved.effects;
            let record_labels = &self.record_labels;
            let commit = CommitRef { effects, keys: &keys, catalogue: None, input, record_labels };
            body.encode(&commit, self.topology);
            Ok(self.sequencer.stamp_logged(journal.commit_log()?, body, input, counts, writer)?)
        })
    }

    /// New vertices with their keys, which the log keeps. None where the keys are the ids.
    fn keys_of(&self, created: &[VertexId]) -> Vec<(VertexId, Key)> {
        match self.dictionary.is_dense() {
            true => Vec::new(),
            false => created.iter().map(|id| (*id, self.dictionary.key(*id))).collect(),
        }
    }

    /// Waits until a commit is as durable as the graph's option says, or as `asked` does if that is more. Of a commit that
    /// changed nothing, until what it saw is. Its locks are released.
    #[inline]
    pub(crate) fn settle(&self, commit: Commit, asked: Durability) -> Result<Commit, Reason> {
        if let Some(journal) = self.journal() {
            journal.settle(&commit, asked)?;
        }
        Ok(commit)
    }

    /// Waits until everything that is stamped is published: whoever saw it under locks may then tell.
    pub(crate) fn settle_seen(&self) -> Result<(), Reason> {
        match self.journal() {
            Some(journal) => journal.settle_read(self.sequencer.newest().0, Durability::None),
            None => Ok(()),
        }
    }

    /// Waits until what was read at `at` is as durable as `asked` says.
    pub(crate) fn settle_read(&self, at: Timestamp, asked: Durability) -> Result<(), Reason> {
        match self.journal() {
            Some(journal) => journal.settle_read(at, asked),
            None => Ok(()),
        }
    }
}
