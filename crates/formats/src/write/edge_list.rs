//! Writes edge lists.

use super::NewFile;
use super::field::{check, check_first, check_weight, push_key, push_weight, unwritable, unwritable_without};
use super::output::Output;
use crate::characters::is_separator;
use crate::format::is_weighted_edge_list;
use crate::{Columns, FormatError, Remedy};
use hedgerow_model::{AsKey, KeyRef};
use std::path::Path;

/// Writes an edge list, `source destination[ weight[ timestamp]]` per line, that a
/// [`GraphReader`](crate::GraphReader) reads back.
///
/// A file whose name ends in `.gz` or `.zst` is compressed. It appears under its name only with
/// [`finish`](Self::finish): see [`NewFile`].
pub struct EdgeListWriter {
    output: Output,
    separator: u8,
    columns: Columns,
    /// True if every edge must have a weight, because the file name requires it.
    needs_weights: bool,
}

impl EdgeListWriter {
    /// Starts a file that will be named `path`, with blanks between its columns.
    ///
    /// # Errors
    /// See [`NewFile::create`].
    pub fn create(path: impl AsRef<Path>) -> Result<Self, FormatError> {
        Self::create_with(path, b' ', Columns::Auto)
    }

    /// Starts a file that will be named `path`, with this separator and these further columns.
    ///
    /// # Errors
    /// See [`NewFile::create`].
    ///
    /// # Panics
    /// If the separator is no blank, tab or comma.
    pub fn create_with(path: impl AsRef<Path>, separator: u8, columns: Columns) -> Result<Self, FormatError> {
        assert!(is_separator(separator), "{separator} would not separate");
        let needs_weights = is_weighted_edge_list(path.as_ref());
        Ok(EdgeListWriter { output: Output::create(path.as_ref())?, separator, columns, needs_weights })
    }

    /// Appends an edge with or without a weight.
    ///
    /// # Errors
    /// A text key that could not be read back: empty, with a blank, a comma or a control character,
    /// or with `#` or `%` (or a byte order mark) at the start of a source. A weight that is not
    /// finite, or a missing one in a file named `.wel`. Nothing is written in these cases. Or the
    /// disk is full.
    pub fn write(
        &mut self,
        source: impl AsKey,
        destination: impl AsKey,
        weight: Option<f64>,
    ) -> Result<(), FormatError> {
        self.write_line(source.as_key(), destination.as_key(), weight, None)
    }

    pub(super) fn write_line(
        &mut self,
        source: KeyRef<'_>,
        destination: KeyRef<'_>,
        weight: Option<f64>,
        timestamp: Option<i64>,
    ) -> Result<(), FormatError> {
        let path = self.output.path();
        check_first(source, path)?;
        check(destination, path)?;
        weight.map_or(Ok(()), |weight| check_weight(weight, path))?;
        self.check_columns(weight, timestamp)?;
        let (separator, columns) = (self.separator, self.columns);
        let buffer = self.output.buffer();
        push_key(source, buffer);
        buffer.push(separator);
        push_key(destination, buffer);
        let push_timestamp = |buffer: &mut Vec<u8>| {
            if let Some(timestamp) = timestamp {
                buffer.push(separator);
                buffer.extend_from_slice(itoa::Buffer::new().format(timestamp).as_bytes());
            }
        };
        let push_weight = |buffer: &mut Vec<u8>| {
            if let Some(weight) = weight {
                buffer.push(separator);
                push_weight(weight, buffer);
            }
        };
        match columns {
            Columns::Topology => {}
            Columns::Auto => {
                push_weight(buffer);
                push_timestamp(buffer);
            }
            Columns::Timestamp => {
                push_timestamp(buffer);
                push_weight(buffer);
            }
        }
        buffer.push(b'\n');
        self.output.written()
    }

    /// Refuses ambiguous columns.
    fn check_columns(&self, weight: Option<f64>, timestamp: Option<i64>) -> Result<(), FormatError> {
        let path = self.output.path();
        match (self.columns, weight, timestamp) {
            (_, None, _) | (Columns::Topology, ..) if self.needs_weights => {
                Err(unwritable(path, "no weight", "every edge of a .wel file has one"))
            }
            (Columns::Auto, None, Some(timestamp)) => {
                let reason = "without a weight before it, it would be read as one; write timestamps first";
                Err(unwritable_without(Remedy::TimestampsFirst, path, &timestamp.to_string(), reason))
            }
            (Columns::Timestamp, Some(weight), None) => {
                let reason = "without a timestamp before it, it would be read as one; write weights first";
                Err(unwritable_without(Remedy::WeightsFirst, path, &weight.to_string(), reason))
            }
            _ => Ok(()),
        }
    }

    /// Finishes the compression, writes everything to disk and gives the file its name.
    ///
    /// # Errors
    /// The disk is full, or the file cannot be renamed. Nothing is left then.
    pub fn finish(self) -> Result<(), FormatError> {
        self.complete()?.finish()
    }

    /// Finishes the compression.
    pub(super) fn complete(self) -> Result<NewFile, FormatError> {
        self.output.complete()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_file_appears_only_when_it_is_finished() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("graph.txt");
        std::fs::write(&path, "old").unwrap();

        let mut dropped = EdgeListWriter::create(&path).unwrap();
        dropped.write(1, 2, None).unwrap();
        drop(dropped);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");

        let mut finished = EdgeListWriter::create(&path).unwrap();
        finished.write(1, 2, None).unwrap();
        finished.write(u64::MAX, 0, Some(0.5)).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
        finished.finish().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "1 2\n18446744073709551615 0 0.5\n");
        assert_eq!(names(folder.path()), ["graph.txt"]);
    }

    #[test]
    fn what_could_not_be_read_back_is_refused_and_leaves_no_trace() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("graph.txt");
        let mut writer = EdgeListWriter::create(&path).unwrap();
        for key in ["", "a b", "a,b", "a\tb", "a\n", "a\0", "\r"] {
            let error = writer.write("x", key, None).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::BadInput, "{key:?}");
            assert!(writer.write(key, "x", None).is_err(), "{key:?}");
        }
        assert!(writer.write("#a", "x", None).is_err());
        assert!(writer.write("\u{feff}a", "x", None).is_err());
        assert!(writer.write("x", "y", Some(f64::NAN)).is_err());
        assert!(writer.write("x", "y", Some(f64::INFINITY)).is_err());
        writer.write("x", "#a", None).unwrap();
        writer.finish().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "x #a\n");
    }
}
