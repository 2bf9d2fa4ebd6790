//! Errors about graph files, with what users need to find and fix the problem.

use crate::StaticGraphError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A graph file could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The operating system returned an error: no such file, no permission, no space.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The attempted action: "open", "read", "write" and the like.
        action: &'static str,
        /// The cause.
        source: io::Error,
    },
    /// A file was expected, but this is a directory, or for writing a device or a broken link.
    #[error("{}: {found}, expected a file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// The kind of the path: "a directory" and the like.
        found: &'static str,
    },
    /// Compressed data is truncated or invalid.
    #[error(
        "{}: the {compression} data is cut short or damaged at byte {offset}: {source}; \
         fetch or compress the file again",
        path.display()
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// "gzip" or "zstd".
        compression: &'static str,
        /// The number of bytes of the compressed file that were read when the damage was noticed.
        offset: u64,
        /// The decompressor's error.
        source: io::Error,
    },
    /// A line violates the format.
    #[error(transparent)]
    BadLine(#[from] Box<BadLine>),
    /// A line with properties violates the schema.
    #[error(transparent)]
    BadProperty(#[from] Box<BadProperty>),
    /// A binary file violates the format.
    #[error("{}: byte {offset}: found {found}, expected {expected}", path.display())]
    BadBytes {
        /// The file.
        path: PathBuf,
        /// The offset in the file, after decompression, in bytes from 0.
        offset: u64,
        /// The content found at the offset.
        found: String,
        /// The expected content.
        expected: String,
    },
    /// The name of a file to write does not fit its content.
    #[error("{}: cannot write {end}: {reason}", path.display())]
    BadName {
        /// The file.
        path: PathBuf,
        /// The wrong part of the name, escaped.
        end: String,
        /// The required ending of the name.
        reason: &'static str,
    },
    /// The format cannot represent a key or a weight, but files with properties can.
    #[error("{}: cannot write {value}: {reason}", path.display())]
    NoPlace {
        /// The file.
        path: PathBuf,
        /// The key or the weight, shortened and escaped.
        value: String,
        /// The reason.
        reason: &'static str,
    },
    /// A value could not be read back if it were written.
    #[error("{}: cannot write {value}: {reason}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The value, shortened and escaped.
        value: String,
        /// The reason.
        reason: &'static str,
        /// The option that would avoid the error, if there is one.
        remedy: Option<Remedy>,
    },
    /// A graph that is written as a whole does not fit into memory.
    #[error("{}: cannot write the graph: {source}", path.display())]
    NotBuilt {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: StaticGraphError,
    },
}

/// An option of readers and writers that would avoid an error. A program can name it as its users
/// know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Remedy {
    /// Read keys as text.
    TextKeys,
    /// Read keys as numbers that are mapped to dense ids
    /// ([`WriteOptions::keep_ids`](crate::WriteOptions::keep_ids) is off).
    MappedKeys,
    /// Name the column where edges start:
    /// [`PropertyOptions::source_column`](crate::PropertyOptions::source_column).
    SourceColumn,
    /// Name the column where edges end:
    /// [`PropertyOptions::destination_column`](crate::PropertyOptions::destination_column).
    DestinationColumn,
    /// Write the timestamp before the weight: [`Columns::Timestamp`](crate::Columns::Timestamp).
    TimestampsFirst,
    /// Write the weight before the timestamp: [`Columns::Auto`](crate::Columns::Auto).
    WeightsFirst,
    /// Leave weights out: [`Columns::Topology`](crate::Columns::Topology).
    NoWeights,
}

/// A class of [`FormatError`]s, by the user's remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// Check the path, the permissions, the disk.
    Io,
    /// Fetch the file again: its compressed data is damaged.
    Corrupt,
    /// Fix the data, name another format, or skip bad lines.
    BadInput,
}

impl FormatError {
    /// Returns the class of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            FormatError::Io { .. } | FormatError::NotAFile { .. } => ErrorKind::Io,
            FormatError::Corrupt { .. } => ErrorKind::Corrupt,
            FormatError::BadLine(_)
            | FormatError::BadProperty(_)
            | FormatError::BadBytes { .. }
            | FormatError::BadName { .. }
            | FormatError::NoPlace { .. }
            | FormatError::Unwritable { .. }
            | FormatError::NotBuilt { .. } => ErrorKind::BadInput,
        }
    }

    /// The file that the error is about.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            FormatError::Io { path, .. }
            | FormatError::NotAFile { path, .. }
            | FormatError::Corrupt { path, .. }
            | FormatError::BadBytes { path, .. }
            | FormatError::BadName { path, .. }
            | FormatError::NoPlace { path, .. }
            | FormatError::Unwritable { path, .. }
            | FormatError::NotBuilt { path, .. } => path,
            FormatError::BadLine(bad) => &bad.path,
            FormatError::BadProperty(bad) => &bad.path,
        }
    }

    /// For `map_err`: an I/O error of `action` on `path`.
    pub(crate) fn io<'a>(path: &'a Path, action: &'static str) -> impl FnOnce(io::Error) -> Self + 'a {
        move |source| FormatError::Io { path: path.into(), action, source }
    }
}

