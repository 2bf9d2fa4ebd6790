//! The measurements, repetition by repetition, in turns over the stores.

use crate::compare::disk::Disk;
use crate::compare::figures::{Figure, Figures};
use crate::compare::graph::{Edge, FreshEdges, Graph};
use crate::compare::stores::{EdgeStore, Kind};
use anyhow::{Context, Result, ensure};
use hedgerow::{Durability, VertexId};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Numbers of concurrent clients, each of which waits for its commit.
const CLIENTS: [usize; 4] = [1, 2, 16, 64];

/// Turns of disk, clients and stores within a repetition, so that changes over time affect all.
const SLICES: u32 = 5;

/// Edges per transaction of a bulk load.
const BATCH: usize = 1 << 16;

/// The plan of a comparison.
#[derive(Debug)]
pub struct Plan<'p> {
    /// The edges.
    pub graph: &'p Graph,
    /// The stores.
    pub kinds: &'p [&'static Kind],
    /// The folder of the stores.
    pub folder: &'p Path,
    /// Repetitions of each measurement.
    pub repetitions: u32,
    /// Time that each number of clients commits, and maximum time of buffered commits.
    pub time: Duration,
}

/// An open store in its own folder, which is removed after the store.
struct Opened {
    kind: &'static Kind,
    store: Box<dyn EdgeStore>,
    folder: TempDir,
}

/// Measures everything.
pub fn run(plan: &Plan<'_>) -> Result<Figures> {
    let mut figures = Figures::default();
    for repetition in 1..=plan.repetitions {
        let note = |what: &str| eprintln!("repetition {repetition} of {}: {what}", plan.repetitions);
        note("synced commits");
        synced_commits(plan, u64::from(repetition), &mut figures)?;
        for kind in plan.kinds {
            note(&format!("buffered commits, {}", kind.name));
            buffered_commits(plan, kind, &mut figures).context(kind.name)?;
        }
        let mut answers = None;
        for kind in plan.kinds {
            note(&format!("bulk, opening and reading, {}", kind.name));
            let found = bulk_and_reads(plan, kind, &mut figures).context(kind.name)?;
            ensure!(*answers.get_or_insert(found) == found, "{} and others disagree: {found:?}", kind.name);
        }
    }
    Ok(figures)
}

impl Plan<'_> {
    fn open(&self, kind: &'static Kind, durability: Durability) -> Result<Opened> {
        let folder = tempfile::tempdir_in(self.folder)?;
        let store = (kind.open)(folder.path(), durability, self.graph.vertices).context(kind.name)?;
        Ok(Opened { kind, store, folder })
    }
}

fn synced_commits(plan: &Plan<'_>, repetition: u64, figures: &mut Figures) -> Result<()> {
    let figure = |store, threads| Figure {
        workload: "synced-commits",
        store,
        threads,
        metric: "throughput",
        unit: "commits/s",
    };
    let open = |kind: &&'static Kind| plan.open(kind, Durability::Sync);
    let stores: Vec<Opened> = plan.kinds.iter().map(open).collect::<Result<_>>()?;
    let mut disk = Disk::new(plan.folder)?;
    let mut synced = Waits::default();
    let mut committed: Vec<_> = stores.iter().map(|_| CLIENTS.map(|_| Waits::default())).collect();
    for slice in 0..SLICES {
        let time = plan.time / SLICES;
        synced.add(|| disk.sync_for(time))?;
        for (position, clients) in CLIENTS.into_iter().enumerate() {
            for (Opened { kind, store, .. }, waits) in stores.iter().zip(&mut committed) {
                let client = |number| {
                    let seed = seed(repetition, slice, clients, number);
                    commit_for(time, &**store, seed, plan.graph.vertices)
                };
                waits[position].add(|| on_threads(clients, client)).context(kind.name)?;
            }
        }
    }
    figures.push_waits(figure("disk", 1), synced.latencies, synced.elapsed);
    for (position, clients) in CLIENTS.into_iter().enumerate() {
        for (Opened { kind, .. }, waits) in stores.iter().zip(&mut committed) {
            let Waits { latencies, elapsed } = std::mem::take(&mut waits[position]);
            figures.push_waits(figure(kind.name, clients), latencies, elapsed);
        }
    }
    Ok(())
}

/// A different seed for every client of every slice, so that hardly any edge is put twice, which
/// would be no work.
fn seed(repetition: u64, slice: u32, clients: usize, number: usize) -> u64 {
    repetition << 32 | u64::from(slice) << 16 | (clients as u64) << 8 | number as u64
}

/// Latencies of operations, and the elapsed time.
#[derive(Debug, Default)]
struct Waits {
    latencies: Vec<Duration>,
    elapsed: Duration,
}

impl Waits {
    fn add(&mut self, work: impl FnOnce() -> Result<Vec<Duration>>) -> Result<()> {
        let started = Instant::now();
        let latencies = work()?;
        self.elapsed += started.elapsed();
        self.latencies.extend(latencies);
        Ok(())
    }
}

/// Puts edges one by one for the given time; returns the time of each put.
fn commit_for(time: Duration, store: &dyn EdgeStore, seed: u64, vertices: u32) -> Result<Vec<Duration>> {
    let (mut edges, mut latencies) = (FreshEdges::new(seed, vertices), Vec::new());
    let begin = Instant::now();
    while begin.elapsed() < time {
        let started = Instant::now();
        store.put(edges.next())?;
        latencies.push(started.elapsed());
    }
    Ok(latencies)
}

