//! The record that the last import left in a store, for `info`.

use super::position::Position;
use crate::text;
use serde::Serialize;
use std::fmt;

/// The record of the last import.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Noted {
    /// `hedgerow import`.
    Import {
        finished: bool,
        files: Vec<String>,
        label: String,
        /// The file at which the import stopped, and the imported part of it.
        file: String,
        vertices_of_file: u64,
        edges_of_file: u64,
    },
    /// Another program's record, in its own format.
    Other { bytes: usize },
}

impl Noted {
    /// Decodes a record.
    pub fn of(bytes: &[u8]) -> Self {
        match Position::decode(bytes) {
            None => Noted::Other { bytes: bytes.len() },
            Some(position) => Noted::Import {
                finished: position.finished,
                file: position.file_name().to_owned(),
                vertices_of_file: position.read.vertices.count,
                edges_of_file: position.read.edges.count,
                label: position.input.label,
                files: position.input.files,
            },
        }
    }
}

impl fmt::Display for Noted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Noted::Import { finished: true, files, .. } => write!(f, "finished, of {}", files.join(", ")),
            Noted::Import { file, edges_of_file, files, .. } => {
                let edges = text::counted(*edges_of_file, "edge", "edges");
                write!(f, "interrupted in {file} after {edges}; the files were {}", files.join(", "))
            }
            Noted::Other { bytes } => write!(f, "by another program, which noted {bytes} bytes"),
        }
    }
}
