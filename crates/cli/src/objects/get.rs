//! `hedgerow get`

use super::args::{EdgeArgs, GetArgs, GetObject, Shown, VertexArgs};
use super::neighbors::exists;
use super::{NamedEdge, Reading, no_vertex};
use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::keys::{self, JsonKey};
use crate::stored::{self, number::EdgeNumber, properties::Properties};
use crate::text;
use clap::Args;
use hedgerow::{Direction, EdgeSchema, Key, LabelId, ReadGraph, Record};
use hedgerow_model::with_column;
use serde::Serialize;

#[derive(Debug, Serialize)]
struct Vertex {
    store: String,
    key: JsonKey,
    degrees: Vec<Degrees>,
    properties: Properties,
}

/// The degrees of a vertex over edges of a label.
#[derive(Debug, Serialize)]
struct Degrees {
    label: String,
    out: usize,
    /// `None` if the store does not keep in-neighbors.
    r#in: Option<usize>,
    /// The number of edges, if they may be parallel; else each neighbor has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    out_edges: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    in_edges: Option<u64>,
}

#[derive(Debug, Serialize)]
struct Edge {
    store: String,
    from: JsonKey,
    to: JsonKey,
    label: String,
    /// The value; null if the label carries none.
    value: EdgeNumber,
    /// The properties, present if edges of the label have records.
    #[serde(skip_serializing_if = "Option::is_none")]
    properties: Option<Properties>,
    /// The keys and properties of parallel edges, present instead of the value if edges may be
    /// parallel.
    #[serde(skip_serializing_if = "Option::is_none")]
    edges: Option<Vec<Properties>>,
}

/// Opens a store and prints a vertex or an edge.
pub fn execute(args: &GetArgs, console: &Console) -> Result<(), CliError> {
    let place = args.object.place();
    let state = stored::read(place.store.path(), &place.read, None, console)?;
    get(&args.object, &Reading::of(&state, place.store.path()), console)
}

/// Prints a vertex or an edge.
pub fn get<P: Args>(
    object: &GetObject<P>,
    reading: &Reading<'_, impl ReadGraph>,
    console: &Console,
) -> Result<(), CliError> {
    match object {
        GetObject::Vertex(args) => vertex(&args.what, reading, console),
        GetObject::Edge(args) => edge(&args.what, reading, console),
    }
}

fn vertex(
    args: &Shown<VertexArgs>,
    reading: &Reading<'_, impl ReadGraph>,
    console: &Console,
) -> Result<(), CliError> {
    let key = keys::parse("KEY", &args.object.key, reading.keys)?;
    if !exists(reading.graph, &key)? {
        return Err(no_vertex(&key, reading.store));
    }
    let degrees = degrees(reading, &key)?;
    let record = reading.graph.properties(&key).map_err(StoredError::from)?.unwrap_or_default();
    let properties = Properties::of(reading.catalog.vertices(), &record);
    let properties = properties.with_raw_times(args.times.raw_times);
    let store = reading.store.display().to_string();
    let vertex = Vertex { store, key: key.into(), degrees, properties };
    let is_undirected = reading.topology.is_undirected();
    console.print(&vertex, |vertex| {
        let several = vertex.degrees.len() > 1;
        let mut rows = vec![("vertex".to_owned(), vertex.key.to_string())];
        for Degrees { label, out, r#in, out_edges, in_edges } in &vertex.degrees {
            let name = |what: &str| if several { format!("{what}, {label}") } else { what.to_owned() };
            rows.push((
                name(if is_undirected { "degree" } else { "out-degree" }),
                text::Count(*out as u64).to_string(),
            ));
            if let (false, Some(degree)) = (is_undirected, r#in) {
                rows.push((name("in-degree"), text::Count(*degree as u64).to_string()));
            }
            if let Some(edges) = out_edges {
                rows.push((
                    name(if is_undirected { "edges" } else { "out-edges" }),
                    text::Count(*edges).to_string(),
                ));
            }
            if let (false, Some(edges)) = (is_undirected, in_edges) {
                rows.push((name("in-edges"), text::Count(*edges).to_string()));
            }
        }
        rows.extend(vertex.properties.iter().map(|(name, value)| (name.to_owned(), value.to_string())));
        let rows: Vec<_> = rows.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        text::table(&rows)
    })
}

