//! Keys of graph files, and the error of a file without a place for a key or a weight.

use crate::error::CliError;
use hedgerow::{AsKey, Key};
use hedgerow_formats::{FormatError, VertexKey};

/// A key type of files.
pub trait FileKey: VertexKey + AsKey {
    /// Converts the key, if it is of this kind: all keys of a graph are of one kind.
    fn of(key: &Key) -> Option<Self>;
}

impl FileKey for u64 {
    fn of(key: &Key) -> Option<Self> {
        match key {
            Key::Number(number) => Some(*number),
            Key::Text(_) => None,
        }
    }
}

impl FileKey for Box<str> {
    fn of(key: &Key) -> Option<Self> {
        match key {
            Key::Number(_) => None,
            Key::Text(text) => Some(text.clone()),
        }
    }
}

/// Adds to an error the formats that can represent the key or weight.
pub fn graph_output(error: FormatError) -> CliError {
    match error {
        FormatError::NoPlace { .. } => CliError::NoPlace {
            cause: error,
            formats: "let the name end in .jsonl, or give --to properties-csv: these formats have a place for it",
        },
        error => CliError::Output(error),
    }
}
