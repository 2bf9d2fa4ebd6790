//! Commits a stream in small batches while more is read.

use super::edge::{self, StreamEdge};
use super::input::Source;
use super::live::Live;
use super::position::{Position, Read, Stream};
use super::reader::Piece;
use crate::error::{CliError, StoredError};
use crate::interrupt::Interrupt;
use crate::signal::Signal;
use hedgerow::kernels::CancelToken;
use hedgerow::{Graph, LabelId};
use hedgerow_formats::SkippedLines;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Pieces that wait to be committed: enough for a commit while one is made, also of a pipe.
pub const PIECES_AHEAD: usize = 64;

/// The longest wait before a signal is noticed and figures are shown.
const TICK: Duration = Duration::from_millis(50);

/// The time after a signal in which the reader hands over what it has read.
const LAST_PIECES: Duration = Duration::from_millis(200);

/// The longest time in which commits stay in the buffer of the log.
const UNWRITTEN: Duration = Duration::from_secs(1);

/// The commits of a stream.
pub struct Run<'a, E> {
    graph: &'a Graph,
    label: LabelId,
    /// The largest number of edges per commit, and the longest time before one.
    limits: (usize, Duration),
    /// The position of the last commit, and of the edges that wait for the next.
    committed: Position,
    waiting: Waiting<E>,
    /// The time of the first commit that only this process has.
    unwritten: Option<Instant>,
    pub totals: Totals,
}

/// Edges that wait for their commit.
struct Waiting<E> {
    edges: Vec<E>,
    deletions: Vec<usize>,
    position: Position,
    /// The time when the first one was read.
    since: Option<Instant>,
}

/// The edges and commits so far.
#[derive(Clone, Debug)]
pub struct Totals {
    /// Edges that were put.
    pub edges: u64,
    /// Edges that were to be deleted.
    pub deletions: u64,
    pub commits: u64,
    /// The part of the stream that was read before, or is committed.
    pub read: Read,
    /// The records of a topic after those that were read.
    pub behind: Option<u64>,
    /// The time of the last commit.
    pub last: Option<Instant>,
    pub skipped: SkippedLines,
}

/// The reader on its thread.
struct Reading {
    stop: CancelToken,
    thread: JoinHandle<Result<(), CliError>>,
}

impl<'a, E: StreamEdge> Run<'a, E> {
    /// Commits to a graph from a position on.
    pub fn new(graph: &'a Graph, label: LabelId, limits: (usize, Duration), start: Position) -> Self {
        let totals = Totals::new(start.read.clone());
        let position = start.clone();
        let waiting = Waiting { edges: Vec::new(), deletions: Vec::new(), position, since: None };
        Run { graph, label, limits, committed: start, waiting, unwritten: None, totals }
    }

    /// Commits what the reader sends, until its end; or until a signal, and then what it has read
    /// by then. Returns the signal.
    pub fn run(
        &mut self,
        source: Box<dyn Source>,
        pieces: &Receiver<Piece<E>>,
        live: &mut Live<'_>,
        interrupt: &Interrupt,
    ) -> Result<Option<Signal>, CliError> {
        let reading = Reading::start(source)?;
        let mut stopped = None;
        loop {
            match pieces.recv_timeout(self.patience(stopped)) {
                Ok(piece) => self.add(piece)?,
                // The stream pauses: without a pause, there is soon enough for a commit.
                Err(RecvTimeoutError::Timeout) if stopped.is_none() => {
                    if self.patience(None).is_zero() {
                        self.commit()?;
                    }
                    if self.waiting.since.is_none() {
                        self.write()?;
                    }
                }
                // The reader may wait for a pipe.
                Err(RecvTimeoutError::Timeout) => return self.commit().map(|()| stopped),
                Err(RecvTimeoutError::Disconnected) => {
                    self.commit()?;
                    return reading.end().map(|()| stopped);
                }
            }
            if let (None, Err(CliError::Interrupted(signal))) = (stopped, interrupt.check()) {
                reading.stop.cancel();
                stopped = Some(signal);
            }
            live.show(&self.totals)?;
        }
    }

