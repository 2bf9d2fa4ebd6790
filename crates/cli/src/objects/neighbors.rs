//! `hedgerow neighbors`

use super::args::{DirectionName, NeighborsArgs};
use super::no_vertex;
use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::keys::{self, JsonKey};
use crate::stored::{self, number::EdgeNumber, schema};
use hedgerow::model::with_column;
use hedgerow::{Column, Direction, ErrorKind, Key, LabelId, Newest, Record, RecordSchema, Snapshot};
use serde::Serialize;
use serde_json::{Map, Value as Json};

#[derive(Debug, Serialize)]
struct Neighbors {
    store: String,
    key: JsonKey,
    label: String,
    direction: DirectionName,
    /// All that there are, shown or not.
    degree: usize,
    neighbors: Vec<Neighbor>,
}

#[derive(Debug, Serialize)]
struct Neighbor {
    key: JsonKey,
    #[serde(skip_serializing_if = "is_none")]
    value: EdgeNumber,
    /// If edges of the label have records.
    #[serde(skip_serializing_if = "Option::is_none")]
    properties: Option<Map<String, Json>>,
}

fn is_none(value: &EdgeNumber) -> bool {
    *value == EdgeNumber::None
}

/// Prints the neighbours, one per line, with the values of the edges if there are any.
pub fn execute(args: &NeighborsArgs, console: &Console) -> Result<(), CliError> {
    let store = &args.store;
    let state = stored::read(store, &args.read, None, console)?;
    let snapshot = &state.snapshot;
    let (label, of_label) = stored::label(snapshot.catalogue(), args.label.as_deref(), store)?;
    let key = keys::parse("KEY", &args.key, state.keys)?;
    if !exists(snapshot, &key)? {
        return Err(no_vertex(&key, store));
    }
    let adjacency = (label, args.direction.direction());
    let newest = args.newest.wanted();
    let found = match of_label.edges.record() {
        Some(properties) => with_records(snapshot, adjacency, properties, &key, newest.as_ref())?,
        None => with_column!(of_label.edges.column(), W => {
            with_values::<W>(snapshot, adjacency, &key, newest.as_ref())?
        }),
    };
    let shown = args.limit.map_or(found.len(), |limit| limit.get().min(found.len()));
    let neighbors = Neighbors {
        store: store.display().to_string(),
        key: key.clone().into(),
        label: of_label.name.clone(),
        direction: args.direction,
        degree: snapshot.degree(label, adjacency.1, &key).map_err(StoredError::from)?,
        neighbors: found.into_iter().take(shown).collect(),
    };
    console.print(&neighbors, |result| {
        let line = |Neighbor { key, value, properties }: &Neighbor| match (properties, value) {
            (Some(properties), _) => format!("{key} {}\n", schema::line(properties)),
            (None, EdgeNumber::None) => format!("{key}\n"),
            (None, value) => format!("{key} {value}\n"),
        };
        result.neighbors.iter().map(line).collect()
    })
}

fn with_values<W: Column>(
    snapshot: &Snapshot,
    (label, direction): (LabelId, Direction),
    key: &Key,
    newest: Option<&Newest>,
) -> Result<Vec<Neighbor>, StoredError> {
    let neighbours = match newest {
        Some(wanted) => snapshot.newest_neighbours::<W>(label, direction, key, wanted)?,
        None => snapshot.neighbours_of::<W>(label, direction, key)?,
    };
    let neighbour =
        |(key, value): (Key, W)| Neighbor { key: key.into(), value: EdgeNumber::of(value), properties: None };
    Ok(neighbours.into_iter().map(neighbour).collect())
}

fn with_records(
    snapshot: &Snapshot,
    (label, direction): (LabelId, Direction),
    properties: &RecordSchema,
    key: &Key,
    newest: Option<&Newest>,
) -> Result<Vec<Neighbor>, StoredError> {
    let neighbours = match newest {
        Some(wanted) => snapshot.newest_records(label, direction, key, wanted)?,
        None => snapshot.neighbour_records(label, direction, key)?,
    };
    let neighbour = |(key, record): (Key, Record)| Neighbor {
        key: key.into(),
        value: EdgeNumber::None,
        properties: Some(schema::json_record(properties, &record)),
    };
    Ok(neighbours.into_iter().map(neighbour).collect())
}

/// Whether there is a vertex with this key. A number beyond the ids of a dense graph has none.
pub fn exists(snapshot: &Snapshot, key: &Key) -> Result<bool, StoredError> {
    match snapshot.contains_vertex(key) {
        Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(false),
        found => Ok(found?),
    }
}
