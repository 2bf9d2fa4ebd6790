//! `hedgerow delete`

use super::args::{DeleteArgs, DeleteEdgeArgs, DeleteObject, DeleteVertexArgs};
use super::{NamedEdge, commit, no_vertex, open};
use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::keys::{self, JsonKey};
use crate::text;
use hedgerow::{EdgeUpdate, WriteGraph};
use serde::Serialize;

#[derive(Debug, Serialize)]
struct DeletedVertex {
    store: String,
    key: JsonKey,
    /// Edges of all labels.
    edges_deleted: u64,
    timestamp: u64,
    durability: &'static str,
}

#[derive(Debug, Serialize)]
struct DeletedEdge {
    store: String,
    from: JsonKey,
    to: JsonKey,
    label: String,
    /// More than one if they were parallel.
    edges_deleted: u64,
    timestamp: u64,
    durability: &'static str,
}

/// Deletes a vertex or an edge, as one commit; one that does not exist is an error.
pub fn execute(args: &DeleteArgs, console: &Console) -> Result<(), CliError> {
    match &args.object {
        DeleteObject::Vertex(args) => vertex(args, console),
        DeleteObject::Edge(args) => edge(args, console),
    }
}

fn vertex(args: &DeleteVertexArgs, console: &Console) -> Result<(), CliError> {
    let store = &args.vertex.store;
    let graph = open(store, &args.write, console)?;
    let key = keys::parse("KEY", &args.vertex.key, graph.key_kind())?;
    let ((), commit) =
        commit(&graph, |transaction| Ok(transaction.delete_vertex(&key).map_err(StoredError::from)?))?;
    if commit.vertices_removed == 0 {
        return Err(no_vertex(&key, store));
    }
    let deleted = DeletedVertex {
        store: store.display().to_string(),
        key: key.into(),
        edges_deleted: commit.edges_removed.at_least(),
        timestamp: commit.at.0,
        durability: args.write.durability.name(),
    };
    console.print(&deleted, |DeletedVertex { key, edges_deleted, .. }| {
        format!("vertex {key} deleted, with {}\n", text::counted(*edges_deleted, "edge", "edges"))
    })
}

fn edge(args: &DeleteEdgeArgs, console: &Console) -> Result<(), CliError> {
    let store = &args.edge.store;
    let graph = open(store, &args.write, console)?;
    let edge = NamedEdge::of(&args.edge, graph.key_kind(), graph.catalog())?;
    let is_conditional = !args.conditions.only_if.is_empty();
    if is_conditional {
        edge.needed_key()?;
    }
    let delete = edge.conditions(&args.conditions, EdgeUpdate::delete())?;
    let holds = args.conditions.hold(&edge, &graph)?;
    let (failed, missing) = (edge.condition_failed(store), edge.missing(store));
    let ((), commit) = commit(&graph, |transaction| {
        let (label, from, to) = (edge.label, &edge.from, &edge.to);
        let deleted = match edge.key {
            Some(key) => transaction.update_parallel_edge(label, from, to, key, &delete),
            None if is_conditional => transaction.update_edge(label, from, to, &delete),
            None => transaction.delete_edge(label, from, to),
        };
        Ok(deleted.map_err(StoredError::from)?)
    })?;
    if commit.edges_removed == 0 && !is_conditional {
        return Err(missing);
    }
    let deleted = DeletedEdge {
        store: store.display().to_string(),
        from: edge.from.into(),
        to: edge.to.into(),
        label: edge.schema.name.clone(),
        edges_deleted: commit.edges_removed.at_least(),
        timestamp: commit.at.0,
        durability: args.write.durability.name(),
    };
    if holds == Some(false) {
        console.print(&deleted, |_| String::new())?;
        return Err(failed);
    }
    console.print(&deleted, |DeletedEdge { from, to, edges_deleted, .. }| match edges_deleted {
        1 => format!("edge from {from} to {to} deleted\n"),
        edges => format!("{} from {from} to {to} deleted\n", text::counted(*edges, "edge", "edges")),
    })
}