    /// The longest wait for a piece.
    fn patience(&self, stopped: Option<Signal>) -> Duration {
        match (stopped, self.waiting.since) {
            (Some(_), _) => LAST_PIECES,
            (None, None) => TICK,
            (None, Some(since)) => self.limits.1.saturating_sub(since.elapsed()).min(TICK),
        }
    }

    /// Adds edges to those that wait; commits these when they are enough.
    fn add(&mut self, piece: Piece<E>) -> Result<(), CliError> {
        if self.waiting.edges.len() + piece.edges.len() > self.limits.0 {
            self.commit()?;
        }
        let Piece { mut edges, deletions, read, behind, at, skipped } = piece;
        let waiting = &mut self.waiting;
        if !edges.is_empty() {
            waiting.since.get_or_insert(at);
        }
        let before = waiting.edges.len();
        waiting.deletions.extend(deletions.iter().map(|deletion| before + deletion));
        match before {
            0 => waiting.edges = edges,
            _ => waiting.edges.append(&mut edges),
        }
        waiting.position.read = read;
        self.totals.behind = behind;
        self.totals.skipped = skipped.unwrap_or_default();
        match self.waiting.edges.len() >= self.limits.0 {
            true => self.commit(),
            false => Ok(()),
        }
    }

    /// Commits the edges that wait, if there are some.
    fn commit(&mut self) -> Result<(), CliError> {
        let Waiting { edges, deletions, position, since } = &mut self.waiting;
        if since.take().is_none() {
            return Ok(());
        }
        edge::commit(self.graph, self.label, edges, deletions, &position.encode())
            .map_err(StoredError::from)?;
        let totals = &mut self.totals;
        totals.edges += (edges.len() - deletions.len()) as u64;
        totals.deletions += deletions.len() as u64;
        totals.commits += 1;
        totals.read = position.read.clone();
        totals.last = Some(Instant::now());
        self.committed = position.clone();
        edges.clear();
        deletions.clear();
        match self.unwritten.get_or_insert_with(Instant::now).elapsed() >= UNWRITTEN {
            true => self.write(),
            false => Ok(()),
        }
    }

    /// Lets the commits survive this process, and others read them.
    fn write(&mut self) -> Result<(), CliError> {
        match self.unwritten.take() {
            Some(_) => Ok(self.graph.flush().map_err(StoredError::from)?),
            None => Ok(()),
        }
    }

    /// Notes that the stream was read to its end, if the store does not know.
    pub fn finish(&mut self) -> Result<(), CliError> {
        let end = Position { finished: true, ..self.waiting.position.clone() };
        let end_is_noted = self.graph.input_position().is_some_and(|noted| *noted == *end.encode());
        if !end_is_noted {
            let transaction = self.graph.begin()?;
            transaction.note_input(&end.encode());
            transaction.commit()?;
            self.totals.commits += 1;
        }
        self.totals.read = end.read.clone();
        self.committed = end;
        Ok(())
    }

    /// The part of the stream that the store has, and the way to go on, for the error of a stream
    /// that stopped.
    pub fn kept(&self, store: &Path, comes_again: bool) -> String {
        let Position { stream: Stream { name, .. }, read, .. } = &self.committed;
        let how = match comes_again {
            true => "the same command goes on from there",
            false => "--replayed skips them if they come again",
        };
        let (first, store) = (if read.bytes().is_some() { "the first " } else { "" }, store.display());
        format!("the edges of {first}{read} of {name} are in {store}: {how}")
    }
}

impl Totals {
    /// Nothing, after what is `read` already.
    pub fn new(read: Read) -> Self {
        let (edges, deletions, commits, behind, last) = (0, 0, 0, None, None);
        Totals { edges, deletions, commits, read, behind, last, skipped: SkippedLines::default() }
    }
}

impl Reading {
    fn start(source: Box<dyn Source>) -> Result<Self, CliError> {
        let stop = source.stop();
        let thread = thread::Builder::new().name("stream".into()).spawn(move || source.run());
        Ok(Reading { stop, thread: thread.map_err(CliError::DemoThreads)? })
    }

    /// The end of the reading, which is over.
    fn end(self) -> Result<(), CliError> {
        self.thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}
