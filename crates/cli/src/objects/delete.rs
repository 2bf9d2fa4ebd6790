//! `hedgerow delete`

use super::args::{DeleteArgs, DeleteEdgeArgs, DeleteObject, VertexArgs};
use super::neighbors::exists;
use super::{NamedEdge, Outcome, UNCHANGED, Writing, no_vertex};
use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::keys::{self, JsonKey};
use crate::text;
use clap::Args;
use hedgerow::{Commit, EdgeUpdate, ReadGraph, WriteGraph};
use serde::Serialize;

#[derive(Debug, Serialize)]
struct DeletedVertex {
    store: String,
    key: JsonKey,
    /// The outcome, with edges of all labels.
    #[serde(flatten)]
    outcome: Outcome<Deletion>,
}

#[derive(Debug, Serialize)]
struct DeletedEdge {
    store: String,
    from: JsonKey,
    to: JsonKey,
    label: String,
    /// The outcome, with several edges if they were parallel.
    #[serde(flatten)]
    outcome: Outcome<Deletion>,
}

/// The commit of a deletion.
#[derive(Debug, Serialize)]
struct Deletion {
    edges_deleted: u64,
    timestamp: u64,
    durability: &'static str,
}

impl Deletion {
    fn of(commit: &Commit, writing: &Writing<'_>) -> Self {
        let (timestamp, durability) = (commit.at.0, writing.durability.name());
        Deletion { edges_deleted: commit.edges_removed.at_least(), timestamp, durability }
    }
}

/// Opens a store and deletes a vertex or an edge.
pub fn execute(args: &DeleteArgs, console: &Console) -> Result<(), CliError> {
    Writing::once(args.object.place(), console, |writing| delete(&args.object, writing, console))
}

/// Deletes a vertex or an edge, as one commit. Fails if it does not exist.
pub fn delete<P: Args>(
    object: &DeleteObject<P>,
    writing: &Writing<'_>,
    console: &Console,
) -> Result<(), CliError> {
    match object {
        DeleteObject::Vertex(args) => vertex(&args.what, writing, console),
        DeleteObject::Edge(args) => edge(&args.what, writing, console),
    }
}

fn vertex(args: &VertexArgs, writing: &Writing<'_>, console: &Console) -> Result<(), CliError> {
    let key = keys::parse("KEY", &args.key, writing.graph.key_kind())?;
    let ((), outcome) = writing.commit(|transaction| {
        if !exists(transaction, &key)? {
            return Err(no_vertex(&key, writing.store));
        }
        Ok(transaction.delete_vertex(&key).map_err(StoredError::from)?)
    })?;
    let deleted = DeletedVertex {
        store: writing.store.display().to_string(),
        key: key.into(),
        outcome: outcome.map(|commit| Deletion::of(&commit, writing)),
    };
    let printed = console.summarize(None, &deleted, |DeletedVertex { key, outcome, .. }| match outcome {
        Outcome::Staged { .. } => format!("deletion of vertex {key} staged\n"),
        Outcome::Committed(Deletion { edges_deleted, .. }) => {
            format!("vertex {key} deleted, with {}\n", text::counted(*edges_deleted, "edge", "edges"))
        }
    });
    printed.map_err(|error| error.but(deleted.outcome.done()))
}

fn edge(args: &DeleteEdgeArgs, writing: &Writing<'_>, console: &Console) -> Result<(), CliError> {
    let &Writing { graph, store, .. } = writing;
    let catalog = graph.catalog();
    let edge = NamedEdge::of(&args.edge, graph.key_kind(), &catalog, store)?;
    let is_conditional = !args.conditions.only_if.is_empty();
    if is_conditional {
        edge.needed_key()?;
    }
    let delete = edge.conditions(&args.conditions, EdgeUpdate::delete())?;
    let failed = edge.condition_failed(store);
    let (held, outcome) = writing.commit(|transaction| {
        let (held, is_there) = match edge.key.is_some() || is_conditional {
            true => {
                let updated = edge.update(transaction, edge.key, &delete)?;
                (updated.held, updated.changed)
            }
            false => {
                let is_there = transaction.contains_edge(edge.label, &edge.from, &edge.to);
                transaction.delete_edge(edge.label, &edge.from, &edge.to).map_err(StoredError::from)?;
                (true, is_there.map_err(StoredError::from)?)
            }
        };
        if held && !is_there {
            return Err(edge.missing(store));
        }
        Ok(held)
    })?;
    let deleted = DeletedEdge {
        store: store.display().to_string(),
        from: edge.from.into(),
        to: edge.to.into(),
        label: edge.schema.name.clone(),
        outcome: outcome.map(|commit| Deletion::of(&commit, writing)),
    };
    if !held {
        console.summarize(None, &deleted, |_| String::new()).map_err(|error| error.but(UNCHANGED))?;
        return Err(failed);
    }
    let printed = console.summarize(None, &deleted, |DeletedEdge { from, to, outcome, .. }| match outcome {
        Outcome::Staged { .. } => format!("deletion of the edge from {from} to {to} staged\n"),
        Outcome::Committed(Deletion { edges_deleted: 1, .. }) => {
            format!("edge from {from} to {to} deleted\n")
        }
        Outcome::Committed(Deletion { edges_deleted: edges, .. }) => {
            format!("{} from {from} to {to} deleted\n", text::counted(*edges, "edge", "edges"))
        }
    });
    printed.map_err(|error| error.but(deleted.outcome.done()))
}