fn on_threads(threads: usize, work: impl Fn(usize) -> Result<Vec<Duration>> + Sync) -> Result<Vec<Duration>> {
    thread::scope(|scope| {
        let work = &work;
        let started: Vec<_> = (0..threads).map(|number| scope.spawn(move || work(number))).collect();
        let mut all = Vec::new();
        for thread in started {
            all.extend(thread.join().unwrap_or_else(|panicked| std::panic::resume_unwind(panicked))?);
        }
        Ok(all)
    })
}

fn buffered_commits(plan: &Plan<'_>, kind: &'static Kind, figures: &mut Figures) -> Result<()> {
    let opened = plan.open(kind, Durability::Buffered)?;
    let (begin, mut committed) = (Instant::now(), 0);
    for edges in plan.graph.stream.chunks(100) {
        edges.iter().try_for_each(|edge| opened.store.put(*edge))?;
        committed += edges.len();
        if begin.elapsed() >= plan.time {
            break;
        }
    }
    // The flush counts: otherwise the rate would include writes that never reach the disk.
    opened.store.flush()?;
    let rate = committed as f64 / begin.elapsed().as_secs_f64();
    figures.push(single("buffered-insert", kind, "throughput", "edges/s"), rate);
    ensure!(opened.store.count(&plan.graph.stream[..committed])? == committed, "edges are lost");
    Ok(())
}

/// A figure of one thread.
fn single(workload: &'static str, kind: &'static Kind, metric: &'static str, unit: &'static str) -> Figure {
    Figure { workload, store: kind.name, threads: 1, metric, unit }
}

/// Ingests the whole graph in synced batches, reopens the store, and reads it; returns the results
/// of the reads.
fn bulk_and_reads(plan: &Plan<'_>, kind: &'static Kind, figures: &mut Figures) -> Result<(u64, usize)> {
    let Graph { stream, probes, vertices, .. } = plan.graph;
    let edges = stream.len() as f64;
    let opened = plan.open(kind, Durability::Sync)?;
    let ((), seconds) = timed(|| stream.chunks(BATCH).try_for_each(|batch| opened.store.put_all(batch)))?;
    figures.push(single("bulk-ingest", kind, "throughput", "edges/s"), edges / seconds);

    opened.store.settle()?;
    let Opened { store, folder, .. } = opened;
    drop(store);
    let bytes = bytes_in(folder.path())? as f64;
    figures.push(single("open", kind, "bytes-per-edge", "bytes"), bytes / edges);
    let (store, seconds) = timed(|| open_and_ask(kind, folder.path(), *vertices, &stream[0]))?;
    figures.push(single("open", kind, "time", "s"), seconds);

    // An unmeasured first scan, because a newly opened file has not been read.
    let all: Vec<VertexId> = (0..*vertices).map(VertexId::new).collect();
    store.sum_neighbors(&all, usize::MAX)?;
    let (sum, seconds) = timed(|| store.sum_neighbors(&all, usize::MAX))?;
    figures.push(single("scan", kind, "throughput", "edges/s"), edges / seconds);
    let (found, seconds) = timed(|| store.count(probes))?;
    figures.push(single("search", kind, "throughput", "lookups/s"), probes.len() as f64 / seconds);
    drop(store);
    Ok((sum, found))
}

/// Opens a store and reads an existing edge: some stores defer reads from their opening to the
/// first request.
fn open_and_ask(
    kind: &'static Kind,
    folder: &Path,
    vertices: u32,
    edge: &Edge,
) -> Result<Box<dyn EdgeStore>> {
    let store = (kind.open)(folder, Durability::Sync, vertices)?;
    ensure!(store.count(std::slice::from_ref(edge))? == 1, "an edge is lost");
    Ok(store)
}

/// Runs `work`; returns its result and its seconds.
fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<(T, f64)> {
    let started = Instant::now();
    let result = work()?;
    Ok((result, started.elapsed().as_secs_f64()))
}

/// The bytes of all files in a folder.
fn bytes_in(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder)? {
        let metadata = entry?.metadata()?;
        bytes += if metadata.is_file() { metadata.len() } else { 0 };
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::compare::figures::Report;
    use crate::compare::stores::KINDS;

    #[test]
    fn no_two_clients_put_the_same_edges() {
        let mut seeds = Vec::new();
        for repetition in 1..=3 {
            for slice in 0..SLICES {
                for clients in CLIENTS {
                    seeds.extend((0..clients).map(|number| seed(repetition, slice, clients, number)));
                }
            }
        }
        let all = seeds.len();
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), all);
    }

    #[test]
    fn everything_is_measured_for_every_store() {
        let graph = Graph::kronecker(6, 1).unwrap();
        let (folder, kinds) = (tempfile::tempdir().unwrap(), KINDS.iter().collect::<Vec<_>>());
        let time = Duration::from_millis(20);
        let plan = Plan { graph: &graph, kinds: &kinds, folder: folder.path(), repetitions: 2, time };
        let report = Report::new(&plan, folder.path(), run(&plan).unwrap());
        let json: serde_json::Value = serde_json::from_str(&report.to_json().unwrap()).unwrap();
        let rows = json["results"].as_array().unwrap();
        let of = |workload: &str, store: &str| {
            rows.iter().filter(|row| row["workload"] == workload && row["store"] == store).count()
        };
        assert_eq!(of("synced-commits", "disk"), 4);
        for kind in KINDS {
            let counts = ["synced-commits", "buffered-insert", "bulk-ingest", "open", "scan", "search"]
                .map(|workload| of(workload, kind.name));
            assert_eq!(counts, [16, 1, 1, 2, 1, 1], "{}", kind.name);
        }
        assert!(rows.iter().all(|row| row["median"].as_f64().unwrap() > 0.0));
        let table = report.to_table();
        assert!(table.contains("kron-6: 64 vertices") && table.contains("1.000"), "{table}");
        let left: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["limit"], "all stores are removed");
    }
}
