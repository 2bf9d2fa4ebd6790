//! What can go wrong with a graph file, told so that a user can find and mend it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A graph file could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The operating system refused: no such file, no permission, no space.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried: "open", "read", "write" and the like.
        action: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// A file was expected where a directory is, or for writing a device, or a link that leads nowhere.
    #[error("{}: {found}, expected a file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// What it is: "a directory" and the like.
        found: &'static str,
    },
    /// Compressed data ends early or makes no sense.
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
        /// How many bytes of the compressed file were used when it was noticed.
        offset: u64,
        /// What the decompressor said.
        source: io::Error,
    },
    /// A line is not what the format asks for.
    #[error(transparent)]
    BadLine(#[from] Box<BadLine>),
    /// A line with properties is not what the schema asks for.
    #[error(transparent)]
    BadProperty(#[from] Box<BadProperty>),
    /// A binary file is not what the format asks for.
    #[error("{}: byte {offset}: found {found}, expected {expected}", path.display())]
    BadBytes {
        /// The file.
        path: PathBuf,
        /// Where in the file, decompressed if it is compressed, in bytes from 0.
        offset: u64,
        /// What stands there.
        found: String,
        /// What should.
        expected: String,
    },
    /// A key or a weight was to be written that this format cannot hold, but files with properties can.
    #[error("{}: cannot write {value}: {reason}", path.display())]
    NoPlace {
        /// The file.
        path: PathBuf,
        /// The key or the weight, shortened and escaped.
        value: String,
        /// Why not.
        reason: &'static str,
    },
    /// A value was to be written that could not be read back.
    #[error("{}: cannot write {value}: {reason}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The value, shortened and escaped.
        value: String,
        /// Why not.
        reason: &'static str,
        /// The option that would avoid the error, if there is one.
        remedy: Option<Remedy>,
    },
}

/// An option of readers and writers that would avoid an error, so that a program can name it as its users know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Remedy {
    /// Read keys as text.
    TextKeys,
    /// Read keys as numbers that are mapped to dense ids ([`WriteOptions::keep_ids`](crate::WriteOptions::keep_ids) is off).
    MappedKeys,
    /// Name the column where edges start: [`PropertyOptions::source_column`](crate::PropertyOptions::source_column).
    SourceColumn,
    /// Name the column where edges end: [`PropertyOptions::destination_column`](crate::PropertyOptions::destination_column).
    DestinationColumn,
    /// Write the timestamp before the weight: [`Columns::Timestamp`](crate::Columns::Timestamp).
    TimestampsFirst,
    /// Write the weight before the timestamp: [`Columns::Auto`](crate::Columns::Auto).
    WeightsFirst,
    /// Leave weights out: [`Columns::Topology`](crate::Columns::Topology).
    NoWeights,
}

/// What a user can do about a [`FormatError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// Look at the path, the permissions, the disk.
    Io,
    /// Fetch the file again: its compressed data is damaged.
    Corrupt,
    /// Mend the data, name another format, or skip bad lines.
    BadInput,
}

impl FormatError {
    /// What a user can do about it.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            FormatError::Io { .. } | FormatError::NotAFile { .. } => ErrorKind::Io,
            FormatError::Corrupt { .. } => ErrorKind::Corrupt,
            FormatError::BadLine(_)
            | FormatError::BadProperty(_)
            | FormatError::BadBytes { .. }
            | FormatError::NoPlace { .. }
            | FormatError::Unwritable { .. } => ErrorKind::BadInput,
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
            | FormatError::NoPlace { path, .. }
            | FormatError::Unwritable { path, .. } => path,
            FormatError::BadLine(bad) => &bad.path,
            FormatError::BadProperty(bad) => &bad.path,
        }
    }

    /// For `map_err`: an I/O error of `action` on `path`.
    pub(crate) fn io<'a>(path: &'a Path, action: &'static str) -> impl FnOnce(io::Error) -> Self + 'a {
        move |source| FormatError::Io { path: path.into(), action, source }
    }
}

/// A line that is not what the format asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// The file.
    pub path: PathBuf,
    /// The line's number, from 1.
    pub line: u64,
    /// Where in the line, in bytes, from 1.
    pub column: u64,
    /// What stands there, escaped and shortened.
    pub found: String,
    /// What should.
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

/// A line with properties that is not what its schema asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadProperty {
    /// The file.
    pub path: PathBuf,
    /// The line's number, from 1.
    pub line: u64,
    /// The name of the column, if it is about one.
    pub column: Option<String>,
    /// What stands there, escaped and shortened.
    pub found: String,
    /// What should.
    pub expected: String,
    /// If there is a column that nobody has declared: all columns but those of keys.
    pub undeclared: Vec<String>,
    /// The option that would avoid the error, if there is one.
    pub remedy: Option<Remedy>,
}

impl BadProperty {
    /// One that says only what was expected.
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

/// What is wrong in a line; the message says what was expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// One column only.
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
    /// Nothing before, between or after commas.
    #[error("expected a value beside the comma")]
    EmptyField,
    /// A number key that is no number.
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
    /// A weight that is no number.
    #[error("expected a weight: a decimal number")]
    NotAWeight,
    /// A weight that is NaN, infinite, or too large for 64 bits.
    #[error("expected a weight that is finite")]
    WeightNotFinite,
    /// A timestamp that is no number.
    #[error("expected a timestamp: a whole number, or one with a decimal fraction")]
    NotATimestamp,
    /// A timestamp of more than 64 bits.
    #[error("expected a timestamp from {} to {}", i64::MIN, i64::MAX)]
    TimestampTooLarge,
    /// No Matrix Market file, or one that is no graph.
    #[error(
        "expected `%%MatrixMarket matrix coordinate`, then `pattern`, `integer` or `real`, \
         then `general`, `symmetric` or `skew-symmetric`"
    )]
    NotAMatrix,
    /// No sizes after the first lines of a matrix.
    #[error("expected `rows columns entries`, three whole numbers")]
    NotSizes,
    /// A matrix with more rows than columns, or fewer.
    #[error("expected as many columns as rows: both number the same vertices")]
    NotSquare,
    /// A matrix of very many rows, of which almost all are empty.
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
        /// What the line of sizes says.
        declared: u64,
        /// How many there are.
        found: u64,
    },
    /// A matrix goes on after its last entry.
    #[error("expected the end of the file after {declared} entries, as the line of sizes says")]
    TooManyEntries {
        /// What the line of sizes says.
        declared: u64,
    },
    /// A row or column that a matrix does not have.
    #[error("expected a row and a column from 1 to {size}")]
    OutsideMatrix {
        /// The rows of the matrix.
        size: u64,
    },
    /// Not the two columns of a pattern.
    #[error("expected `row column` and nothing more")]
    NotAPatternEntry,
    /// Not the three columns of a matrix of numbers.
    #[error("expected `row column value` and nothing more")]
    NotAnEntry,
    /// An entry without a value.
    #[error("expected a value after row and column")]
    MissingValue,
    /// The value of an integer matrix is none.
    #[error("expected a whole number")]
    NotAWholeNumber,
    /// A skew-symmetric matrix with an entry on the diagonal.
    #[error("expected no entry on the diagonal of a skew-symmetric matrix")]
    OnSkewDiagonal,
    /// A line longer than the format's limit.
    #[error("expected the line to end within {limit} bytes")]
    LineTooLong {
        /// The limit in bytes.
        limit: usize,
    },
}

/// A problem and the bytes of the line that it is about; cheap, so that skipping bad lines is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub problem: Problem,
    pub start: usize,
    pub end: usize,
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
    fn a_bad_line_tells_where_and_what() {
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
