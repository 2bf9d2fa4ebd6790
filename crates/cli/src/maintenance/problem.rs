//! A problem of a store and its position, as JSON.

use hedgerow::store::{StoreError, TornTail};
use serde::Serialize;
use std::path::Path;

/// A problem.
#[derive(Debug, Serialize)]
pub struct Problem {
    file: Option<String>,
    /// The offset in bytes; null if the whole file is meant.
    offset: Option<u64>,
    /// The whole message.
    message: String,
}

/// The bytes that a loss of power left after the last commit.
#[derive(Debug, Serialize)]
pub struct Torn {
    pub file: String,
    pub offset: u64,
    pub bytes: u64,
}

impl From<&StoreError> for Problem {
    fn from(error: &StoreError) -> Self {
        let (file, offset) = match error {
            StoreError::Damaged { path, offset, .. } => (Some(&**path), Some(*offset)),
            StoreError::Missing { path }
            | StoreError::Foreign { path, .. }
            | StoreError::UnknownEngine { path, .. }
            | StoreError::NewerFormat { path, .. }
            | StoreError::Compressed { path } => (Some(&**path), None),
            _ => (None, None),
        };
        let file = file.map(|path: &Path| path.display().to_string());
        Problem { file, offset, message: error.to_string() }
    }
}

impl From<&TornTail> for Torn {
    fn from(torn: &TornTail) -> Self {
        Torn { file: torn.path.display().to_string(), offset: torn.offset, bytes: torn.bytes }
    }
}

impl std::fmt::Display for Torn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Torn { file, offset, bytes } = self;
        write!(f, "{} of an unfinished commit in {file} from byte {offset} on", crate::text::Bytes(*bytes))
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}
