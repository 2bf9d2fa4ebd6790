//! The transaction that `begin` opens in a shell.

use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::objects::Writing;
use crate::text;
use hedgerow::WriteTxn;
use serde::Serialize;
use std::path::Path;

/// An open transaction. Dropping it rolls it back.
#[derive(Debug)]
pub struct OpenTransaction {
    changes: WriteTxn,
    /// True if a line failed since the transaction began, in a shell that goes on.
    is_incomplete: bool,
}

#[derive(Debug, Serialize)]
struct Begun {
    store: String,
    /// The commit whose state the transaction reads.
    began_at: u64,
}

#[derive(Debug, Serialize)]
struct Committed {
    store: String,
    /// True if anything changed; null if the engine looks up later which edges exist.
    changed: Option<bool>,
    edges_added: text::Edges,
    #[serde(skip_serializing_if = "Option::is_none")]
    edges_added_at_least: Option<u64>,
    edges_deleted: text::Edges,
    #[serde(skip_serializing_if = "Option::is_none")]
    edges_deleted_at_least: Option<u64>,
    vertices_added: u64,
    vertices_deleted: u64,
    timestamp: u64,
    durability: &'static str,
}

#[derive(Debug, Serialize)]
struct RolledBack {
    store: String,
    rolled_back: bool,
}

impl OpenTransaction {
    /// Begins a transaction on the newest state.
    pub fn begin(writing: &Writing<'_>) -> Result<Self, CliError> {
        let changes = writing.graph.begin().map_err(StoredError::from)?;
        Ok(OpenTransaction { changes, is_incomplete: false })
    }

    /// Prints that the transaction is open.
    pub fn confirm(&self, store: &Path, console: &Console) -> Result<(), CliError> {
        let begun = Begun { store: store.display().to_string(), began_at: self.changes.began_at().0 };
        let printed = console.summarize(None, &begun, |_| "transaction begun\n".to_owned());
        printed.map_err(|error| error.but("the transaction is open"))
    }

    /// The transaction, for reading its state and staging changes.
    pub fn changes(&self) -> &WriteTxn {
        &self.changes
    }

    /// Notes that a line failed, so that the transaction cannot be committed.
    pub fn line_failed(&mut self) {
        self.is_incomplete = true;
    }

    /// Commits the transaction. If that fails, it is rolled back.
    pub fn commit(self, writing: &Writing<'_>, console: &Console) -> Result<(), CliError> {
        if self.is_incomplete {
            return Err(CliError::IncompleteTransaction);
        }
        let commit = self.changes.commit().map_err(|error| CliError::RolledBack(error.into()))?;
        let (added, deleted) = (text::Edges(commit.edges_added), text::Edges(commit.edges_removed));
        let committed = Committed {
            store: writing.store.display().to_string(),
            changed: commit.changed,
            edges_added: added,
            edges_added_at_least: added.at_least(),
            edges_deleted: deleted,
            edges_deleted_at_least: deleted.at_least(),
            vertices_added: commit.vertices_added,
            vertices_deleted: commit.vertices_removed,
            timestamp: commit.at.0,
            durability: writing.durability.name(),
        };
        let printed = console.summarize(None, &committed, Committed::in_words);
        printed.map_err(|error| error.but("the transaction is committed"))
    }

    /// Drops the changes of the transaction.
    pub fn roll_back(self, store: &Path, console: &Console) -> Result<(), CliError> {
        let rolled_back = RolledBack { store: store.display().to_string(), rolled_back: true };
        let printed = console.summarize(None, &rolled_back, |_| "transaction rolled back\n".to_owned());
        printed.map_err(|error| error.but("the transaction is rolled back"))
    }
}

impl Committed {
    fn in_words(&self) -> String {
        if self.changed == Some(false) {
            return "transaction committed: nothing changed\n".to_owned();
        }
        let vertices = |count, done| (count > 0).then(|| text::counted(count, "vertex", "vertices") + done);
        let edges = |count: text::Edges, done| (!count.are_none()).then(|| count.with_noun() + done);
        let counted = [
            vertices(self.vertices_added, " added"),
            vertices(self.vertices_deleted, " deleted"),
            edges(self.edges_added, " added"),
            edges(self.edges_deleted, " deleted"),
        ];
        let counted: Vec<_> = counted.into_iter().flatten().collect();
        match counted.is_empty() {
            true => "transaction committed\n".to_owned(),
            false => format!("transaction committed: {}\n", counted.join(", ")),
        }
    }
}
