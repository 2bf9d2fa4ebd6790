//! Reads a stream and parses it, on a thread of its own.

use super::edge::StreamEdge;
use super::position::{Read, TAIL};
use crate::error::{CliError, StoredError};
use crate::import::can_be_read_again;
use crate::options::STANDARD_INPUT;
use crate::text;
use hedgerow::kernels::CancelToken;
use hedgerow_formats::{FormatError, SkippedLines, StreamBatch, StreamOptions, StreamParser, StreamPlace};
use std::fs::{self, File};
use std::io::{self, Read as _, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::mpsc::SyncSender;
use std::thread;
use std::time::{Duration, Instant};

/// Bytes that are read at a time: what a pipe holds, or more.
const BLOCK: usize = 128 << 10;

/// The time between two looks at the end of a file.
const NAP: Duration = Duration::from_millis(10);

/// The bytes of a stream.
pub struct Input {
    path: PathBuf,
    bytes: Box<dyn io::Read + Send>,
    /// True for a file, which may grow; false for a pipe.
    is_file: bool,
}

/// Edges that were read together.
pub struct Piece<E> {
    pub edges: Vec<E>,
    /// The positions in `edges` of those to delete, ascending.
    pub deletions: Vec<usize>,
    /// The stream up to the last edge.
    pub read: Read,
    /// The time when they were read.
    pub at: Instant,
    /// The lines skipped so far, if there are more than before.
    pub skipped: Option<SkippedLines>,
}

/// Reads a stream.
pub struct Reader<E: StreamEdge> {
    pub input: Input,
    pub parser: StreamParser<E::Key>,
    /// The stream up to the last edge.
    pub read: Read,
    /// The last bytes of that part.
    pub tail: Vec<u8>,
    /// Wait for more at the end of a file.
    pub follows: bool,
    /// The largest number of edges in a piece.
    pub most: usize,
    pub pieces: SyncSender<Piece<E>>,
    /// Stops the reading.
    pub stop: CancelToken,
}

impl Input {
    /// Opens a file or a pipe.
    pub fn open(path: &Path) -> Result<Self, CliError> {
        if path == Path::new(STANDARD_INPUT) {
            let path = "standard input".into();
            return Ok(Input { path, bytes: Box::new(io::stdin()), is_file: false });
        }
        if path.is_dir() {
            return Err(FormatError::NotAFile { path: path.into(), found: "this is a directory" }.into());
        }
        let file = File::open(path).map_err(|source| io_error(path, "open", source))?;
        Ok(Input { path: path.into(), bytes: Box::new(file), is_file: can_be_read_again(path) })
    }

    /// The name, independent of the current directory.
    pub fn name(&self) -> String {
        let path = self.path.canonicalize();
        path.as_ref().unwrap_or(&self.path).display().to_string()
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn is_file(&self) -> bool {
        self.is_file
    }

    /// The size of the file.
    pub fn size(&self) -> Option<u64> {
        size(&self.path, self.is_file)
    }

    /// Goes to the end of what is `read` of a file, after a check that the file is the same.
    /// Returns the last bytes before.
    pub fn go_to(&mut self, read: &Read) -> Result<Vec<u8>, CliError> {
        let before = read.bytes.min(TAIL as u64);
        let mut tail = vec![0; before as usize];
        let found = File::open(&self.path).and_then(|mut file| {
            file.seek(SeekFrom::Start(read.bytes - before))?;
            match file.read_exact(&mut tail) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
                found => found.map(|()| Some(file)),
            }
        });
        let found = found.map_err(|source| io_error(&self.path, "read", source))?;
        match found.filter(|_| crc32c::crc32c(&tail) == read.tail) {
            Some(file) => {
                self.bytes = Box::new(file);
                Ok(tail)
            }
            None => Err(self.is_another(read)),
        }
    }

    /// The error for an input that is not the one that was read.
    fn is_another(&self, read: &Read) -> CliError {
        let (path, bytes) = (self.path.display(), text::counted(read.bytes, "byte", "bytes"));
        let message = match self.size() {
            Some(size) if size < read.bytes => format!(
                "{path} has {} now, but {bytes} of it were read: it was cut, or is another file",
                text::counted(size, "byte", "bytes")
            ),
            _ => format!(
                "{path} does not begin with the {bytes} that the store has of it: it is another input"
            ),
        };
        StoredError::OtherImport(message).into()
    }
}

/// The size of a file; `None` of a pipe.
pub fn size(path: &Path, is_file: bool) -> Option<u64> {
    is_file.then(|| fs::metadata(path).ok()).flatten().map(|metadata| metadata.len())
}

fn io_error(path: &Path, action: &'static str, source: io::Error) -> CliError {
    FormatError::Io { path: path.into(), action, source }.into()
}

impl<E: StreamEdge> Reader<E> {
    /// A reader of the input after what is `read` of it.
    pub fn new(
        input: Input,
        (read, tail): (Read, Vec<u8>),
        options: StreamOptions,
        (follows, most): (bool, usize),
        pieces: SyncSender<Piece<E>>,
    ) -> Self {
        let place = StreamPlace { bytes: read.bytes, lines: read.lines };
        let parser = StreamParser::new(&input.path, options, place);
        let follows = follows && input.is_file;
        Reader { input, parser, read, tail, follows, most, pieces, stop: CancelToken::new() }
    }

    /// Reads up to the end, or until it is stopped, and sends all edges. With `skips`, the input
    /// first comes again.
    pub fn run(mut self, skips: bool) -> Result<(), CliError> {
        if skips {
            self.skip()?;
        }
        let (mut buffer, mut batch) = (Vec::new(), StreamBatch::new());
        loop {
            let is_end = match self.fill(&mut buffer)? {
                Some(length) => length == 0,
                None => return Ok(()),
            };
            let mut start = 0;
            loop {
                let parsed = self.parser.parse(&buffer[start..], is_end, self.most, &mut batch);
                let length = (self.parser.place().bytes - self.read.bytes) as usize;
                self.pass(&buffer[start..start + length]);
                start += length;
                let is_open = length == 0 || self.send(&mut batch);
                parsed?;
                if length == 0 {
                    break;
                }
                if !is_open {
                    return Ok(());
                }
            }
            if is_end {
                return Ok(());
            }
            buffer.drain(..start);
        }
    }

    /// Reads more; returns the number of bytes, 0 at the end, or `None` if it was stopped.
    fn fill(&mut self, buffer: &mut Vec<u8>) -> Result<Option<usize>, CliError> {
        let before = buffer.len();
        buffer.resize(before + BLOCK, 0);
        loop {
            if self.stop.is_cancelled() {
                return Ok(None);
            }
            match self.input.bytes.read(&mut buffer[before..]) {
                Ok(0) if self.follows => {
                    if self.input.size().is_some_and(|size| size < self.read.bytes + before as u64) {
                        return Err(self.input.is_another(&self.read));
                    }
                    thread::sleep(NAP);
                }
                Ok(length) => {
                    buffer.truncate(before + length);
                    return Ok(Some(length));
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(io_error(&self.input.path, "read", error)),
            }
        }
    }

    /// Reads again what the store has, and checks that it is the same.
    fn skip(&mut self) -> Result<(), CliError> {
        let (expected, mut block) = (self.read, vec![0; BLOCK]);
        self.read = Read { lines: expected.lines, ..Read::default() };
        self.tail.clear();
        while self.read.bytes < expected.bytes && !self.stop.is_cancelled() {
            let most =
                usize::try_from(expected.bytes - self.read.bytes).map_or(BLOCK, |left| left.min(BLOCK));
            match self.input.bytes.read(&mut block[..most]) {
                Ok(0) => return Err(self.input.is_another(&expected)),
                Ok(length) => {
                    self.read.bytes += length as u64;
                    self.pass_bytes(&block[..length]);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(io_error(&self.input.path, "read", error)),
            }
        }
        let is_same = self.read == expected || self.stop.is_cancelled();
        is_same.then_some(()).ok_or_else(|| self.input.is_another(&expected))
    }

    /// Advances over the bytes of edges that were parsed.
    fn pass(&mut self, bytes: &[u8]) {
        let StreamPlace { bytes: end, lines } = self.parser.place();
        (self.read.bytes, self.read.lines) = (end, lines);
        self.pass_bytes(bytes);
    }

    fn pass_bytes(&mut self, bytes: &[u8]) {
        self.read.checksum = crc32c::crc32c_append(self.read.checksum, bytes);
        let last = &bytes[bytes.len().saturating_sub(TAIL)..];
        let surplus = (self.tail.len() + last.len()).saturating_sub(TAIL);
        self.tail.drain(..surplus);
        self.tail.extend_from_slice(last);
        self.read.tail = crc32c::crc32c(&self.tail);
    }

    /// Sends what was parsed; returns false if nothing more is wanted.
    fn send(&mut self, batch: &mut StreamBatch<E::Key>) -> bool {
        let edges = batch.edges.drain(..).map(E::of).collect();
        let deletions = std::mem::take(&mut batch.deletions);
        let skipped = self.parser.skipped();
        let skipped = (skipped.count > 0).then(|| skipped.clone());
        let piece = Piece { edges, deletions, read: self.read, at: Instant::now(), skipped };
        self.pieces.send(piece).is_ok()
    }
}
