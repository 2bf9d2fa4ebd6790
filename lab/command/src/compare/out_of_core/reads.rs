//! The phases of reads, in a process that begins with nothing in memory, the last one with
//! concurrent writes.

use super::algorithms::{self, Analytics, Reader};
use super::deadline::Deadline;
use super::edges::{EdgeReader, queried};
use super::files::{drop_from_cache, read_all};
use super::job::{Answers, Line};
use super::meter::{Taken, peak_resident};
use super::process::{Process, open};
use super::stores::Store;
use super::writes::Writes;
use anyhow::{Context, Result};
use hedgerow_sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

/// Bytes per vertex of the arrays of each algorithm, with some room for its lists.
const SEARCH_BYTES: u64 = 12;
const PATHS_BYTES: u64 = 24;
const PAGERANK_BYTES: u64 = 32;

/// Opens the store and reads it.
pub fn read(process: &mut Process<'_>) -> Result<()> {
    let (job, kind) = (process.job, process.kind);
    drop_from_cache(&job.folder)?;
    if let Some((bytes, taken)) = process.measure("disk", 0, |_| read_all(&job.folder))? {
        process.figure("disk", "rate", "MB/s", bytes as f64 / 1e6 / taken.seconds)?;
    }
    drop_from_cache(&job.folder)?;
    let opened = process.measure("open", 0, |deadline| {
        let store = open(kind, job)?;
        store.read(&mut |reader| algorithms::one_hop(reader, &[job.source()], deadline).map(drop))?;
        Ok(store)
    })?;
    let Some((store, _)) = opened else { return Ok(()) };
    analytics(process, &*store)?;
    process.figure("one-hop", "resident", "MB", peak_resident() as f64 / 1e6)
}

fn analytics(process: &mut Process<'_>, store: &dyn Store) -> Result<()> {
    let job = process.job;
    let (source, vertices) = (job.source(), job.vertices);
    if let Some((neighbors, taken)) = on(process, store, "scan", 0, algorithms::scan)? {
        process.figure("scan", "throughput", "edges/s", neighbors.0 as f64 / taken.seconds)?;
        answer(process, Answers { neighbors: Some(neighbors), ..Answers::default() })?;
    }
    let plain = on(process, store, "bfs-plain", SEARCH_BYTES, |reader, deadline| {
        algorithms::bfs(reader, vertices, source, deadline)
    })?;
    let own = own(process, store, "bfs", (Analytics::Bfs(source), SEARCH_BYTES), plain.map(|plain| plain.1))?;
    for (bfs, _) in plain.into_iter().chain(own) {
        answer(process, Answers { bfs: Some(bfs), ..Answers::default() })?;
    }
    components(process, store)?;
    let paths = shortest_paths(process, store)?;
    self::own(process, store, "pagerank", (Analytics::PageRank, PAGERANK_BYTES), None)?;
    let asked = queried(&job.queries, vertices);
    let hops =
        on(process, store, "one-hop", 0, |reader, deadline| algorithms::one_hop(reader, &asked, deadline))?;
    if let Some((sum, taken)) = hops {
        process.figure("one-hop", "throughput", "queries/s", asked.len() as f64 / taken.seconds)?;
        answer(process, Answers { one_hop: Some(sum), ..Answers::default() })?;
    }
    match paths {
        Some(alone) => beside(process, store, alone),
        None => process.tell(Line::Note("beside: left out, since sssp was cut".to_owned())),
    }
}

fn components(process: &mut Process<'_>, store: &dyn Store) -> Result<()> {
    let vertices = process.job.vertices;
    let plain = on(process, store, "wcc-plain", SEARCH_BYTES, |reader, deadline| {
        algorithms::components(reader, vertices, deadline)
    })?;
    let own = own(process, store, "wcc", (Analytics::Components, SEARCH_BYTES), plain.map(|plain| plain.1))?;
    let own = own.map(|((components, _), taken)| (components, taken));
    for (components, _) in plain.into_iter().chain(own) {
        answer(process, Answers { components: Some(components), ..Answers::default() })?;
    }
    Ok(())
}

