//! The bytes of a file or any reader, decompressed if its first bytes say so.

use crate::format::Compression;
use crate::{ErrorKind, FormatError};
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufReader, Chain, Cursor, Read};
use std::path::{Path, PathBuf};
use zstd::stream::read::Decoder as ZstdDecoder;

/// Size of reads of compressed bytes.
const COMPRESSED_BUFFER: usize = 128 << 10;

/// Decompressed bytes read after a bad line to check whether damage of the compressed data caused
/// it.
const CHECKED_BEHIND_FAULT: u64 = 1 << 30;

/// A stream of plain bytes that counts how much of its file it has read.
pub(crate) struct Source {
    path: PathBuf,
    size: Option<u64>,
    decoder: Decoder,
    line_ends: LineEnds,
    /// A byte that was read ahead.
    ahead: Option<u8>,
}

/// The ends of the lines of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineEnds {
    /// The source is not text, or its lines end in line feeds.
    Usual,
    /// Text without an end of a line so far.
    Unknown,
    /// Lines end in carriage returns alone, which are read as line feeds.
    CarriageReturns,
}

enum Decoder {
    Plain(Input),
    Gzip(Box<MultiGzDecoder<BufReader<Input>>>),
    Zstd(Box<ZstdDecoder<'static, BufReader<Input>>>),
}

/// The raw file, counted.
struct Input {
    reader: Chain<Cursor<Vec<u8>>, Box<dyn Read + Send>>,
    bytes_read: u64,
    /// True if the file itself could not be read: a decoder's error is then not about its data.
    failed: bool,
}

impl Source {
    pub fn open(path: &Path) -> Result<Self, FormatError> {
        if path.is_dir() {
            return Err(FormatError::NotAFile { path: path.into(), found: "this is a directory" });
        }
        let file = File::open(path).map_err(FormatError::io(path, "open"))?;
        let metadata = file.metadata().map_err(FormatError::io(path, "open"))?;
        let size = metadata.is_file().then_some(metadata.len());
        Self::new(path, Box::new(file), size)
    }

    /// Returns a source named `path` of the bytes of `reader`, `size` in total if known.
    pub fn new(
        path: &Path,
        mut reader: Box<dyn Read + Send>,
        size: Option<u64>,
    ) -> Result<Self, FormatError> {
        let mut magic = Vec::with_capacity(4);
        reader.by_ref().take(4).read_to_end(&mut magic).map_err(FormatError::io(path, "read"))?;
        let compression = Compression::of_bytes(&magic);
        let input = Input { reader: Cursor::new(magic).chain(reader), bytes_read: 0, failed: false };
        let decoder = match compression {
            None => Decoder::Plain(input),
            Some(Compression::Gzip) => {
                let buffered = BufReader::with_capacity(COMPRESSED_BUFFER, input);
                Decoder::Gzip(Box::new(MultiGzDecoder::new(buffered)))
            }
            Some(Compression::Zstd) => {
                let buffered = BufReader::with_capacity(COMPRESSED_BUFFER, input);
                let decoder =
                    ZstdDecoder::with_buffer(buffered).map_err(FormatError::io(path, "decompress"))?;
                Decoder::Zstd(Box::new(decoder))
            }
        };
        Ok(Source { path: path.into(), size, decoder, line_ends: LineEnds::Usual, ahead: None })
    }