/// A line that violates the format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// The file.
    pub path: PathBuf,
    /// The line's number, from 1.
    pub line: u64,
    /// The position in the line, in bytes, from 1.
    pub column: u64,
    /// The text found at the position, escaped and shortened.
    pub found: String,
    /// The violated rule.
    pub problem: Problem,
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BadLine { path, line, column, found, problem } = self;
        write!(f, "{}:{line}:{column}: found ", path.display())?;
        match found.as_str() {
            "" => write!(f, "nothing, {problem}"),
            found => write!(f, "\"{found}\", {problem}"),
        }
    }
}

impl std::error::Error for BadLine {}

/// A line with properties that violates its schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadProperty {
    /// The file.
    pub path: PathBuf,
    /// The line's number, from 1.
    pub line: u64,
    /// The name of the column, if the error is about one.
    pub column: Option<String>,
    /// The text found in the column, escaped and shortened.
    pub found: String,
    /// The expected text.
    pub expected: String,
    /// All columns except keys, if one of them is undeclared.
    pub undeclared: Vec<String>,
    /// The option that would avoid the error, if there is one.
    pub remedy: Option<Remedy>,
}

impl BadProperty {
    /// An error with only the expectation.
    pub(crate) fn new(path: PathBuf, expected: &str) -> Self {
        let (column, found, undeclared, remedy) = Default::default();
        BadProperty { path, line: 1, column, found, expected: expected.to_owned(), undeclared, remedy }
    }
}

impl fmt::Display for BadProperty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BadProperty { path, line, column, found, expected, .. } = self;
        write!(f, "{}:{line}: ", path.display())?;
        if let Some(column) = column {
            write!(f, "column {column:?}: ")?;
        }
        match found.as_str() {
            "" => write!(f, "found nothing, expected {expected}"),
            found => write!(f, "found \"{found}\", expected {expected}"),
        }
    }
}

impl std::error::Error for BadProperty {}

impl From<BadProperty> for FormatError {
    fn from(bad: BadProperty) -> Self {
        FormatError::BadProperty(Box::new(bad))
    }
}

