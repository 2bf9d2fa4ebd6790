//! The record that the last import or stream left in a store.

use super::position::Position;
use crate::ingest::{self, Read, ReadBytes};
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
        #[serde(flatten)]
        read: ReadPart,
    },
    /// Another program's record, in its own format.
    Other { bytes: usize },
}

/// The read part of a stream.
#[derive(Debug, Serialize)]
pub struct ReadPart {
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<u64>,
    /// The next offset of each partition of a topic.
    #[serde(skip_serializing_if = "Option::is_none")]
    offsets: Option<Vec<i64>>,
    #[serde(skip)]
    read: Read,
}

impl Noted {
    /// Decodes a record.
    pub fn of(bytes: &[u8]) -> Self {
        if let Some(position) = ingest::Position::decode(bytes) {
            let ingest::Position { finished, stream, read } = position;
            let read = ReadPart::of(read);
            return Noted::Ingest { finished, input: stream.name, label: stream.label, read };
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
            Noted::Ingest { input, read, .. } => {
                format!("{store} has {} of {input}, and `hedgerow ingest` has not read the rest", read.read)
            }
            Noted::Other { .. } => {
                format!("another program imports into {store}, and notes there how far it is")
            }
        })
    }
}

impl ReadPart {
    fn of(read: Read) -> Self {
        let lines = match read {
            Read::Bytes(ReadBytes { lines, .. }) => Some(lines),
            Read::Records(_) => None,
        };
        let offsets = read.offsets().map(<[_]>::to_vec);
        ReadPart { bytes: read.bytes(), lines, offsets, read }
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
            Noted::Ingest { finished, input, read, .. } => {
                let state = if *finished { "finished" } else { "not finished" };
                write!(f, "{state}, {} of {input}", read.read)
            }
            Noted::Other { bytes } => write!(f, "by another program, which noted {bytes} bytes"),
        }
    }
}
