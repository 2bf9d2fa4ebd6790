//! Where a kernel starts: keys as they stand on the command line, and in a summary.

use crate::args::KeysName;
use crate::error::CliError;
use crate::input::Loaded;
use hedgerow::{ErrorKind, Key, VertexId};
use hedgerow_formats::VertexKey;
use serde::Serialize;
use std::path::Path;

/// A key, as JSON has it: a number or a string.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum JsonKey {
    /// A number, or a dense id.
    Number(u64),
    /// Text.
    Text(String),
}

impl From<Key> for JsonKey {
    fn from(key: Key) -> Self {
        match key {
            Key::Number(number) => JsonKey::Number(number),
            Key::Text(text) => JsonKey::Text(text.into()),
        }
    }
}

impl std::fmt::Display for JsonKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            JsonKey::Number(number) => number.fmt(f),
            JsonKey::Text(text) => text.fmt(f),
        }
    }
}

/// A key as it stands on the command line: the same digits as in a file.
pub fn parse(text: &str, keys: KeysName) -> Result<Key, CliError> {
    match keys {
        KeysName::Text => Ok(Key::Text(text.into())),
        KeysName::Number | KeysName::Dense => {
            let number = u64::parse(text.as_bytes()).map(Key::Number);
            number.map_err(|_| CliError::WrongKey { key: text.into(), expected: "numbers below 2^64" })
        }
    }
}

/// The vertex with this key.
pub fn find(key: &Key, loaded: &Loaded, graph: &Path) -> Result<VertexId, CliError> {
    let found = match loaded.snapshot.vertex_id(key) {
        // A number beyond the ids of a dense graph.
        Err(error) if error.kind() == ErrorKind::InvalidInput => None,
        found => found?,
    };
    found.ok_or_else(|| CliError::NoSuchVertex { key: key.to_string(), graph: graph.into() })
}

/// The sources in a table: the keys, or how many there are, and how they were chosen if they were.
pub fn describe(keys: &[JsonKey], chosen: bool) -> String {
    match keys {
        [key] if chosen => format!("{key}, the vertex with the largest out-degree"),
        [key] => key.to_string(),
        keys => keys.len().to_string(),
    }
}
