//! The error of a failed read.

use std::fmt;
use std::sync::Arc;

/// Marks an error without an offset: no file has this offset.
const NO_OFFSET: u64 = u64::MAX;

/// A failed read of a store: the place and the cause.
#[derive(Clone, Debug)]
pub struct ReadError {
    place: Box<str>,
    /// The offset in a file, with which `place` then ends; else [`NO_OFFSET`]. Not an `Option`, so
    /// that errors, which are returned by value, stay small.
    offset: u64,
    source: Arc<dyn std::error::Error + Send + Sync>,
}

impl ReadError {
    /// Creates an error. `place` describes the place of the read: a file and an offset, a block, a
    /// vertex.
    pub fn new(
        place: impl Into<String>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        ReadError { place: place.into().into(), offset: NO_OFFSET, source: Arc::from(source.into()) }
    }

    /// Creates an error at an offset in a file.
    pub fn at(
        file: impl std::fmt::Display,
        offset: u64,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        ReadError { offset, ..ReadError::new(format!("{file} at byte {offset}"), source) }
    }

    /// The file and the offset in it, if the error was made by [`ReadError::at`]; else the
    /// description of the place.
    #[must_use]
    pub fn file_and_offset(&self) -> (&str, Option<u64>) {
        let offset = (self.offset != NO_OFFSET).then_some(self.offset);
        let suffix = offset.map(|offset| format!(" at byte {offset}")).unwrap_or_default();
        (self.place.strip_suffix(&*suffix).unwrap_or(&self.place), offset)
    }

    /// The cause of the failure.
    #[must_use]
    pub fn cause(&self) -> &(dyn std::error::Error + Send + Sync + 'static) {
        &*self.source
    }

    /// A description of the place of the read.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.place
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} could not be read: {}", self.place, self.source)
    }
}

impl std::error::Error for ReadError {
    /// Returns the error in the `Arc`, so that callers can downcast it. A derived method would
    /// return the `Arc`.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.source)
    }
}

impl Eq for ReadError {}

impl PartialEq for ReadError {
    /// Returns true if both have the same place and the same error text.
    fn eq(&self, other: &Self) -> bool {
        self.place == other.place && self.source.to_string() == other.source.to_string()
    }
}

impl From<std::convert::Infallible> for ReadError {
    fn from(never: std::convert::Infallible) -> Self {
        match never {}
    }
}
