//! Writes edge lists.

use crate::FormatError;
use crate::error::excerpt;
use crate::fields::is_separator;
use crate::key::is_control;
use flate2::write::GzEncoder;
use hedgerow_model::{AsKey, KeyRef};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;
use zstd::stream::write::Encoder as ZstdEncoder;

/// Text is handed to the file or the compressor in pieces of about this size.
const PIECE: usize = 64 << 10;

/// Writes an edge list, `source destination[ weight]` per line, that a
/// [`GraphReader`](crate::GraphReader) reads back.
///
/// A name that ends in `.gz` or `.zst` is compressed. The file appears under its name only with
/// [`finish`](Self::finish), in place of one that may be there; until then, and if the writer is
/// dropped, the name is as it was.
pub struct EdgeListWriter {
    path: PathBuf,
    buffer: Vec<u8>,
    sink: Sink,
}

enum Sink {
    Plain(NamedTempFile),
    Gzip(GzEncoder<NamedTempFile>),
    Zstd(ZstdEncoder<'static, NamedTempFile>),
}

impl EdgeListWriter {
    /// Starts a file that will be called `path`.
    ///
    /// # Errors
    /// `path` is there and not a plain file, or its folder cannot be written to.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, FormatError> {
        let path = path.as_ref();
        // Through a symbolic link, the file that it points at is replaced, not the link.
        let target = path.canonicalize().unwrap_or_else(|_| path.into());
        check_target(&target)?;
        let file = temporary_beside(&target).map_err(FormatError::io(path, "create"))?;
        let sink = Sink::new(file, path.extension().and_then(|end| end.to_str()));
        let sink = sink.map_err(FormatError::io(path, "create"))?;
        Ok(EdgeListWriter { path: target, buffer: Vec::with_capacity(2 * PIECE), sink })
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
        file.as_file().sync_all().map_err(FormatError::io(&self.path, "write"))?;
        let named = file.persist(&self.path).map_err(|refused| refused.error);
        named.map(drop).map_err(FormatError::io(&self.path, "name"))
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
    fn new(file: NamedTempFile, extension: Option<&str>) -> io::Result<Self> {
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

    fn finish(self) -> io::Result<NamedTempFile> {
        match self {
            Sink::Plain(file) => Ok(file),
            Sink::Gzip(encoder) => encoder.finish(),
            Sink::Zstd(encoder) => encoder.finish(),
        }
    }
}

/// Refuses to replace what is there and not a plain file.
fn check_target(target: &Path) -> Result<(), FormatError> {
    let found = match target.metadata() {
        Ok(metadata) if metadata.is_dir() => "this is a directory",
        Ok(metadata) if !metadata.is_file() => "this is a device or a pipe",
        _ => return Ok(()),
    };
    Err(FormatError::NotAFile { path: target.into(), found })
}

/// A file of another name in the same folder, so that it can be renamed.
fn temporary_beside(target: &Path) -> io::Result<NamedTempFile<File>> {
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".hedgerow-").suffix(".part");
    #[cfg(unix)]
    {
        // As for any new file: what the process's mask leaves of it.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
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

    #[test]
    fn a_folder_that_is_not_there_or_a_directory_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let missing = EdgeListWriter::create(folder.path().join("no/graph.txt"));
        assert!(matches!(missing, Err(FormatError::Io { action: "create", .. })));
        assert!(matches!(EdgeListWriter::create(folder.path()), Err(FormatError::NotAFile { .. })));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        EdgeListWriter::create(&link).unwrap().finish().unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_device_is_not_replaced() {
        let writer = EdgeListWriter::create("/dev/null");
        assert!(matches!(writer, Err(FormatError::NotAFile { .. })));
    }
}
