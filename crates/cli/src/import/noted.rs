//! The record that the last import or stream left in a store.

use super::position::Position;
use crate::ingest;
use crate::text;
use serde::Serialize;
use std::fmt;
use std::path::Path;

/// The record of the last input.
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
    /// `hedgerow ingest`.
    Ingest {
        finished: bool,
        input: String,
        label: String,
        /// The read part of the input.
        bytes: u64,
        lines: u64,
    },
    /// Another program's record, in its own format.
    Other { bytes: usize },
}

impl Noted {
    /// Decodes a record.
    pub fn of(bytes: &[u8]) -> Self {
        if let Some(position) = ingest::Position::decode(bytes) {
            let ingest::Position { finished, stream, read } = position;
            let (bytes, lines) = (read.bytes, read.lines);
            return Noted::Ingest { finished, input: stream.name, label: stream.label, bytes, lines };
        }
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

    /// Describes the input that another one would give up; `None` if it was read to its end.
    pub fn unfinished(&self, store: &Path) -> Option<String> {
        let store = store.display();
        Some(match self {
            Noted::Import { finished: true, .. } | Noted::Ingest { finished: true, .. } => return None,
            Noted::Import { files, .. } => {
                format!("an import into {store} was interrupted: of {}", files.join(", "))
            }
            Noted::Ingest { input, bytes, .. } => {
                let bytes = text::counted(*bytes, "byte", "bytes");
                format!("{store} has {bytes} of {input}, and `hedgerow ingest` has not read the rest")
            }
            Noted::Other { .. } => {
                format!("another program imports into {store}, and notes there how far it is")
            }
        })
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
            Noted::Ingest { finished, input, bytes, .. } => {
                let state = if *finished { "finished" } else { "not finished" };
                write!(f, "{state}, {} of {input}", text::counted(*bytes, "byte", "bytes"))
            }
            Noted::Other { bytes } => write!(f, "by another program, which noted {bytes} bytes"),
        }
    }
}
