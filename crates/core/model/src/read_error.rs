//! The error of a failed read.

use std::fmt;
use std::sync::Arc;

/// A failed read of a store: the place and the cause.
///
/// One word, since reads return it by value, also those of memory, which never fail.
#[derive(Clone, Debug)]
pub struct ReadError(Arc<FailedRead>);

#[derive(Debug)]
struct FailedRead {
    place: Box<str>,
    /// The offset in a file, with which `place` then ends.
    offset: Option<u64>,
    source: Box<dyn std::error::Error + Send + Sync>,
}

impl ReadError {
    /// Creates an error. `place` describes the place of the read: a file and an offset, a block, a
    /// vertex.
    #[cold]
    pub fn new(
        place: impl Into<String>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        let (place, source) = (place.into().into(), source.into());
        ReadError(Arc::new(FailedRead { place, offset: None, source }))
    }

    /// Creates an error at an offset in a file.
    #[cold]
    pub fn at(
        file: impl std::fmt::Display,
        offset: u64,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        let (place, source) = (format!("{file} at byte {offset}").into(), source.into());
        ReadError(Arc::new(FailedRead { place, offset: Some(offset), source }))
    }

    /// The file and the offset in it, if the error was made by [`ReadError::at`]; else the
    /// description of the place.
    #[must_use]
    pub fn file_and_offset(&self) -> (&str, Option<u64>) {
        let FailedRead { place, offset, .. } = &*self.0;
        let suffix = offset.map(|offset| format!(" at byte {offset}")).unwrap_or_default();
        (place.strip_suffix(&*suffix).unwrap_or(place), *offset)
    }

    /// The cause of the failure.
    #[must_use]
    pub fn cause(&self) -> &(dyn std::error::Error + Send + Sync + 'static) {
        &*self.0.source
    }

    /// A description of the place of the read.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.0.place
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} could not be read: {}", self.0.place, self.0.source)
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.0.source)
    }
}

impl Eq for ReadError {}

impl PartialEq for ReadError {
    /// Returns true if both have the same place and the same error text.
    fn eq(&self, other: &Self) -> bool {
        let (one, other) = (&self.0, &other.0);
        one.place == other.place && one.source.to_string() == other.source.to_string()
    }
}
