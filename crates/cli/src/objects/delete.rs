//! `hedgerow delete`

use super::args::{DeleteArgs, DeleteEdgeArgs, DeleteObject, VertexArgs};
use super::{NamedEdge, Writing, no_vertex};
use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::keys::{self, JsonKey};
use crate::text;
use clap::Args;
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

/// Opens a store and deletes a vertex or an edge.
pub fn execute(args: &DeleteArgs, console: &Console) -> Result<(), CliError> {
    Writing::once(args.object.place(), console, |writing| delete(&args.object, writing, console))
}

/// Deletes a vertex or an edge, as one commit; one that does not exist is an error.
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
    let ((), commit) =
        writing.commit(|transaction| Ok(transaction.delete_vertex(&key).map_err(StoredError::from)?))?;
    if commit.vertices_removed == 0 {
        return Err(no_vertex(&key, writing.store));
    }
    let deleted = DeletedVertex {
        store: writing.store.display().to_string(),
        key: key.into(),
        edges_deleted: commit.edges_removed.at_least(),
        timestamp: commit.at.0,
        durability: writing.durability.name(),
    };
    console.summarize(None, &deleted, |DeletedVertex { key, edges_deleted, .. }| {
        format!("vertex {key} deleted, with {}\n", text::counted(*edges_deleted, "edge", "edges"))
    })
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
    let (failed, missing) = (edge.condition_failed(store), edge.missing(store));
    let (held, commit) = writing.commit(|transaction| {
        if edge.key.is_some() || is_conditional {
            return edge.update(transaction, edge.key, &delete);
        }
        transaction.delete_edge(edge.label, &edge.from, &edge.to).map_err(StoredError::from)?;
        Ok(true)
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
        durability: writing.durability.name(),
    };
    if !held {
        console.summarize(None, &deleted, |_| String::new())?;
        return Err(failed);
    }
    console.summarize(None, &deleted, |DeletedEdge { from, to, edges_deleted, .. }| match edges_deleted {
        1 => format!("edge from {from} to {to} deleted\n"),
        edges => format!("{} from {from} to {to} deleted\n", text::counted(*edges, "edge", "edges")),
    })
}
