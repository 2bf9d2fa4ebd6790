//! How many synced commits of one edge the log takes per second, beside the disk's own limit.
//!
//! `cargo run --release -p hedgerow-log --example commit_rate -- DIRECTORY [SECONDS]`: the directory must not exist, and is
//! left behind.

#![allow(clippy::unwrap_used, reason = "a measurement ends where something fails")]

use hedgerow_log::files::{Access, FileSystem, RealFiles};
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
    println!("{:>28} {:>10} {:>10} {:>10}", "", "per second", "p50 µs", "p99 µs");
    for round in 1..=3 {
        report(&format!("round {round}: fdatasync"), &mut disk(&files, time), time);
        for threads in [1, 2, 16, 64] {
            report(&format!("{threads} threads"), &mut commits(&log, threads, time), time);
        }
    }
    unsynced(&files);
}

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

/// One thread writes 48 bytes after the other into a file of zeros, and syncs each.
fn disk(files: &Arc<dyn FileSystem>, time: Duration) -> Vec<Duration> {
    let file = files.open("limit", Access::Create).unwrap();
    file.write_all_at(&vec![0; 64 << 20], 0).unwrap();
    file.sync().unwrap();
    let (begin, mut latencies) = (Instant::now(), Vec::new());
    while begin.elapsed() < time {
        let start = Instant::now();
        file.write_all_at(&[7; 48], latencies.len() as u64 * 48).unwrap();
        file.sync().unwrap();
        latencies.push(start.elapsed());
    }
    latencies
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
            log.settle(appended, Durability::Sync).unwrap();
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
