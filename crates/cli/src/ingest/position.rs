//! The position in a stream, which the store has with each commit.

use crate::error::StoredError;
use crate::import::Noted;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Identifies the program and the format of a position.
const INGESTER: &str = "hedgerow ingest, version 1";

/// The bytes before a position by which a file is recognized.
pub const TAIL: usize = 4096;

/// The position in a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    pub stream: Stream,
    pub read: Read,
    /// True if the stream was read to its end.
    pub finished: bool,
}

/// A stream, and the options for reading it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stream {
    /// The path of the file, or the name of a pipe.
    pub name: String,
    /// The label that the edges have.
    pub label: String,
    pub format: String,
    pub columns: String,
}

/// The read part of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Read {
    pub bytes: u64,
    pub lines: u64,
    /// The checksum of all these bytes.
    pub checksum: u32,
    /// The checksum of the last [`TAIL`] of them.
    pub tail: u32,
}

/// A position in the store.
#[derive(Serialize, Deserialize)]
struct Encoded {
    ingester: String,
    #[serde(flatten)]
    stream: Stream,
    #[serde(flatten)]
    read: Read,
    finished: bool,
}

impl Position {
    /// Encodes the position for the store.
    pub fn encode(&self) -> Vec<u8> {
        let Position { stream, read, finished } = self.clone();
        let encoded = Encoded { ingester: INGESTER.into(), stream, read, finished };
        serde_json::to_vec(&encoded).expect("text and numbers are JSON")
    }

    /// Decodes a position; `None` if another program wrote it.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let encoded = serde_json::from_slice(bytes).ok();
        let encoded = encoded.filter(|encoded: &Encoded| encoded.ingester == INGESTER)?;
        let Encoded { stream, read, finished, .. } = encoded;
        Some(Position { stream, read, finished })
    }
}

impl Stream {
    /// The place to begin in this stream, from what the store has noted. Only a stream that
    /// `comes_again` has such a place; a pipe's may be given up.
    ///
    /// # Errors
    /// The store has not read another input to its end.
    pub fn begin(&self, noted: Option<&[u8]>, comes_again: bool, store: &Path) -> Result<Read, StoredError> {
        let Some(noted) = noted else { return Ok(Read::default()) };
        match Position::decode(noted) {
            Some(last) if last.stream == *self => Ok(if comes_again { last.read } else { Read::default() }),
            _ => Noted::of(noted)
                .unfinished(store)
                .map_or(Ok(Read::default()), |message| Err(StoredError::OtherImport(message))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(name: &str) -> Stream {
        Stream { name: name.into(), label: "edge".into(), format: "edges".into(), columns: "auto".into() }
    }

    #[test]
    fn a_stream_goes_on_and_another_one_must_wait_for_its_end() {
        let read = Read { bytes: 12, lines: 3, checksum: 5, tail: 6 };
        let noted = |finished| Position { stream: stream("a"), read, finished }.encode();
        let begin = |name: &str, noted: &[u8], comes_again| {
            stream(name).begin(Some(noted), comes_again, Path::new("store")).ok()
        };
        let (start, none) = (Some(Read::default()), None);
        for (name, finished, comes_again, expected) in [
            ("a", false, true, Some(read)),
            ("a", true, true, Some(read)),
            ("a", false, false, start),
            ("b", true, true, start),
            ("b", false, true, none),
            ("b", false, false, none),
        ] {
            assert_eq!(
                begin(name, &noted(finished), comes_again),
                expected,
                "{name} {finished} {comes_again}"
            );
        }
        assert_eq!(begin("a", b"7", true), None, "another program's");
        assert_eq!(Position::decode(&noted(true)).map(|position| position.encode()), Some(noted(true)));
    }
}
