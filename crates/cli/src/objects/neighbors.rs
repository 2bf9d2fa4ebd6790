//! `hedgerow neighbors`

use super::args::{DirectionName, NeighborhoodArgs, NeighborsArgs, NewestArgs, ReadPlace};
use super::newest::{self, NewestFirst};
use super::{Reading, no_vertex};
use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::keys::{self, JsonKey};
use crate::options::At;
use crate::stored::{self, number::EdgeNumber, properties::Properties};
use hedgerow::store::StoreOptions;
use hedgerow::{
    Column, Direction, EdgeData, EdgeSchema, ErrorKind, Key, LabelId, LabelSchema, Newest, ParallelEdge,
    ParallelSchema, ReadGraph, Record, RecordSchema, store,
};
use hedgerow_model::with_column;
use serde::Serialize;
use std::ops::RangeInclusive;
use std::path::Path;

#[derive(Debug, Serialize)]
struct Neighbors {
    store: String,
    key: JsonKey,
    /// The label; `None` for every label.
    label: Option<String>,
    direction: DirectionName,
    /// The number of all neighbors, printed or not.
    degree: usize,
    neighbors: Vec<Neighbor>,
}

#[derive(Debug, Serialize)]
struct Neighbor {
    /// The label, present with `--all-labels`.
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    key: JsonKey,
    #[serde(skip_serializing_if = "is_none")]
    value: EdgeNumber,
    /// The properties, present if edges of the label have records.
    #[serde(skip_serializing_if = "Option::is_none")]
    properties: Option<Properties>,
}

fn is_none(value: &EdgeNumber) -> bool {
    *value == EdgeNumber::None
}

/// Opens a store and prints the neighbors.
pub fn execute(args: &NeighborsArgs, console: &Console) -> Result<(), CliError> {
    let At { what, place: ReadPlace { store, read, .. } } = &args.neighbors;
    let store = store.path();
    let made_with = store::manifest(store).map_err(StoredError::from)?.options;
    let asked = Asked::of(what, &made_with, store)?;
    let by_commit = asked.newest.as_ref().is_some_and(|newest| newest.by_commit);
    let state = stored::read_in_order(store, read, by_commit, console)?;
    print(what, asked, &Reading::of(&state, store), console)
}

/// Prints the neighbors in a state of a store made with these options. The state has the order of
/// commits if the engine keeps it.
pub fn neighbors(
    args: &NeighborhoodArgs,
    made_with: &StoreOptions,
    reading: &Reading<'_, impl ReadGraph>,
    console: &Console,
) -> Result<(), CliError> {
    print(args, Asked::of(args, made_with, reading.store)?, reading, console)
}

/// The requested edges, checked against the schema before the store is opened.
struct Asked<'a> {
    /// The label; `None` for every label.
    label: Option<(LabelId, &'a LabelSchema)>,
    newest: Option<NewestFirst>,
}

impl<'a> Asked<'a> {
    fn of(args: &NeighborhoodArgs, made_with: &'a StoreOptions, store: &Path) -> Result<Self, CliError> {
        if made_with.topology.stored(args.direction.direction()).is_none() {
            return Err(StoredError::NoInNeighbors(store.into()).into());
        }
        let label = match args.all_labels {
            true => None,
            false => Some(stored::label(&made_with.catalog, args.label.as_deref(), store)?),
        };
        let newest = label.map(|(_, schema)| NewestFirst::of(&args.newest, schema, &made_with.engine));
        Ok(Asked { label, newest: newest.transpose()?.flatten() })
    }
}

/// Prints the neighbors, one per line, with the values of the edges if there are any.
fn print(
    args: &NeighborhoodArgs,
    asked: Asked<'_>,
    reading: &Reading<'_, impl ReadGraph>,
    console: &Console,
) -> Result<(), CliError> {
    let (graph, store) = (reading.graph, reading.store);
    let direction = args.direction.direction();
    let key = keys::parse("KEY", &args.key, reading.keys)?;
    if !exists(graph, &key)? {
        return Err(no_vertex(&key, store));
    }
    let Asked { label: asked, newest } = asked;
    let wanted = Wanted { newest: newest.map(|newest| newest.wanted), keys: args.keys.wanted() };
    let (degree, found) = match asked {
        Some((label, schema)) => {
            wanted.check(schema)?;
            let degree = graph.degree((label, direction), &key).map_err(StoredError::from)?;
            let found = of_label(graph, (label, direction), schema, &key, &wanted);
            (degree, found.map_err(|error| named(error, &args.newest))?)
        }
        None => {
            let mut found = Vec::new();
            for (label, schema) in (0..).map(LabelId).zip(reading.catalog.labels()) {
                let some = of_label(graph, (label, direction), schema, &key, &wanted)?;
                let label = Some(schema.name.clone());
                found.extend(some.into_iter().map(|neighbor| Neighbor { label: label.clone(), ..neighbor }));
            }
            (found.len(), found)
        }
    };
    let shown = args.limit.map_or(found.len(), |limit| limit.get().min(found.len()));
    let shown = found.into_iter().take(shown).map(|neighbor| {
        let properties = neighbor.properties;
        let properties = properties.map(|properties| properties.with_raw_times(args.times.raw_times));
        Neighbor { properties, ..neighbor }
    });
    let neighbors = Neighbors {
        store: store.display().to_string(),
        key: key.into(),
        label: asked.map(|(_, schema)| schema.name.clone()),
        direction: args.direction,
        degree,
        neighbors: shown.collect(),
    };
    console.print(&neighbors, |result| {
        let line = |Neighbor { label, key, value, properties }: &Neighbor| {
            let label = label.iter().map(|label| format!("{label} ")).collect::<String>();
            match (properties, value) {
                (Some(properties), _) => format!("{label}{key} {properties}\n"),
                (None, EdgeNumber::None) => format!("{label}{key}\n"),
                (None, value) => format!("{label}{key} {value}\n"),
            }
        };
        result.neighbors.iter().map(line).collect()
    })
}

