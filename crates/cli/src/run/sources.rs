//! The vertices that a kernel starts from.

use crate::error::{CliError, StoredError};
use crate::keys::{self, JsonKey};
use crate::options::Place;
use crate::state::GraphState;
use hedgerow::{ErrorKind, Key, VertexId};

/// Finds the vertex with this key, in the graph from this place.
pub fn find(key: &Key, state: &GraphState, place: Place<'_>) -> Result<VertexId, CliError> {
    let found = match state.vertex_id(key) {
        // A number beyond the ids of a dense graph.
        Err(error) if error.kind() == ErrorKind::InvalidInput => None,
        found => found?,
    };
    let key = || keys::text(key);
    found.ok_or_else(|| match place {
        Place::File(graph) => CliError::NoSuchVertex { key: key(), graph: graph.into() },
        Place::Store(store) => StoredError::NoVertex { key: key(), store: store.into() }.into(),
    })
}

/// Describes the sources in a table: their keys or number, and the command's choice if none is
/// given.
pub fn describe(keys: &[JsonKey], chosen: bool) -> String {
    match keys {
        [key] if chosen => format!("{key}, the vertex with the largest out-degree"),
        [key] => key.to_string(),
        keys => keys.len().to_string(),
    }
}
