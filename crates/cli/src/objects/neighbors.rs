//! `hedgerow neighbors`

use super::args::{DirectionName, NeighborsArgs};
use super::no_vertex;
use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::keys::{self, JsonKey};
use crate::stored::{self, number::EdgeNumber};
use hedgerow::model::with_column;
use hedgerow::{ErrorKind, Key, Snapshot};
use serde::Serialize;

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
}

fn is_none(value: &EdgeNumber) -> bool {
    *value == EdgeNumber::None
}

/// Prints the neighbours, one per line, with the values of the edges if there are any.
pub fn execute(args: &NeighborsArgs, console: &Console) -> Result<(), CliError> {
    let store = &args.store;
    let state = stored::read(store, &args.read, None, console)?;
    let snapshot = &state.snapshot;
    let (label, schema) = stored::label(snapshot.catalogue(), args.label.as_deref(), store)?;
    let key = keys::parse("KEY", &args.key, state.keys)?;
    if !exists(snapshot, &key)? {
        return Err(no_vertex(&key, store));
    }
    let direction = args.direction.direction();
    let all: Vec<(Key, EdgeNumber)> = with_column!(schema.edges.column(), W => {
        let neighbours = snapshot.neighbours_of::<W>(label, direction, &key).map_err(StoredError::from)?;
        neighbours.into_iter().map(|(neighbour, value)| (neighbour, EdgeNumber::of(value))).collect()
    });
    let shown = args.limit.map_or(all.len(), |limit| limit.get().min(all.len()));
    let neighbors = Neighbors {
        store: store.display().to_string(),
        key: key.into(),
        label: schema.name.clone(),
        direction: args.direction,
        degree: all.len(),
        neighbors: all
            .into_iter()
            .take(shown)
            .map(|(key, value)| Neighbor { key: key.into(), value })
            .collect(),
    };
    console.print(&neighbors, |result| {
        let line = |Neighbor { key, value }: &Neighbor| match value {
            EdgeNumber::None => format!("{key}\n"),
            value => format!("{key} {value}\n"),
        };
        result.neighbors.iter().map(line).collect()
    })
}

/// Whether there is a vertex with this key. A number beyond the ids of a dense graph has none.
pub fn exists(snapshot: &Snapshot, key: &Key) -> Result<bool, StoredError> {
    match snapshot.contains_vertex(key) {
        Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(false),
        found => Ok(found?),
    }
}
