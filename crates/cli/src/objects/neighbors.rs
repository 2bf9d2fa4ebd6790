//! `hedgerow neighbors`

use super::args::{DirectionName, NeighborsArgs};
use super::no_vertex;
use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::keys::{self, JsonKey};
use crate::stored::{self, number::EdgeNumber, schema};
use hedgerow::model::with_column;
use hedgerow::{
    Column, Direction, ErrorKind, Key, LabelId, LabelSchema, Newest, Record, RecordSchema, Snapshot,
};
use serde::Serialize;
use serde_json::{Map, Value as Json};

#[derive(Debug, Serialize)]
struct Neighbors {
    store: String,
    key: JsonKey,
    /// `None`: of every label.
    label: Option<String>,
    direction: DirectionName,
    /// All that there are, shown or not.
    degree: usize,
    neighbors: Vec<Neighbor>,
}

#[derive(Debug, Serialize)]
struct Neighbor {
    /// If those of every label are asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
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
    let catalogue = snapshot.catalogue();
    let asked = match args.all_labels {
        true => None,
        false => Some(stored::label(catalogue, args.label.as_deref(), store)?),
    };
    let key = keys::parse("KEY", &args.key, state.keys)?;
    if !exists(snapshot, &key)? {
        return Err(no_vertex(&key, store));
    }
    let direction = args.direction.direction();
    let (degree, found) = match asked {
        Some((label, schema)) => {
            let degree = snapshot.degree(label, direction, &key).map_err(StoredError::from)?;
            (degree, of_label(snapshot, (label, direction), schema, &key, args.newest.wanted().as_ref())?)
        }
        None => {
            let mut found = Vec::new();
            for (label, schema) in (0..).map(LabelId).zip(catalogue.labels()) {
                let some = of_label(snapshot, (label, direction), schema, &key, None)?;
                let label = Some(schema.name.clone());
                found.extend(some.into_iter().map(|neighbor| Neighbor { label: label.clone(), ..neighbor }));
            }
            (found.len(), found)
        }
    };
    let shown = args.limit.map_or(found.len(), |limit| limit.get().min(found.len()));
    let neighbors = Neighbors {
        store: store.display().to_string(),
        key: key.into(),
        label: asked.map(|(_, schema)| schema.name.clone()),
        direction: args.direction,
        degree,
        neighbors: found.into_iter().take(shown).collect(),
    };
    console.print(&neighbors, |result| {
        let line = |Neighbor { label, key, value, properties }: &Neighbor| {
            let label = label.iter().map(|label| format!("{label} ")).collect::<String>();
            match (properties, value) {
                (Some(properties), _) => format!("{label}{key} {}\n", schema::line(properties)),
                (None, EdgeNumber::None) => format!("{label}{key}\n"),
                (None, value) => format!("{label}{key} {value}\n"),
            }
        };
        result.neighbors.iter().map(line).collect()
    })
}

/// The neighbours over edges of one label: all, or the newest.
fn of_label(
    snapshot: &Snapshot,
    adjacency: (LabelId, Direction),
    schema: &LabelSchema,
    key: &Key,
    newest: Option<&Newest>,
) -> Result<Vec<Neighbor>, StoredError> {
    match schema.edges.record() {
        Some(properties) => with_records(snapshot, adjacency, properties, key, newest),
        None => with_column!(schema.edges.column(), W => with_values::<W>(snapshot, adjacency, key, newest)),
    }
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
    let neighbour = |(key, value): (Key, W)| Neighbor {
        label: None,
        key: key.into(),
        value: EdgeNumber::of(value),
        properties: None,
    };
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
        label: None,
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