fn degrees(reading: &Reading<'_, impl ReadGraph>, key: &Key) -> Result<Vec<Degrees>, StoredError> {
    let has_in = reading.topology.stored(Direction::In).is_some();
    let labels = (0..).map(LabelId).zip(reading.catalog.labels());
    let degrees = labels.map(|(label, schema)| {
        let degree = |direction| reading.graph.degree((label, direction), key);
        let out = degree(Direction::Out)?;
        let r#in = has_in.then(|| degree(Direction::In)).transpose()?;
        let edges = |direction| {
            let edges = reading.graph.parallel_neighbors::<()>((label, direction), key, ..);
            edges.map(|edges| edges.len() as u64)
        };
        let are_parallel = schema.edges.key().is_some();
        let out_edges = are_parallel.then(|| edges(Direction::Out)).transpose()?;
        let in_edges = (are_parallel && has_in).then(|| edges(Direction::In)).transpose()?;
        Ok(Degrees { label: schema.name.clone(), out, r#in, out_edges, in_edges })
    });
    degrees.collect()
}

fn edge(
    args: &Shown<EdgeArgs>,
    reading: &Reading<'_, impl ReadGraph>,
    console: &Console,
) -> Result<(), CliError> {
    let (graph, store) = (reading.graph, reading.store);
    let edge = NamedEdge::of(&args.object, reading.keys, &reading.catalog, store)?;
    let ends = [&edge.from, &edge.to].map(|key| exists(graph, key));
    let [Ok(true), Ok(true)] = ends else { return Err(edge.missing(graph, store)) };
    let value = with_column!(edge.schema.edges.column(), W => {
        let value = graph.get_edge::<W>(edge.label, &edge.from, &edge.to).map_err(StoredError::from)?;
        value.map(EdgeNumber::of)
    });
    let value = value.ok_or_else(|| edge.missing(graph, store))?;
    let edges = parallel(graph, &edge)?;
    if edges.as_ref().is_some_and(Vec::is_empty) {
        return Err(edge.missing(graph, store));
    }
    let schema = edge.schema.edges.record().filter(|_| edges.is_none());
    let properties = schema.map(|schema| {
        let record = graph.get_edge::<Record>(edge.label, &edge.from, &edge.to).map_err(StoredError::from)?;
        Ok::<_, StoredError>(Properties::of(schema, &record.unwrap_or_default()))
    });
    let shown = |properties: Properties| properties.with_raw_times(args.times.raw_times);
    let properties = properties.transpose()?.map(shown);
    let edges = edges.map(|edges| edges.into_iter().map(shown).collect());
    let edge = Edge {
        store: store.display().to_string(),
        from: edge.from.into(),
        to: edge.to.into(),
        label: edge.schema.name.clone(),
        value,
        properties,
        edges,
    };
    console.print(&edge, |Edge { from, to, value, properties, edges, .. }| {
        let line = |properties: &Properties| format!("{from} {to} {properties}\n");
        match (properties, edges, value) {
            (Some(properties), ..) => line(properties),
            (None, Some(edges), _) => edges.iter().map(line).collect(),
            (None, None, EdgeNumber::None) => format!("{from} {to}\n"),
            (None, None, value) => format!("{from} {to} {value}\n"),
        }
    })
}

/// The requested parallel edges; `None` if the label has none.
fn parallel(graph: &impl ReadGraph, edge: &NamedEdge<'_>) -> Result<Option<Vec<Properties>>, StoredError> {
    let EdgeSchema::Parallel(schema) = &edge.schema.edges else { return Ok(None) };
    let keys = edge.key.map_or(0..=u64::MAX, |key| key..=key);
    let edges = graph.parallel_edges::<Record>(edge.label, &edge.from, &edge.to, keys)?.into_iter();
    Ok(Some(edges.map(|(key, record)| Properties::of_parallel(schema, key, &record)).collect()))
}
