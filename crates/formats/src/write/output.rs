//! A new file that is compressed if its name says so.

use super::NewFile;
use crate::FormatError;
use crate::format::Compression;
use flate2::write::GzEncoder;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use zstd::stream::write::Encoder as ZstdEncoder;

/// Bytes are handed to the file or the compressor in pieces of about this size.
const PIECE: usize = 64 << 10;

/// A file that appears under its name when it is finished, written through a buffer.
pub(crate) struct Output {
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
    pub fn create(path: &Path) -> Result<Self, FormatError> {
        let sink = Sink::new(NewFile::create(path)?, Compression::of_name(path));
        let sink = sink.map_err(FormatError::io(path, "create"))?;
        Ok(Output { path: path.into(), buffer: Vec::with_capacity(2 * PIECE), sink })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where to put the next bytes, before [`written`](Self::written) is called.
    #[inline]
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Hands over what is in the buffer if that is worth it.
    #[inline]
    pub fn written(&mut self) -> Result<(), FormatError> {
        if self.buffer.len() >= PIECE { self.hand_over() } else { Ok(()) }
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

    /// Ends the compression. The file has all its bytes, but not its name.
    pub fn complete(mut self) -> Result<NewFile, FormatError> {
        self.hand_over()?;
        let file = match self.sink {
            Sink::Plain(file) => Ok(file),
            Sink::Gzip(encoder) => encoder.finish(),
            Sink::Zstd(encoder) => encoder.finish(),
        };
        file.map_err(FormatError::io(&self.path, "write"))
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