/// Adds the option `--by` to an error about the property that it names.
fn named(error: StoredError, args: &NewestArgs) -> StoredError {
    match error {
        StoredError::Graph(error) if args.by().is_some() && error.kind() == ErrorKind::InvalidInput => {
            newest::refused(args, error.to_string())
        }
        error => error,
    }
}

/// The requested edges: by default all.
struct Wanted {
    newest: Option<Newest>,
    keys: Option<RangeInclusive<u64>>,
}

impl Wanted {
    /// Checks that the label supports these options.
    fn check(&self, schema: &LabelSchema) -> Result<(), StoredError> {
        let problem = match (&self.keys, &self.newest, schema.edges.key()) {
            (Some(_), _, None) => "these are for labels whose edges may be parallel",
            (Some(_), Some(_), Some(_)) => {
                "the newest edges are asked for by time, not by key: leave out one of both"
            }
            _ => return Ok(()),
        };
        Err(StoredError::EdgeKey { option: "--min-key and --max-key".to_owned(), problem: problem.into() })
    }
}

/// The neighbors over edges of one label: all, or the requested ones.
fn of_label(
    graph: &impl ReadGraph,
    adjacency: (LabelId, Direction),
    schema: &LabelSchema,
    key: &Key,
    wanted: &Wanted,
) -> Result<Vec<Neighbor>, StoredError> {
    let newest = wanted.newest.as_ref();
    match &schema.edges {
        EdgeSchema::Parallel(schema) => parallel(graph, adjacency, schema, key, wanted),
        EdgeSchema::Record(properties) => with_records(graph, adjacency, properties, key, newest),
        EdgeSchema::Topology | EdgeSchema::Value(_) => {
            with_column!(schema.edges.column(), W => with_values::<W>(graph, adjacency, key, newest))
        }
    }
}

fn with_values<W: Column + EdgeData>(
    graph: &impl ReadGraph,
    (label, direction): (LabelId, Direction),
    key: &Key,
    newest: Option<&Newest>,
) -> Result<Vec<Neighbor>, StoredError> {
    let neighbors = match newest {
        Some(wanted) => graph.newest::<W>((label, direction), key, wanted)?,
        None => graph.edges::<W>((label, direction), key)?,
    };
    let neighbor = |(key, value): (Key, W)| Neighbor {
        label: None,
        key: key.into(),
        value: EdgeNumber::of(value),
        properties: None,
    };
    Ok(neighbors.into_iter().map(neighbor).collect())
}

fn parallel(
    graph: &impl ReadGraph,
    (label, direction): (LabelId, Direction),
    schema: &ParallelSchema,
    key: &Key,
    wanted: &Wanted,
) -> Result<Vec<Neighbor>, StoredError> {
    let edges = match &wanted.newest {
        Some(newest) => graph.newest_parallel::<Record>((label, direction), key, newest)?,
        None => {
            let keys = wanted.keys.clone().unwrap_or(0..=u64::MAX);
            graph.parallel_neighbors::<Record>((label, direction), key, keys)?
        }
    };
    let neighbor = |ParallelEdge { neighbor, number, data: record }| Neighbor {
        label: None,
        key: neighbor.into(),
        value: EdgeNumber::None,
        properties: Some(Properties::of_parallel(schema, number, &record)),
    };
    Ok(edges.into_iter().map(neighbor).collect())
}

fn with_records(
    graph: &impl ReadGraph,
    (label, direction): (LabelId, Direction),
    properties: &RecordSchema,
    key: &Key,
    newest: Option<&Newest>,
) -> Result<Vec<Neighbor>, StoredError> {
    let neighbors = match newest {
        Some(wanted) => graph.newest::<Record>((label, direction), key, wanted)?,
        None => graph.edges::<Record>((label, direction), key)?,
    };
    let neighbor = |(key, record): (Key, Record)| Neighbor {
        label: None,
        key: key.into(),
        value: EdgeNumber::None,
        properties: Some(Properties::of(properties, &record)),
    };
    Ok(neighbors.into_iter().map(neighbor).collect())
}

/// Returns true if a vertex with this key exists. No vertex of a dense graph has a number beyond
/// the ids.
pub fn exists(graph: &impl ReadGraph, key: &Key) -> Result<bool, StoredError> {
    match graph.contains_vertex(key) {
        Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(false),
        found => Ok(found?),
    }
}
