//! `hedgerow delete`

use super::args::{DeleteArgs, DeleteEdgeArgs, DeleteObject, VerticesArgs};
use super::neighbors::exists;
use super::{NamedEdge, Outcome, UNCHANGED, Writing, no_vertex};
use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::keys::JsonKey;
use crate::options::At;
use crate::text;
use clap::Args;
use hedgerow::{Commit, EdgeUpdate, ReadGraph, Topology, WriteGraph};
use serde::Serialize;

#[derive(Debug, Serialize)]
struct DeletedVertices {
    store: String,
    /// The key, if only one vertex was deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<JsonKey>,
    keys: Vec<JsonKey>,
    /// The edges that were read to find those that end at the vertices; null if the store keeps
    /// in-neighbors.
    scanned_edges: Option<text::Edges>,
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

/// Opens a store and deletes vertices or an edge.
pub fn execute(args: &DeleteArgs, console: &Console) -> Result<(), CliError> {
    match &args.object {
        DeleteObject::Vertex(At { what, place }) => {
            let (keys, store) = what.with_store(place.store())?;
            Writing::once(store, &place.write, console, |writing| vertices(what, keys, writing, console))
        }
        DeleteObject::Edge(At { what, place }) => {
            Writing::once(place.store.path(), &place.write, console, |writing| edge(what, writing, console))
        }
    }
}

/// Deletes vertices or an edge in a shell, as one commit. Fails if one does not exist.
pub fn delete<P: Args>(
    object: &DeleteObject<P>,
    writing: &Writing<'_>,
    console: &Console,
) -> Result<(), CliError> {
    match object {
        DeleteObject::Vertex(args) => vertices(&args.what, args.what.in_shell()?, writing, console),
        DeleteObject::Edge(args) => edge(&args.what, writing, console),
    }
}

fn vertices(
    args: &VerticesArgs,
    keys: &[String],
    writing: &Writing<'_>,
    console: &Console,
) -> Result<(), CliError> {
    let keys = args.parse(keys, writing.graph.key_kind())?;
    let scans = writing.graph.topology() == Topology::Directed;
    let scanned_edges = match scans {
        true => Some(text::Edges(writing.graph.snapshot().map_err(StoredError::from)?.edge_count())),
        false => None,
    };
    let ((), outcome) = writing.commit(|transaction| {
        for key in &keys {
            if !exists(transaction, key)? {
                return Err(no_vertex(key, writing.store));
            }
            transaction.delete_vertex(key).map_err(StoredError::from)?;
        }
        Ok(())
    })?;
    let one = match &keys[..] {
        [key] => Some(key.clone().into()),
        _ => None,
    };
    let deleted = DeletedVertices {
        store: writing.store.display().to_string(),
        key: one,
        keys: keys.into_iter().map(JsonKey::from).collect(),
        scanned_edges,
        outcome: outcome.map(|commit| Deletion::of(&commit, writing)),
    };
    let printed = console.summarize(None, &deleted, DeletedVertices::describe);
    printed.map_err(|error| error.but(deleted.outcome.done()))
}

impl DeletedVertices {
    fn describe(&self) -> String {
        let vertices = match &self.key {
            Some(key) => format!("vertex {key}"),
            None => text::counted(self.keys.len() as u64, "vertex", "vertices"),
        };
        let Outcome::Committed(Deletion { edges_deleted, .. }) = &self.outcome else {
            return format!("deletion of {vertices} staged\n");
        };
        let edges = text::counted(*edges_deleted, "edge", "edges");
        let scan = self.scanned_edges.map_or(String::new(), |all| {
            format!("; {} keeps no in-neighbors: a scan of {} found them", self.store, all.with_noun())
        });
        format!("{vertices} deleted, with {edges}{scan}\n")
    }
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
            return Err(edge.missing(transaction, store));
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