    /// Reads lines that end in carriage returns alone, if the first one does, as lines that end in
    /// line feeds.
    pub fn of_text(self) -> Self {
        Source { line_ends: LineEnds::Unknown, ..self }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The size of the file on disk; unknown for a pipe.
    pub fn size(&self) -> Option<u64> {
        self.size
    }

    /// The total size of the plain bytes, if it is known before they are read.
    pub fn plain_size(&self) -> Option<u64> {
        matches!(self.decoder, Decoder::Plain(_)).then_some(self.size).flatten()
    }

    /// The number of bytes read of the file on disk.
    pub fn bytes_used(&self) -> u64 {
        let unused = match &self.decoder {
            Decoder::Plain(_) => 0,
            Decoder::Gzip(decoder) => decoder.get_ref().buffer().len(),
            Decoder::Zstd(decoder) => decoder.get_ref().buffer().len(),
        };
        self.input().bytes_read - unused as u64
    }

    /// Reads plain bytes into `buffer`, which is not empty; 0 at the end.
    pub fn read(&mut self, buffer: &mut [u8]) -> Result<usize, FormatError> {
        let length = match self.ahead.take() {
            Some(byte) => {
                buffer[0] = byte;
                1
            }
            None => self.read_bytes(buffer)?,
        };
        let bytes = &mut buffer[..length];
        if self.line_ends == LineEnds::Unknown
            && let Some(end) = memchr::memchr2(b'\r', b'\n', bytes)
        {
            let follower = match bytes.get(end + 1) {
                _ if bytes[end] == b'\n' => Some(b'\n'),
                Some(follower) => Some(*follower),
                None => self.look_ahead()?,
            };
            let is_usual = follower.is_none_or(|follower| follower == b'\n');
            self.line_ends = if is_usual { LineEnds::Usual } else { LineEnds::CarriageReturns };
        }
        if self.line_ends == LineEnds::CarriageReturns {
            bytes.iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
        }
        Ok(length)
    }

    /// Reads the next byte, which [`Self::read`] then returns.
    fn look_ahead(&mut self) -> Result<Option<u8>, FormatError> {
        let mut byte = [0];
        self.ahead = (self.read_bytes(&mut byte)? == 1).then_some(byte[0]);
        Ok(self.ahead)
    }

    fn read_bytes(&mut self, buffer: &mut [u8]) -> Result<usize, FormatError> {
        let read = match &mut self.decoder {
            Decoder::Plain(input) => input.read(buffer),
            Decoder::Gzip(decoder) => decoder.read(buffer),
            Decoder::Zstd(decoder) => decoder.read(buffer),
        };
        read.map_err(|source| self.error(source))
    }

    /// Reads on to find damage of the compressed data that checksums within the next gibibyte
    /// reveal. Nothing can be read after that.
    pub fn damage(&mut self) -> Option<FormatError> {
        if matches!(self.decoder, Decoder::Plain(_)) {
            return None;
        }
        let (mut piece, mut read) = (vec![0; COMPRESSED_BUFFER], 0);
        while read < CHECKED_BEHIND_FAULT {
            match self.read(&mut piece) {
                Ok(0) => return None,
                Ok(length) => read += length as u64,
                Err(error) => return Some(error).filter(|error| error.kind() == ErrorKind::Corrupt),
            }
        }
        None
    }

    /// The cause of a fault: damage of the compressed data, or the fault itself.
    pub fn cause_of(&mut self, fault: FormatError) -> FormatError {
        let is_bad = fault.kind() == ErrorKind::BadInput;
        is_bad.then(|| self.damage()).flatten().unwrap_or(fault)
    }

    fn error(&self, source: io::Error) -> FormatError {
        let compression = match self.decoder {
            Decoder::Gzip(_) if !self.input().failed => "gzip",
            Decoder::Zstd(_) if !self.input().failed => "zstd",
            _ => return FormatError::Io { path: self.path.clone(), action: "read", source },
        };
        FormatError::Corrupt { path: self.path.clone(), compression, offset: self.bytes_used(), source }
    }

    fn input(&self) -> &Input {
        match &self.decoder {
            Decoder::Plain(input) => input,
            Decoder::Gzip(decoder) => decoder.get_ref().get_ref(),
            Decoder::Zstd(decoder) => decoder.get_ref().get_ref(),
        }
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.reader.read(buffer) {
                Ok(length) => {
                    self.bytes_read += length as u64;
                    return Ok(length);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.failed = true;
                    return Err(error);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns its bytes, then fails.
    struct Failing(Cursor<Vec<u8>>);

    impl Read for Failing {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.0.read(buffer)? {
                0 => Err(io::Error::other("the disk is gone")),
                length => Ok(length),
            }
        }
    }

    fn drain(mut source: Source) -> Result<Vec<u8>, FormatError> {
        let mut bytes = Vec::new();
        let mut piece = [0; 100];
        loop {
            match source.read(&mut piece)? {
                0 => return Ok(bytes),
                length => bytes.extend_from_slice(&piece[..length]),
            }
        }
    }

    fn compressed() -> Vec<u8> {
        zstd::encode_all(&b"some text that is long enough"[..], 1).unwrap()
    }

    #[test]
    fn a_failing_disk_is_not_corrupt_data() {
        let mut half = compressed();
        half.truncate(20);
        let failing = Failing(Cursor::new(half.clone()));
        let source = Source::new(Path::new("x"), Box::new(failing), None).unwrap();
        assert_eq!(drain(source).unwrap_err().kind(), ErrorKind::Io);

        let source = Source::new(Path::new("x"), Box::new(Cursor::new(half)), None).unwrap();
        assert!(matches!(drain(source), Err(FormatError::Corrupt { offset: 20, compression: "zstd", .. })));
    }

    #[test]
    fn carriage_returns_alone_end_lines() {
        for (text, read) in [
            ("1,2\r3,4\r", "1,2\n3,4\n"),
            ("1,2\r\n3\r4", "1,2\r\n3\r4"),
            ("1,2\n3\r4", "1,2\n3\r4"),
            ("1,2\r", "1,2\r"),
            ("\r\r1", "\n\n1"),
        ] {
            for size in 1..8 {
                let bytes = Box::new(Cursor::new(text.as_bytes().to_vec()));
                let mut source = Source::new(Path::new("x"), bytes, None).unwrap().of_text();
                let (mut found, mut piece) = (Vec::new(), vec![0; size]);
                while let length @ 1.. = source.read(&mut piece).unwrap() {
                    found.extend_from_slice(&piece[..length]);
                }
                assert_eq!(String::from_utf8(found).unwrap(), read, "{text:?} {size}");
            }
        }
    }

    #[test]
    fn frames_follow_each_other_and_all_bytes_are_counted() {
        let mut frames = vec![0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9];
        frames.extend(compressed());
        frames.extend(compressed());
        let length = frames.len() as u64;
        let mut source = Source::new(Path::new("x"), Box::new(Cursor::new(frames)), Some(length)).unwrap();
        let mut text = [0; 200];
        let mut read = 0;
        loop {
            match source.read(&mut text[read..]).unwrap() {
                0 => break,
                length => read += length,
            }
        }
        assert_eq!(&text[..read], b"some text that is long enough".repeat(2));
        assert_eq!((source.bytes_used(), source.size()), (length, Some(length)));
    }
}
