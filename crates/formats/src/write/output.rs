//! A new file that is compressed if its name says so.

use super::NewFile;
use super::field::bad_name;
use crate::FormatError;
use crate::format::Compression;
use flate2::write::GzEncoder;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use zstd::stream::write::Encoder as ZstdEncoder;

/// Bytes are passed to the file or the compressor in pieces of about this size.
const PIECE: usize = 64 << 10;

/// Extensions of other compressions or archives.
const OTHER_COMPRESSIONS: [&str; 16] = [
    "bz2", "xz", "lzma", "lz4", "lz", "lzo", "sz", "br", "7z", "zip", "rar", "Z", "tar", "tgz", "gzip",
    "zstd",
];

/// A buffered file that appears under its name when it is [finished](Self::finish), compressed if
/// its name ends in `.gz` or `.zst`.
pub struct Output {
    path: PathBuf,
    buffer: Vec<u8>,
    sink: Sink,
}

enum Sink {
    Plain(NewFile),
    Gzip(GzEncoder<NewFile>),
    Zstd(ZstdEncoder<'static, NewFile>),
}

impl Output {
    /// Starts a file that will be named `path`.
    ///
    /// # Errors
    /// See [`NewFile::create`]. Also if the name has the extension of another compression or an
    /// archive, such as `.bz2`.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, FormatError> {
        let path = path.as_ref();
        if let Some(end) = path.extension().and_then(OsStr::to_str)
            && OTHER_COMPRESSIONS.iter().any(|other| other.eq_ignore_ascii_case(end))
        {
            let reason =
                "files are compressed by gzip or Zstandard; let the name end in .gz, .zst or neither";
            return Err(bad_name(path, &format!(".{end}"), reason));
        }
        let sink = Sink::new(NewFile::create(path)?, Compression::of_name(path));
        let sink = sink.map_err(FormatError::io(path, "create"))?;
        Ok(Output { path: path.into(), buffer: Vec::with_capacity(2 * PIECE), sink })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The buffer for the next bytes; call [`written`](Self::written) afterwards.
    #[inline]
    pub(crate) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Flushes the buffer if it is large enough.
    #[inline]
    pub(crate) fn written(&mut self) -> Result<(), FormatError> {
        self.hand_over_if_large().map_err(FormatError::io(&self.path, "write"))
    }

    #[inline]
    fn hand_over_if_large(&mut self) -> io::Result<()> {
        if self.buffer.len() >= PIECE { self.hand_over() } else { Ok(()) }
    }

    fn hand_over(&mut self) -> io::Result<()> {
        let written = match &mut self.sink {
            Sink::Plain(file) => file.write_all(&self.buffer),
            Sink::Gzip(encoder) => encoder.write_all(&self.buffer),
            Sink::Zstd(encoder) => encoder.write_all(&self.buffer),
        };
        self.buffer.clear();
        written
    }

    /// Finishes the compression, writes everything to disk and gives the file its name.
    ///
    /// # Errors
    /// See [`NewFile::finish`].
    pub fn finish(self) -> Result<(), FormatError> {
        self.complete()?.finish()
    }

    /// Finishes the compression. The file has all its bytes, but not its name.
    pub(crate) fn complete(mut self) -> Result<NewFile, FormatError> {
        self.hand_over().map_err(FormatError::io(&self.path, "write"))?;
        let file = match self.sink {
            Sink::Plain(file) => Ok(file),
            Sink::Gzip(encoder) => encoder.finish(),
            Sink::Zstd(encoder) => encoder.finish(),
        };
        file.map_err(FormatError::io(&self.path, "write"))
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        self.hand_over_if_large().map(|()| bytes.len())
    }

    /// Passes on the buffer; a compressor may retain it.
    fn flush(&mut self) -> io::Result<()> {
        self.hand_over()
    }
}

impl Sink {
    fn new(file: NewFile, compression: Option<Compression>) -> io::Result<Self> {
        match compression {
            None => Ok(Sink::Plain(file)),
            Some(Compression::Gzip) => Ok(Sink::Gzip(GzEncoder::new(file, flate2::Compression::default()))),
            Some(Compression::Zstd) => {
                let mut encoder = ZstdEncoder::new(file, zstd::DEFAULT_COMPRESSION_LEVEL)?;
                encoder.include_checksum(true)?;
                Ok(Sink::Zstd(encoder))
            }
        }
    }
}
