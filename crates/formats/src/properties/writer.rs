//! Writes files whose lines carry properties.

use super::layout::Layout;
use super::value::{Kind, Style};
use super::{LineSchema, MAX_PROPERTY_LINE, PropertyFormat, PropertyOptions};
use crate::write::{negative, unwritable};
use crate::{FormatError, NewFile, Output};
use hedgerow_model::{AsKey, ColumnType, EdgeValue, KeyRef, Record, Value};
use std::path::Path;

/// Writes a file of vertices or edges with properties that a
/// [`PropertyReader`](crate::PropertyReader) with the same schema reads back without loss.
///
/// A file whose name ends in `.gz` or `.zst` is compressed. It appears under its name only when it
/// is finished: see [`NewFile`].
pub struct PropertyWriter {
    output: Output,
    layout: Layout,
    style: Style,
    /// The JSON text before each value: the name of the member.
    names: Vec<Vec<u8>>,
}

/// The contents of an edge or a vertex.
struct Content<'a> {
    /// The value, or the key of parallel edges.
    value: EdgeValue,
    properties: Option<&'a Record>,
}

impl PropertyWriter {
    /// Starts a file that will be named `path`; a CSV file with its header.
    ///
    /// # Errors
    /// See [`NewFile::create`]. Also if properties take all names that the column of a key may
    /// have.
    pub fn create(
        path: impl AsRef<Path>,
        format: PropertyFormat,
        lines: &LineSchema,
    ) -> Result<Self, FormatError> {
        let path = path.as_ref();
        let layout = Layout::new(&PropertyOptions::new(format, lines.clone()));
        let Some(names) = layout.written_names() else {
            let reason = "properties have all the names that the columns of keys may have";
            return Err(unwritable(path, "the header", reason));
        };
        let style = Style { json: format == PropertyFormat::JsonLines, raw_times: false };
        let quoted = |name: &String| {
            let mut quoted = Vec::new();
            style.push_text(name, &mut quoted);
            quoted
        };
        let names = names.iter().map(quoted).collect();
        let mut writer = PropertyWriter { output: Output::create(path)?, layout, style, names };
        if format == PropertyFormat::Csv {
            let header = writer.names.join(&b',');
            writer.output.buffer().extend_from_slice(&header);
            writer.output.buffer().push(b'\n');
        }
        Ok(writer)
    }

    /// Writes timestamps as microseconds since 1970 if they are to be `raw`, else as RFC 3339
    /// times. Readers take both.
    #[must_use]
    pub fn with_raw_times(mut self, raw: bool) -> Self {
        self.style.raw_times = raw;
        self
    }

    /// Appends a vertex.
    ///
    /// # Errors
    /// A negative key, or a line that is longer than readers take; nothing is written in these
    /// cases. Or the disk is full.
    pub fn write_vertex(&mut self, key: impl AsKey, properties: &Record) -> Result<(), FormatError> {
        let content = Content { value: EdgeValue::default(), properties: Some(properties) };
        self.write_line(&[key.as_key()], &content)
    }

    /// Appends an edge that carries a value or nothing.
    ///
    /// # Errors
    /// A negative key, or a line that is longer than readers take; nothing is written in these
    /// cases. Or the disk is full.
    pub fn write_edge(
        &mut self,
        source: impl AsKey,
        destination: impl AsKey,
        value: EdgeValue,
    ) -> Result<(), FormatError> {
        let content = Content { value, properties: None };
        self.write_line(&[source.as_key(), destination.as_key()], &content)
    }

    /// Appends an edge that has a record.
    ///
    /// # Errors
    /// A negative key, or a line that is longer than readers take; nothing is written in these
    /// cases. Or the disk is full.
    pub fn write_edge_record(
        &mut self,
        source: impl AsKey,
        destination: impl AsKey,
        record: &Record,
    ) -> Result<(), FormatError> {
        let content = Content { value: EdgeValue::default(), properties: Some(record) };
        self.write_line(&[source.as_key(), destination.as_key()], &content)
    }

    /// Appends one of the edges of a label whose edges may be parallel.
    ///
    /// # Errors
    /// A negative key, or a line that is longer than readers take; nothing is written in these
    /// cases. Or the disk is full.
    pub fn write_parallel_edge(
        &mut self,
        source: impl AsKey,
        destination: impl AsKey,
        key: u64,
        record: &Record,
    ) -> Result<(), FormatError> {
        let content = Content { value: EdgeValue(key), properties: Some(record) };
        self.write_line(&[source.as_key(), destination.as_key()], &content)
    }

    fn write_line(&mut self, keys: &[KeyRef<'_>], content: &Content<'_>) -> Result<(), FormatError> {
        let PropertyWriter { output, layout, style, names } = self;
        for key in keys {
            if let KeyRef::Negative(number) = key {
                return Err(negative(output.path(), *number));
            }
        }
        let buffer = output.buffer();
        let start = buffer.len();
        if style.json {
            buffer.push(b'{');
        }
        let mut names = names.iter();
        let mut begin = |is_first: bool, buffer: &mut Vec<u8>| {
            if !is_first {
                buffer.push(b',');
            }
            if style.json {
                names.next().into_iter().for_each(|name| buffer.extend_from_slice(name));
                buffer.push(b':');
            }
        };
        for (position, key) in keys.iter().enumerate() {
            begin(position == 0, buffer);
            style.push_key(*key, buffer);
        }
        let mut properties = content.properties.into_iter().flat_map(Record::values);
        for field in &layout.fields {
            begin(false, buffer);
            match field.kind {
                Kind::Number => style.push_value(content.value, ColumnType::U64, buffer),
                Kind::Value(column) => style.push_value(content.value, column, buffer),
                Kind::Property(_) => style.push_property(properties.next().unwrap_or(&Value::Null), buffer),
            }
        }
        buffer.extend_from_slice(if style.json { b"}\n" } else { b"\n" });
        let length = buffer.len() - start - 1;
        if length > MAX_PROPERTY_LINE {
            buffer.truncate(start);
            let reason = "readers take lines of at most 16,777,216 bytes";
            return Err(unwritable(output.path(), &format!("a line of {length} bytes"), reason));
        }
        output.written()
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