/// Searches for shortest paths; returns the cost, by the store's own code if it has any.
fn shortest_paths(process: &mut Process<'_>, store: &dyn Store) -> Result<Option<Taken>> {
    let (vertices, source) = (process.job.vertices, process.job.source());
    let plain = on(process, store, "sssp-plain", PATHS_BYTES, |reader, deadline| {
        algorithms::shortest_paths(reader, vertices, source, deadline)
    })?;
    let analytics = Analytics::ShortestPaths(source);
    let own = own(process, store, "sssp", (analytics, PATHS_BYTES), plain.map(|plain| plain.1))?;
    for (found, _) in plain.into_iter().chain(own) {
        answer(process, Answers { shortest_paths: Some(found), ..Answers::default() })?;
    }
    Ok(own.or(plain).map(|(_, taken)| taken))
}

fn answer(process: &mut Process<'_>, answers: Answers) -> Result<()> {
    process.tell(Line::Answers(answers))
}

/// Runs an algorithm on the current state; `None` if it was cut.
fn on<T>(
    process: &mut Process<'_>,
    store: &dyn Store,
    workload: &str,
    array_bytes: u64,
    mut algorithm: impl FnMut(&mut dyn Reader, &mut Deadline) -> Result<T>,
) -> Result<Option<(T, Taken)>> {
    process.measure(workload, array_bytes, |deadline| read_once(store, |reader| algorithm(reader, deadline)))
}

fn read_once<T>(store: &dyn Store, mut work: impl FnMut(&mut dyn Reader) -> Result<T>) -> Result<T> {
    let mut found = None;
    store.read(&mut |reader| {
        found = Some(work(reader)?);
        Ok(())
    })?;
    found.context("the store was not read")
}

/// Runs the store's own code. For a store without such code, reports `plain`, the time of the plain
/// algorithm.
fn own(
    process: &mut Process<'_>,
    store: &dyn Store,
    workload: &str,
    (analytics, array_bytes): (Analytics, u64),
    plain: Option<Taken>,
) -> Result<Option<((u64, u64), Taken)>> {
    if !process.kind.has_analytics {
        if let Some(plain) = plain {
            process.figure(workload, "time", "s", plain.seconds)?;
        }
        return Ok(None);
    }
    let found =
        process.measure(workload, array_bytes, |_| read_once(store, |reader| reader.analyze(analytics)))?;
    Ok(found.and_then(|(found, taken)| Some((found?, taken))))
}

/// Searches for shortest paths in one state, by the store's own code if it has any, while another
/// thread puts edges as fast as possible.
fn beside(process: &mut Process<'_>, store: &dyn Store, alone: Taken) -> Result<()> {
    let (job, batch) = (process.job, process.kind.batch);
    let is_over = AtomicBool::new(false);
    let write = || {
        let (mut puts, mut writes, started) = (Vec::new(), Writes::new(), Instant::now());
        let mut edges = EdgeReader::open(&job.extra(), 0, job.counts.extra)?;
        while !is_over.load(Ordering::Relaxed) && edges.next(batch, &mut puts)? {
            writes.write(store, &puts, &[])?;
        }
        anyhow::Ok((writes, started.elapsed().as_secs_f64()))
    };
    let both = process.measure("beside", PATHS_BYTES, |deadline| {
        read_once(store, |reader| {
            thread::scope(|scope| {
                let (writer, started) = (scope.spawn(write), Instant::now());
                let own = reader.analyze(Analytics::ShortestPaths(job.source()));
                let found = match own {
                    Ok(None) => algorithms::shortest_paths(reader, job.vertices, job.source(), deadline),
                    own => own.map(Option::unwrap_or_default),
                };
                let searched = started.elapsed().as_secs_f64();
                is_over.store(true, Ordering::Relaxed);
                let written = writer.join().unwrap_or_else(|panicked| std::panic::resume_unwind(panicked));
                Ok((found?, searched, written?))
            })
        })
    })?;
    let Some(((shortest_paths, searched, (mut writes, wrote)), _)) = both else { return Ok(()) };
    process.figure("beside", "sssp", "s", searched)?;
    process.figure("beside", "sssp-slowdown", "times", searched / alone.seconds)?;
    writes.report(process, "beside", wrote)?;
    if writes.put >= job.counts.extra {
        let note = format!("beside: the writer had no more edges after {wrote:.1} s of {searched:.1} s");
        process.tell(Line::Note(note))?;
    }
    // The snapshot does not contain the edges put meanwhile.
    answer(process, Answers { shortest_paths: Some(shortest_paths), ..Answers::default() })
}
