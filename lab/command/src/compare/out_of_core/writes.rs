//! The phases of writes, in a process of their own.

use super::deadline::Deadline;
use super::edges::{EDGE_BYTES, EdgeReader, PUTS_PER_DELETION};
use super::files::{log_space, space};
use super::job::{Job, Line};
use super::meter::peak_resident;
use super::process::{Process, open};
use super::stores::Store;
use crate::compare::graph::Edge;
use anyhow::Result;
use std::path::Path;
use std::time::{Duration, Instant};

/// Time between two measurements of the files' space.
const LOOKS: Duration = Duration::from_millis(250);

/// Directions in which an edge is stored.
const DIRECTIONS: f64 = 2.0;

/// A running stream of writes.
pub struct Writes {
    /// The time of every call.
    pub calls: Vec<Duration>,
    /// Undirected edges put.
    pub put: u64,
    /// The maximum space of the files.
    space: u64,
    looked: Instant,
    /// True if the deadline came before the end of the stream.
    is_cut: bool,
}

impl Writes {
    /// No writes yet.
    pub fn new() -> Self {
        Writes { calls: Vec::new(), put: 0, space: 0, looked: Instant::now(), is_cut: false }
    }

    /// Makes one call and records its time.
    pub fn write(&mut self, store: &dyn Store, puts: &[Edge], deletions: &[Edge]) -> Result<()> {
        let started = Instant::now();
        store.write(puts, deletions)?;
        self.calls.push(started.elapsed());
        self.put += puts.len() as u64;
        Ok(())
    }

    fn look(&mut self, folder: &Path) {
        if self.looked.elapsed() > LOOKS {
            self.space = self.space.max(space(folder));
            self.looked = Instant::now();
        }
    }

    /// Reports the rate and the longest calls.
    pub fn report(&mut self, process: &mut Process<'_>, workload: &str, seconds: f64) -> Result<()> {
        self.calls.sort_unstable();
        let at = |share: f64| self.calls.get((self.calls.len() as f64 * share) as usize);
        let longest = self.calls.last().copied().unwrap_or_default();
        let p99 = at(0.99).copied().unwrap_or_default();
        process.figure(workload, "throughput", "edges/s", self.put as f64 * DIRECTIONS / seconds)?;
        process.figure(workload, "call-p99", "ms", p99.as_secs_f64() * 1e3)?;
        process.figure(workload, "longest-call", "ms", longest.as_secs_f64() * 1e3)
    }
}

/// Puts all edges in three phases: loads most of them, then puts edges alone, then among deletions.
pub fn write(process: &mut Process<'_>) -> Result<()> {
    let (job, batch) = (process.job, process.kind.batch);
    let store = open(process.kind, process.job)?;
    let loaded = match process.kind.is_loaded_in_order {
        true => in_order(process, &*store, "load", &job.loaded_in_order())?,
        false => {
            let edges = EdgeReader::open(&job.shuffled(), 0, job.counts.loaded)?;
            stream(process, &*store, "load", Stream { edges, deletions: None, batch, before: 0 })?
        }
    };
    let alone = Stream {
        edges: EdgeReader::open(&job.shuffled(), job.counts.loaded, job.counts.alone)?,
        deletions: None,
        batch,
        before: job.counts.loaded,
    };
    let before = job.counts.loaded + job.counts.alone;
    let mixed = Stream {
        edges: EdgeReader::open(&job.shuffled(), before, u64::MAX)?,
        deletions: Some(EdgeReader::open(&job.shuffled(), 0, job.counts.deleted)?),
        batch,
        before,
    };
    let is_complete =
        loaded && stream(process, &*store, "insert", alone)? && stream(process, &*store, "mixed", mixed)?;
    if !is_complete {
        return process.tell(Line::Incomplete);
    }
    settle(process, &*store)?;
    drop(store);
    process.figure("settle", "resident", "MB", peak_resident() as f64 / 1e6)
}

/// Makes the store with all edges in order.
pub fn rebuild(process: &mut Process<'_>) -> Result<()> {
    let store = open(process.kind, process.job)?;
    match in_order(process, &*store, "rebuild", &process.job.final_in_order())? {
        true => settle(process, &*store),
        false => process.tell(Line::Incomplete),
    }
}

fn settle(process: &mut Process<'_>, store: &dyn Store) -> Result<()> {
    process.measure("settle", 0, |_| store.settle())?;
    let Job { folder, counts, .. } = process.job;
    let per_edge = |bytes: u64| bytes as f64 / (counts.left() as f64 * DIRECTIONS);
    let (all, log) = (space(folder), log_space(folder));
    process.figure("settle", "space", "B/edge", per_edge(all))?;
    process.figure("settle", "space-of-log", "B/edge", per_edge(log))
}

/// Loads edges in order. Returns true if all were put before the deadline.
fn in_order(process: &mut Process<'_>, store: &dyn Store, workload: &str, path: &Path) -> Result<bool> {
    /// Directed edges per call.
    const BATCH: usize = 1 << 14;
    let mut edges = EdgeReader::open(path, 0, u64::MAX)?;
    let done = process.measure(workload, 0, |deadline| {
        let mut batch = Vec::new();
        while edges.next(BATCH, &mut batch)? {
            store.load_in_order(&batch)?;
            if deadline.is_over() {
                return Ok(false);
            }
        }
        Ok(true)
    })?;
    Ok(done.is_some_and(|(is_complete, _)| is_complete))
}

/// Edges to put, and optionally edges to delete meanwhile.
struct Stream {
    edges: EdgeReader,
    deletions: Option<EdgeReader>,
    batch: usize,
    /// Undirected edges already in the store.
    before: u64,
}

/// Puts a stream of edges. Returns true if all were put before the deadline.
fn stream(process: &mut Process<'_>, store: &dyn Store, workload: &str, stream: Stream) -> Result<bool> {
    let Stream { mut edges, mut deletions, batch, before } = stream;
    let folder = &process.job.folder;
    let done = process.measure(workload, 0, |deadline: &mut Deadline| {
        let (mut puts, mut deleted, mut writes) = (Vec::new(), Vec::new(), Writes::new());
        while edges.next(batch, &mut puts)? {
            if let Some(deletions) = &mut deletions {
                deletions.next(puts.len() / PUTS_PER_DELETION, &mut deleted)?;
            }
            writes.write(store, &puts, &deleted)?;
            writes.look(folder);
            if deadline.is_over() {
                writes.is_cut = true;
                return Ok(writes);
            }
        }
        // Remaining deletions, left by the rounding in each batch.
        if let Some(deletions) = &mut deletions {
            while deletions.next(batch, &mut deleted)? {
                writes.write(store, &[], &deleted)?;
            }
        }
        Ok(writes)
    })?;
    let Some((mut writes, taken)) = done else { return Ok(false) };
    writes.report(process, workload, taken.seconds)?;
    let put = writes.put as f64 * DIRECTIONS;
    let written = taken.transferred.written as f64;
    process.figure(workload, "amplification", "times", written / (put * EDGE_BYTES as f64))?;
    writes.space = writes.space.max(space(folder));
    let inside = (before + writes.put) as f64 * DIRECTIONS;
    process.figure(workload, "space", "B/edge", writes.space as f64 / inside)?;
    if writes.is_cut {
        let note = format!("{workload}: cut after {put} of its edges, both directions counted");
        process.tell(Line::Note(note))?;
    }
    Ok(!writes.is_cut)
}
