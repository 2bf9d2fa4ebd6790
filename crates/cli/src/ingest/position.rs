//! The position in a stream, which the store has with each commit.

use crate::error::StoredError;
use crate::import::Noted;
use crate::text;
use serde::{Deserialize, Serialize};
use std::fmt;
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
    /// The path of the file, or the name of a pipe or a topic.
    pub name: String,
    /// The label that the edges have.
    pub label: String,
    pub format: String,
    pub columns: String,
}

/// The read part of a stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Read {
    /// Of a file or a pipe.
    Bytes(ReadBytes),
    /// Of a topic.
    Records(ReadRecords),
}

/// The read part of a topic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadRecords {
    /// The id of the topic, which another one of the same name does not have.
    pub topic: String,
    /// The next offset of each partition.
    pub offsets: Vec<i64>,
}

/// The read part of a file or a pipe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadBytes {
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

impl Read {
    /// The number of bytes, unless it is a topic.
    pub fn bytes(&self) -> Option<u64> {
        match self {
            Read::Bytes(read) => Some(read.bytes),
            Read::Records(_) => None,
        }
    }

    /// The next offset of each partition of a topic.
    pub fn offsets(&self) -> Option<&[i64]> {
        match self {
            Read::Bytes(_) => None,
            Read::Records(read) => Some(&read.offsets),
        }
    }
}

/// The length, in words.
impl fmt::Display for Read {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Read::Bytes(read) => f.write_str(&text::counted(read.bytes, "byte", "bytes")),
            Read::Records(read) => {
                let offsets: Vec<_> = read.offsets.iter().map(i64::to_string).collect();
                write!(f, "the records before the offsets {}", offsets.join(", "))
            }
        }
    }
}

impl Stream {
    /// The part of this stream that the store has noted; `None` to begin anew. Only a stream that
    /// `comes_again` has such a part; a pipe's may be given up.
    ///
    /// # Errors
    /// The store has not read another input to its end.
    pub fn begin(
        &self,
        noted: Option<&[u8]>,
        comes_again: bool,
        store: &Path,
    ) -> Result<Option<Read>, StoredError> {
        let Some(noted) = noted else { return Ok(None) };
        match Position::decode(noted) {
            Some(last) if last.stream == *self => Ok(comes_again.then_some(last.read)),
            _ => Noted::of(noted)
                .unfinished(store)
                .map_or(Ok(None), |message| Err(StoredError::OtherImport(message))),
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
        let read = Read::Bytes(ReadBytes { bytes: 12, lines: 3, checksum: 5, tail: 6 });
        let noted = |finished| Position { stream: stream("a"), read: read.clone(), finished }.encode();
        let begin = |name: &str, noted: &[u8], comes_again| {
            stream(name).begin(Some(noted), comes_again, Path::new("store")).ok()
        };
        let (start, none) = (|| Some(None), || None);
        for (name, finished, comes_again, expected) in [
            ("a", false, true, Some(Some(read.clone()))),
            ("a", true, true, Some(Some(read.clone()))),
            ("a", false, false, start()),
            ("b", true, true, start()),
            ("b", false, true, none()),
            ("b", false, false, none()),
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

    #[test]
    fn positions_of_files_and_topics_keep_their_form() {
        let bytes = Read::Bytes(ReadBytes { bytes: 12, lines: 3, checksum: 5, tail: 6 });
        let records = Read::Records(ReadRecords { topic: "t".into(), offsets: vec![0, 1 << 40] });
        let stream_form = r#""name":"a","label":"edge","format":"edges","columns":"auto","#;
        for (read, form) in [
            (bytes, r#""bytes":12,"lines":3,"checksum":5,"tail":6"#),
            (records, r#""topic":"t","offsets":[0,1099511627776]"#),
        ] {
            let position = Position { stream: stream("a"), read, finished: true };
            let expected = format!(r#"{{"ingester":"{INGESTER}",{stream_form}{form},"finished":true}}"#);
            assert_eq!(String::from_utf8(position.encode()), Ok(expected));
            assert_eq!(Position::decode(&position.encode()), Some(position));
        }
    }
}
