//! Writes lists of vertices.

use super::NewFile;
use super::field::{check_first, push_key};
use super::output::Output;
use crate::FormatError;
use hedgerow_model::AsKey;
use std::path::Path;

/// Writes a list of vertices, one key per line, that
/// [`GraphReader::open_vertices`](crate::GraphReader::open_vertices) reads back.
///
/// A file whose name ends in `.gz` or `.zst` is compressed. It appears under its name only when it
/// is finished: see [`NewFile`].
pub struct VertexListWriter {
    output: Output,
}

impl VertexListWriter {
    /// Starts a file that will be named `path`.
    ///
    /// # Errors
    /// See [`NewFile::create`].
    pub fn create(path: impl AsRef<Path>) -> Result<Self, FormatError> {
        Ok(VertexListWriter { output: Output::create(path)? })
    }

    /// Appends a vertex.
    ///
    /// # Errors
    /// [`FormatError::NoPlace`] for a text key that could not be read back: empty, with a blank, a
    /// comma or a control character, or with `#`, `%` or a byte order mark at its start. Nothing is
    /// written in that case. Or the disk is full.
    pub fn write(&mut self, key: impl AsKey) -> Result<(), FormatError> {
        check_first(key.as_key(), self.output.path())?;
        let buffer = self.output.buffer();
        push_key(key.as_key(), buffer);
        buffer.push(b'\n');
        self.output.written()
    }

    /// Finishes the compression. The file has all its bytes, but gets its name only when it is
    /// [finished](NewFile::finish).
    ///
    /// # Errors
    /// The disk is full.
    pub fn complete(self) -> Result<NewFile, FormatError> {
        self.output.complete()
    }
}
