//! `hedgerow put`

use super::args::{PutArgs, PutEdgeArgs, PutObject, PutVertexArgs};
use super::{NamedEdge, Outcome, UNCHANGED, Writing};
use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::keys::{self, JsonKey};
use crate::stored::{number::EdgeNumber, schema};
use clap::Args;
use hedgerow::{Column, Commit, EdgeData, EdgeUpdate, Label, ReadGraph, WriteGraph, WriteTxn};
use hedgerow_model::with_column;
use serde::Serialize;

#[derive(Debug, Serialize)]
struct PutVertex {
    store: String,
    key: JsonKey,
    #[serde(flatten)]
    outcome: Outcome<PutCommit>,
}

#[derive(Debug, Serialize)]
struct PutEdge {
    store: String,
    from: JsonKey,
    to: JsonKey,
    label: String,
    /// The key, if edges of the label may be parallel.
    #[serde(skip_serializing_if = "Option::is_none")]
    edge_key: Option<u64>,
    value: EdgeNumber,
    #[serde(flatten)]
    outcome: Outcome<PutCommit>,
}

/// The commit of a vertex or an edge.
#[derive(Debug, Serialize)]
struct PutCommit {
    /// True if the vertex or edge did not exist before.
    added: bool,
    /// True if anything changed.
    changed: bool,
    timestamp: u64,
    durability: &'static str,
}

impl PutCommit {
    fn of(commit: &Commit, (added, changed): (bool, bool), writing: &Writing<'_>) -> Self {
        let (timestamp, durability) = (commit.at.0, writing.durability.name());
        PutCommit { added, changed, timestamp, durability }
    }
}

/// The effect of putting an edge, by the state that the transaction reads: an engine may look it up
/// only later. If another commit changes the edge meanwhile, the transaction is a conflict.
struct StagedEdge {
    /// True if the condition holds.
    held: bool,
    /// True if there was an edge between the two vertices.
    was_there: bool,
    changed: bool,
}

/// Opens a store and puts a vertex or an edge.
pub fn execute(args: &PutArgs, console: &Console) -> Result<(), CliError> {
    let place = args.object.place();
    Writing::once(place.store.path(), &place.write, console, |writing| put(&args.object, writing, console))
}

/// Puts a vertex or an edge, as one commit.
pub fn put<P: Args>(object: &PutObject<P>, writing: &Writing<'_>, console: &Console) -> Result<(), CliError> {
    match object {
        PutObject::Vertex(args) => vertex(&args.what, writing, console),
        PutObject::Edge(args) => edge(&args.what, writing, console),
    }
}

fn vertex(args: &PutVertexArgs, writing: &Writing<'_>, console: &Console) -> Result<(), CliError> {
    let &Writing { graph, store, .. } = writing;
    let key = keys::parse("KEY", &args.vertex.key, graph.key_kind())?;
    let catalog = graph.catalog();
    let fields = &catalog.vertices().fields;
    let properties = args
        .property
        .iter()
        .map(|given| schema::named_property("--property", given, fields, "vertices of this store"));
    let properties = properties.collect::<Result<Vec<_>, _>>()?;
    let ((), outcome) = writing.commit(|transaction| {
        transaction.add_vertex(&key).map_err(StoredError::from)?;
        if !properties.is_empty() {
            transaction.set_properties(&key, &properties).map_err(StoredError::from)?;
        }
        Ok(())
    })?;
    let put = PutVertex {
        store: store.display().to_string(),
        key: key.into(),
        outcome: outcome.map(|commit| {
            // Vertices are looked up by every engine.
            PutCommit::of(&commit, (commit.vertices_added > 0, commit.changed != Some(false)), writing)
        }),
    };
    let printed = console.summarize(None, &put, |PutVertex { key, .. }| {
        let done = done(&put.outcome, "has the properties now");
        format!("vertex {key} {done}\n")
    });
    printed.map_err(|error| error.but(put.outcome.done()))
}

fn edge(args: &PutEdgeArgs, writing: &Writing<'_>, console: &Console) -> Result<(), CliError> {
    let &Writing { graph, store, .. } = writing;
    let catalog = graph.catalog();
    let edge = NamedEdge::of(&args.edge, graph.key_kind(), &catalog, store)?;
    let (update, key) = (update(args, &edge)?, edge.needed_key()?);
    let value = match update {
        Some(_) => EdgeNumber::None,
        None => EdgeNumber::given(args.value.as_deref(), edge.schema)?,
    };
    let failed = edge.condition_failed(store);
    let (staged, outcome) = writing.commit(|transaction| match &update {
        Some(update) => {
            let was_there = transaction.contains_edge(edge.label, &edge.from, &edge.to);
            let was_there = was_there.map_err(StoredError::from)?;
            let updated = edge.update(transaction, key, update)?;
            Ok(StagedEdge { held: updated.held, was_there, changed: updated.changed })
        }
        None => Ok(with_column!(edge.schema.edges.column(), W => stage::<W>(transaction, &edge, value))
            .map_err(StoredError::from)?),
    })?;
    let put = PutEdge {
        store: store.display().to_string(),
        from: edge.from.into(),
        to: edge.to.into(),
        label: edge.schema.name.clone(),
        edge_key: key,
        value,
        outcome: outcome.map(|commit| {
            // Parallel edges are always counted.
            let added = commit.edges_added.exact().map_or(!staged.was_there, |added| added > 0);
            PutCommit::of(&commit, (added, staged.changed), writing)
        }),
    };
    if !staged.held {
        console.summarize(None, &put, |_| String::new()).map_err(|error| error.but(UNCHANGED))?;
        return Err(failed);
    }
    let printed = console.summarize(None, &put, |PutEdge { from, to, .. }| {
        let number = key.map_or(String::new(), |key| format!(" number {key}"));
        let done = done(&put.outcome, "has the value now");
        format!("edge from {from} to {to}{number} {done}\n")
    });
    printed.map_err(|error| error.but(put.outcome.done()))
}

/// The properties given for an edge of a label that has records; `None` for any other label.
fn update<'a>(args: &'a PutEdgeArgs, edge: &NamedEdge<'_>) -> Result<Option<EdgeUpdate<'a>>, StoredError> {
    let mut update = edge.conditions(&args.conditions, EdgeUpdate::upsert())?;
    for given in &args.property {
        let (name, value) = edge.property("--property", given)?;
        update = update.set(name, value);
    }
    Ok((edge.schema.edges.record().is_some() && args.value.is_none()).then_some(update))
}

/// Stages an edge whose label carries values of type `W`, unless it has the value already.
fn stage<W: Column + EdgeData>(
    transaction: &WriteTxn,
    edge: &NamedEdge<'_>,
    value: EdgeNumber,
) -> Result<StagedEdge, hedgerow::Error> {
    let (label, value) = (Label::<W>::from(edge.label), W::from_bits(value.bits()));
    let found = transaction.get_edge(label, &edge.from, &edge.to)?;
    let changed = found.map(Column::to_bits) != Some(value.to_bits());
    if changed {
        transaction.put_edge_with(label, &edge.from, &edge.to, value)?;
    }
    Ok(StagedEdge { held: true, was_there: found.is_some(), changed })
}

/// The result in words.
fn done(outcome: &Outcome<PutCommit>, replaced: &'static str) -> &'static str {
    match outcome {
        Outcome::Staged { .. } => "staged",
        Outcome::Committed(PutCommit { added: true, .. }) => "added",
        Outcome::Committed(PutCommit { changed: true, .. }) => replaced,
        Outcome::Committed(_) => "was there already, nothing changed",
    }
}
