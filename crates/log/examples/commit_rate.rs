//! How many synced commits of one edge the log takes per second, beside the disk's own limit.
//!
//! `cargo run --release -p hedgerow-log --example commit_rate -- DIRECTORY [SECONDS]`: the directory must not exist, and is
//! left behind.

#![allow(clippy::unwrap_used, reason = "a measurement ends where something fails")]

use hedgerow_log::files::{Access, File, FileSystem, RealFiles};
use hedgerow_log::{Body, Durability, Log, LogOptions, Recovered, Store, StoreOptions};
use hedgerow_model::{Catalogue, EdgeValue, KeyKind, LabelId, StoredEdge, Timestamp, Topology, VertexId};
use hedgerow_sync::{Arc, Mutex};
use std::time::{Duration, Instant};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().expect("a directory");
    let seconds = arguments.next().map_or(2.0, |seconds| seconds.parse().unwrap());
    let time = Duration::from_secs_f64(seconds);
    let files: Arc<dyn FileSystem> = Arc::new(RealFiles::new(&directory));
    let log = new_log(&files);
    let mut limit = Limit::new(&*files);
    // In slices that take turns, so that what changes with time changes for all.
    let slice = time / SLICES;
    let clients = [1, 2, 16, 64];
    let (mut disk, mut committed) = (Vec::new(), clients.map(|_| Vec::new()));
    for _ in 0..SLICES {
        disk.extend(limit.sync(slice));
        for (clients, latencies) in clients.iter().zip(&mut committed) {
            latencies.extend(commits(&log, *clients, slice));
        }
    }
    println!("{:>28} {:>10} {:>10} {:>10}", "", "per second", "p50 µs", "p99 µs");
    report("fdatasync", &mut disk, time);
    for (clients, latencies) in clients.iter().zip(&mut committed) {
        report(&format!("{clients} threads"), latencies, time);
    }
    unsynced(&files);
}

/// How often all that is measured takes turns.
const SLICES: u32 = 10;

fn report(what: &str, latencies: &mut [Duration], time: Duration) {
    latencies.sort_unstable();
    let quantile = |share: f64| latencies[(latencies.len() as f64 * share) as usize].as_micros();
    let rate = latencies.len() as f64 / time.as_secs_f64();
    println!("{what:>28} {rate:>10.0} {:>10} {:>10}", quantile(0.5), quantile(0.99));
}

fn new_log(files: &Arc<dyn FileSystem>) -> Log {
    let options = StoreOptions {
        engine: "none".to_owned(),
        keys: KeyKind::Dense,
        topology: Topology::Undirected,
        strict: false,
        catalogue: Catalogue::default(),
    };
    let store = Store::create(Arc::clone(files), options, [1; 16]).unwrap();
    let log = Log::start(store, &Recovered::default(), LogOptions::default()).unwrap();
    log.maintain().unwrap();
    log
}

/// The disk's own limit: one thread writes 48 bytes after the other into a file of zeros, and syncs each.
struct Limit {
    file: Box<dyn File>,
    position: u64,
}

impl Limit {
    fn new(files: &dyn FileSystem) -> Self {
        let file = files.open("limit", Access::Create).unwrap();
        file.write_all_at(&vec![0; 64 << 20], 0).unwrap();
        file.sync().unwrap();
        Limit { file, position: 0 }
    }

    fn sync(&mut self, time: Duration) -> Vec<Duration> {
        let (begin, mut latencies) = (Instant::now(), Vec::new());
        while begin.elapsed() < time {
            let start = Instant::now();
            self.file.write_all_at(&[7; 48], self.position).unwrap();
            self.file.sync().unwrap();
            self.position += 48;
            latencies.push(start.elapsed());
        }
        latencies
    }
}

fn body(at: Timestamp, body: &mut Body) {
    let source = VertexId::new((at.0 * 7_919 % 1_000_003) as u32);
    let edge =
        StoredEdge::new(Topology::Undirected, LabelId(0), source, VertexId::new(77), Some(EdgeValue(0)));
    body.encode_edge(&edge, Topology::Undirected);
}

fn commits(log: &Log, threads: usize, time: Duration) -> Vec<Duration> {
    let (sequencer, begin) = (Mutex::new(log.last()), Instant::now());
    let client = || {
        let (mut latencies, mut buffer) = (Vec::new(), Body::default());
        while begin.elapsed() < time {
            let start = Instant::now();
            body(Timestamp(latencies.len() as u64), &mut buffer);
            let appended = {
                let mut last = sequencer.lock();
                *last = last.next();
                log.append(*last, 0, &mut buffer).unwrap()
            };
            log.settle(appended.at(), Durability::Sync).unwrap();
            latencies.push(start.elapsed());
        }
        latencies
    };
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..threads).map(|_| scope.spawn(client)).collect();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    })
}

/// What an append costs that nobody waits for.
fn unsynced(files: &Arc<dyn FileSystem>) {
    let directory = files.location().join("unsynced");
    let files: Arc<dyn FileSystem> = Arc::new(RealFiles::new(directory));
    let log = new_log(&files);
    let count = 1_000_000;
    let begin = Instant::now();
    let mut buffer = Body::default();
    for at in (1..=count).map(Timestamp) {
        body(at, &mut buffer);
        let _ = log.append(at, 0, &mut buffer).unwrap();
    }
    let elapsed = begin.elapsed();
    println!(
        "{:>28} {:>10.1} ns each, encoded and appended in memory",
        "1 thread",
        elapsed.as_nanos() as f64 / count as f64
    );
}