/// A problem in a line; the message says what was expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// Only one column.
    #[error("expected a destination after the source: an edge is `source destination [weight] [timestamp]`")]
    MissingDestination,
    /// Five columns or more.
    #[error(
        "expected at most 4 columns, `source destination [weight] [timestamp]`; \
         if each line is a vertex with its neighbors, read the file in the adjacency format"
    )]
    TooManyColumns,
    /// More than a key in a vertex file.
    #[error("expected nothing more: a vertex file has one key per line")]
    NotOneVertex,
    /// An empty field before, between or after commas.
    #[error("expected a value beside the comma")]
    EmptyField,
    /// A number key that is not a number.
    #[error("expected a vertex key of decimal digits; if the keys are text, read them as text")]
    NotANumber,
    /// A number key with a minus sign.
    #[error("expected a vertex key that is not negative")]
    NegativeNumber,
    /// A number key of more than 64 bits.
    #[error("expected a vertex key of at most {}", u64::MAX)]
    NumberTooLarge,
    /// A text key that is not UTF-8.
    #[error("expected a vertex key in UTF-8")]
    NotUtf8,
    /// Zero bytes or other control characters.
    #[error("expected text, not binary data; an archive or a UTF-16 file must be converted first")]
    BinaryData,
    /// A weight that is not a number.
    #[error("expected a weight: a decimal number")]
    NotAWeight,
    /// A weight that is NaN, infinite, or too large for 64 bits.
    #[error("expected a weight that is finite")]
    WeightNotFinite,
    /// A timestamp that is not a number.
    #[error("expected a timestamp: a whole number, or one with a decimal fraction")]
    NotATimestamp,
    /// A timestamp of more than 64 bits.
    #[error("expected a timestamp from {} to {}", i64::MIN, i64::MAX)]
    TimestampTooLarge,
    /// Not a Matrix Market file, or one that is not a graph.
    #[error(
        "expected `%%MatrixMarket matrix coordinate`, then `pattern`, `integer` or `real`, \
         then `general`, `symmetric` or `skew-symmetric`"
    )]
    NotAMatrix,
    /// No sizes after the first lines of a matrix.
    #[error("expected `rows columns entries`, three whole numbers")]
    NotSizes,
    /// A matrix whose numbers of rows and columns differ.
    #[error("expected as many columns as rows: both number the same vertices")]
    NotSquare,
    /// A matrix of very many rows, almost all of them empty.
    #[error(
        "expected at most {limit} rows for so few entries, because every row is a vertex; \
         to read the entries alone, take the line of sizes away and read the file as an edge list"
    )]
    TooManyRows {
        /// The limit for this number of entries.
        limit: u64,
    },
    /// A matrix ends early.
    #[error("expected {declared} entries, as the line of sizes says: there are {found}")]
    MissingEntries {
        /// The number in the line of sizes.
        declared: u64,
        /// The number in the file.
        found: u64,
    },
    /// A matrix continues after its last entry.
    #[error("expected the end of the file after {declared} entries, as the line of sizes says")]
    TooManyEntries {
        /// The number in the line of sizes.
        declared: u64,
    },
    /// A row or column outside the matrix.
    #[error("expected a row and a column from 1 to {size}")]
    OutsideMatrix {
        /// The number of rows, equal to the number of columns.
        size: u64,
    },
    /// An entry of a pattern that does not have two columns.
    #[error("expected `row column` and nothing more")]
    NotAPatternEntry,
    /// An entry of a matrix of numbers that does not have three columns.
    #[error("expected `row column value` and nothing more")]
    NotAnEntry,
    /// An entry without a value.
    #[error("expected a value after row and column")]
    MissingValue,
    /// A value of an integer matrix that is not an integer.
    #[error("expected a whole number")]
    NotAWholeNumber,
    /// A skew-symmetric matrix with an entry on the diagonal.
    #[error("expected no entry on the diagonal of a skew-symmetric matrix")]
    OnSkewDiagonal,
    /// An edge without a weight where each must have one.
    #[error("expected a weight: every edge must have one")]
    MissingWeight,
    /// A key that is no dense id.
    #[error("expected vertex keys of at most {largest}")]
    KeyTooLarge {
        /// The largest key.
        largest: u64,
    },
    /// A line without its operation.
    #[error("expected + or - at the beginning of the line: whether it puts or deletes the edge")]
    NoOperation,
    /// A line longer than the format's limit.
    #[error("expected the line to end within {limit} bytes")]
    LineTooLong {
        /// The limit in bytes.
        limit: usize,
    },
}

/// A problem with its byte range in the line; cheap, so that skipping bad lines is cheap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub problem: Problem,
    pub start: usize,
    pub end: usize,
}

impl Fault {
    /// The fault in a line whose first `length` bytes were passed before.
    pub fn after(self, length: usize) -> Self {
        Fault { start: self.start + length, end: self.end + length, ..self }
    }
}

/// `bytes` as printable text: escaped, and shortened to `FOUND_BYTES`.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    const FOUND_BYTES: usize = 40;
    let shown = &bytes[..bytes.len().min(FOUND_BYTES)];
    let mut text = String::new();
    for chunk in shown.utf8_chunks() {
        text.extend(chunk.valid().escape_debug());
        text.extend(chunk.invalid().escape_ascii().map(char::from));
    }
    if shown.len() < bytes.len() {
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_are_short_and_printable() {
        assert_eq!(excerpt(b"a\tb"), "a\\tb");
        assert_eq!(excerpt("grün".as_bytes()), "grün");
        assert_eq!(excerpt(b"x\xffy\0"), "x\\xffy\\0");
        let long = excerpt(&[b'a'; 1000]);
        assert_eq!(long, format!("{}…", "a".repeat(40)));
    }

    #[test]
    fn a_bad_line_names_its_position_and_problem() {
        let bad = BadLine {
            path: "graph.txt".into(),
            line: 3,
            column: 5,
            found: "x7".into(),
            problem: Problem::NotANumber,
        };
        let error = FormatError::from(Box::new(bad));
        assert_eq!(error.kind(), ErrorKind::BadInput);
        assert!(error.to_string().starts_with("graph.txt:3:5: found \"x7\", expected a vertex key"));
    }
}
