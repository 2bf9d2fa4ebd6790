//! Writes edge lists.

use crate::error::excerpt;
use crate::fields::is_separator;
use crate::key::is_control;
use crate::{FormatError, NewFile};
use flate2::write::GzEncoder;
use hedgerow_model::{AsKey, KeyRef};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use zstd::stream::write::Encoder as ZstdEncoder;

/// Text is handed to the file or the compressor in pieces of about this size.
const PIECE: usize = 64 << 10;

/// Writes an edge list, `source destination[ weight]` per line, that a
/// [`GraphReader`](crate::GraphReader) reads back.
///
/// A name that ends in `.gz` or `.zst` is compressed. The file appears under its name only with
/// [`finish`](Self::finish): see [`NewFile`].
pub struct EdgeListWriter {
    path: PathBuf,
    buffer: Vec<u8>,
    sink: Sink,
}

enum Sink {
    Plain(NewFile),
    Gzip(GzEncoder<NewFile>),
    Zstd(ZstdEncoder<'static, NewFile>),
}

impl EdgeListWriter {
    /// Starts a file that will be called `path`.
    ///
    /// # Errors
    /// As [`NewFile::create`].
    pub fn create(path: impl AsRef<Path>) -> Result<Self, FormatError> {
        let path = path.as_ref();
        let sink = Sink::new(NewFile::create(path)?, path.extension().and_then(|end| end.to_str()));
        let sink = sink.map_err(FormatError::io(path, "create"))?;
        Ok(EdgeListWriter { path: path.into(), buffer: Vec::with_capacity(2 * PIECE), sink })
    }

    /// Appends an edge.
    ///
    /// # Errors
    /// A text key that could not be read back: empty, with a blank, a comma or a control character,
    /// or with `#` or `%` (or a byte order mark) at the start of a source. A weight that is not
    /// finite. Then nothing is written. Or the disk is full.
    pub fn write(
        &mut self,
        source: impl AsKey,
        destination: impl AsKey,
        weight: Option<f64>,
    ) -> Result<(), FormatError> {
        let (source, destination) = (source.as_key(), destination.as_key());
        self.check(source, destination, weight)?;
        self.push_key(source);
        self.buffer.push(b' ');
        self.push_key(destination);
        if let Some(weight) = weight {
            // The shortest digits that give the same weight again.
            write!(self.buffer, " {weight:?}").expect("writing to memory does not fail");
        }
        self.buffer.push(b'\n');
        if self.buffer.len() >= PIECE { self.hand_over() } else { Ok(()) }
    }

    /// Ends the compression, writes all to disk and gives the file its name.
    ///
    /// # Errors
    /// The disk is full, or the file cannot be named. Nothing is left then.
    pub fn finish(mut self) -> Result<(), FormatError> {
        self.hand_over()?;
        let file = self.sink.finish().map_err(FormatError::io(&self.path, "write"))?;
        file.finish()
    }

    fn hand_over(&mut self) -> Result<(), FormatError> {
        let written = match &mut self.sink {
            Sink::Plain(file) => file.write_all(&self.buffer),
            Sink::Gzip(encoder) => encoder.write_all(&self.buffer),
            Sink::Zstd(encoder) => encoder.write_all(&self.buffer),
        };
        self.buffer.clear();
        written.map_err(FormatError::io(&self.path, "write"))
    }

    fn push_key(&mut self, key: KeyRef<'_>) {
        match key {
            KeyRef::Number(number) => {
                self.buffer.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
            }
            KeyRef::Text(text) => self.buffer.extend_from_slice(text.as_bytes()),
        }
    }

    /// Refuses what a reader would not take.
    fn check(
        &self,
        source: KeyRef<'_>,
        destination: KeyRef<'_>,
        weight: Option<f64>,
    ) -> Result<(), FormatError> {
        if let KeyRef::Text(text) = source
            && text.starts_with(['#', '%', '\u{feff}'])
        {
            return Err(self.unwritable(text, "a line that starts so is no edge"));
        }
        for key in [source, destination] {
            if let KeyRef::Text(text) = key {
                self.check_text(text)?;
            }
        }
        match weight {
            Some(weight) if !weight.is_finite() => {
                Err(self.unwritable(&weight.to_string(), "a weight must be finite"))
            }
            _ => Ok(()),
        }
    }

    fn check_text(&self, text: &str) -> Result<(), FormatError> {
        if text.is_empty() {
            return Err(self.unwritable(text, "a key in an edge list must not be empty"));
        }
        if text.len() > crate::MAX_EDGE_LINE / 4 {
            return Err(self.unwritable(text, "its line would be longer than readers take"));
        }
        if text.bytes().any(|byte| is_separator(byte) || is_control(byte)) {
            let reason = "a key in an edge list must not have blanks, commas or control characters";
            return Err(self.unwritable(text, reason));
        }
        Ok(())
    }

    fn unwritable(&self, value: &str, reason: &'static str) -> FormatError {
        let value = format!("\"{}\"", excerpt(value.as_bytes()));
        FormatError::Unwritable { path: self.path.clone(), value, reason }
    }
}

impl Sink {
    fn new(file: NewFile, extension: Option<&str>) -> io::Result<Self> {
        match extension {
            Some("gz") => Ok(Sink::Gzip(GzEncoder::new(file, flate2::Compression::default()))),
            Some("zst") => {
                let mut encoder = ZstdEncoder::new(file, zstd::DEFAULT_COMPRESSION_LEVEL)?;
                encoder.include_checksum(true)?;
                Ok(Sink::Zstd(encoder))
            }
            _ => Ok(Sink::Plain(file)),
        }
    }

    fn finish(self) -> io::Result<NewFile> {
        match self {
            Sink::Plain(file) => Ok(file),
            Sink::Gzip(encoder) => encoder.finish(),
            Sink::Zstd(encoder) => encoder.finish(),
        }
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
