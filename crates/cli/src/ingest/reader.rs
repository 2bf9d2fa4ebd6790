//! Reads a stream and parses it, on a thread of its own.

use super::edge::StreamEdge;
use super::input::Source;
use super::position::{Read, ReadBytes, TAIL};
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

/// A file or a pipe.
pub struct Bytes {
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
    /// The records of a topic that come after these.
    pub behind: Option<u64>,
    /// The time when they were read.
    pub at: Instant,
    /// The lines skipped so far, if there are more than before.
    pub skipped: Option<SkippedLines>,
}

/// Reads a file or a pipe.
pub struct Reader<E: StreamEdge> {
    input: Bytes,
    parser: StreamParser<E::Key>,
    /// The stream up to the last edge.
    read: ReadBytes,
    /// The last bytes of that part.
    tail: Vec<u8>,
    /// The input first comes again.
    skips: bool,
    /// Wait for more at the end of a file.
    follows: bool,
    /// The largest number of edges in a piece.
    most: usize,
    pieces: SyncSender<Piece<E>>,
    /// Stops the reading.
    stop: CancelToken,
}

impl Bytes {
    /// Opens a file or a pipe.
    pub fn open(path: &Path) -> Result<Self, CliError> {
        if path == Path::new(STANDARD_INPUT) {
            let path = "standard input".into();
            return Ok(Bytes { path, bytes: Box::new(io::stdin()), is_file: false });
        }
        if path.is_dir() {
            return Err(FormatError::NotAFile { path: path.into(), found: "this is a directory" }.into());
        }
        let file = File::open(path).map_err(|source| io_error(path, "open", source))?;
        Ok(Bytes { path: path.into(), bytes: Box::new(file), is_file: can_be_read_again(path) })
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
    fn size(&self) -> Option<u64> {
        self.is_file.then(|| fs::metadata(&self.path).ok()).flatten().map(|metadata| metadata.len())
    }

    /// Goes to the end of what is `read` of a file, after a check that the file is the same.
    /// Returns the last bytes before.
    fn go_to(&mut self, read: &ReadBytes) -> Result<Vec<u8>, CliError> {
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
    fn is_another(&self, read: &ReadBytes) -> CliError {
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

fn io_error(path: &Path, action: &'static str, source: io::Error) -> CliError {
    FormatError::Io { path: path.into(), action, source }.into()
}

impl<E: StreamEdge> Source for Reader<E> {
    fn stop(&self) -> CancelToken {
        self.stop.clone()
    }

    fn run(mut self: Box<Self>) -> Result<(), CliError> {
        if self.skips {
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
}

impl<E: StreamEdge> Reader<E> {
    /// A reader of the input after what is `read` of it. If the input is `replayed`, this part
    /// comes again, too.
    pub fn new(
        mut input: Bytes,
        read: ReadBytes,
        options: StreamOptions,
        (replayed, follows, most): (bool, bool, usize),
        pieces: SyncSender<Piece<E>>,
    ) -> Result<Self, CliError> {
        let has_begun = replayed || !input.is_file;
        let tail = if has_begun { Vec::new() } else { input.go_to(&read)? };
        let place = StreamPlace { bytes: read.bytes, lines: read.lines };
        let parser = StreamParser::new(&input.path, options, place);
        let (follows, stop) = (follows && input.is_file, CancelToken::new());
        Ok(Reader { input, parser, read, tail, skips: replayed, follows, most, pieces, stop })
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
        self.read = ReadBytes { lines: expected.lines, ..ReadBytes::default() };
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
        let (read, behind, at) = (Read::Bytes(self.read), None, Instant::now());
        self.pieces.send(Piece { edges, deletions, read, behind, at, skipped }).is_ok()
    }
}
