//! Commits of one edge into a store by several concurrent clients, each durable before it returns;
//! and the sync rate of the disk alone.

use crate::bench::{Bench, Turn};
use crate::data_set::Entry;
use crate::disk::{APPENDED, Disk, Waits};
use crate::engines::Engine;
use crate::watch::check;
use crate::{Failure, Workload, load};
use hedgerow::kernels::CancelToken;
use hedgerow::{Durability, EngineKind, Graph, LabelId, WriteGraph};
use std::thread;
use std::time::{Duration, Instant};

pub(super) static WORKLOAD: Workload = Workload {
    name: "synced-commits",
    description: "commits of one edge into a store, each synced, by several clients at a time",
    contract_metric: "throughput",
    is_default: false,
    is_on_store: true,
    scales: true,
    seconds: |settings, _| 5.0 * settings.sync_time().as_secs_f64(),
    measure,
};

/// Numbers of concurrent clients, each of which waits for its commit.
const CLIENTS: [usize; 4] = [1, 2, 16, 64];

/// The maximum number of clients.
const LANES: usize = 64;

/// Turns of disk and clients within a repetition, so that changes over time affect both.
const SLICES: u32 = 10;

const LIMIT: &str = "how often the disk can be synced";
const PLAIN: &str = "the p50 of a sync of the disk";

fn measure(bench: &mut Bench<'_>) -> Result<(), Failure> {
    for (turn, kind) in bench.turns_of_written(1) {
        bench.begin(turn, "")?;
        let (disk, clients) = in_turns(bench, kind)?;
        let turn_of_disk = Turn { engine: Engine::DISK, ..turn };
        bench.record(turn_of_disk, "throughput", "syncs/s", disk.rate());
        bench.record_latencies(turn_of_disk, &disk.latencies);
        for (threads, waits) in CLIENTS.into_iter().zip(clients) {
            let turn = Turn { threads, ..turn };
            bench.record_against(turn, "throughput", "commits/s", waits.rate(), (LIMIT, disk.rate()));
            for (metric, value) in waits.latencies.percentiles() {
                bench.record_against(turn, metric, "ns", value, (PLAIN, disk.latencies.median()));
            }
        }
    }
    Ok(())
}

/// Results of the disk, and of each number of clients.
fn in_turns(bench: &Bench<'_>, kind: EngineKind) -> Result<(Waits, [Waits; CLIENTS.len()]), Failure> {
    let (store, beside, cancel) = (bench.new_store()?, bench.new_store()?, &bench.watch.cancel);
    let options = load::options(kind, 1).durability(Durability::Sync);
    let graph = load::stored_graph(&store, &options, bench.data.vertices())?;
    let mut disk = Disk::new(&beside, APPENDED)?;
    let mut lanes = lanes(bench.data.stream());
    let (mut synced, mut committed) = (Waits::none(), CLIENTS.map(|_| Waits::none()));
    let slice = bench.settings.sync_time() / SLICES;
    for _ in 0..SLICES {
        disk.sync_for(slice, &mut synced, cancel)?;
        for (clients, waits) in CLIENTS.into_iter().zip(&mut committed) {
            commit_for(slice, &graph, &mut lanes, clients, waits, cancel)?;
        }
    }
    load::check_edge_count(&graph, lanes.iter().map(Lane::edges).sum())?;
    Ok((synced, committed))
}

/// Edges for one client at a time, which puts them one by one and, once all exist, deletes them one
/// by one, repeatedly.
struct Lane<'d> {
    entries: &'d [Entry],
    position: usize,
    deletes: bool,
}

/// Splits the stream into [`LANES`] parts.
fn lanes(stream: &[Entry]) -> Vec<Lane<'_>> {
    let cut = |lane| lane * stream.len() / LANES;
    let entries = |lane| &stream[cut(lane)..cut(lane + 1)];
    (0..LANES).map(|lane| Lane { entries: entries(lane), position: 0, deletes: false }).collect()
}

impl Lane<'_> {
    fn commit(&mut self, graph: &Graph) -> Result<(), Failure> {
        let (source, destination) = self.entries[self.position];
        if self.deletes {
            graph.delete_edge(LabelId::DEFAULT, source, destination)?;
        } else {
            graph.put_edge(LabelId::DEFAULT, source, destination)?;
        }
        self.position += 1;
        if self.position == self.entries.len() {
            (self.position, self.deletes) = (0, !self.deletes);
        }
        Ok(())
    }

    /// The number of edges of the lane that must exist.
    fn edges(&self) -> usize {
        if self.deletes { self.entries.len() - self.position } else { self.position }
    }
}

/// Runs concurrent committing clients for the given time.
fn commit_for(
    time: Duration,
    graph: &Graph,
    lanes: &mut [Lane<'_>],
    clients: usize,
    waits: &mut Waits,
    cancel: &CancelToken,
) -> Result<(), Failure> {
    let begin = Instant::now();
    let latencies = thread::scope(|scope| {
        let start = |lanes| {
            let client = move || client(begin + time, graph, lanes, cancel);
            thread::Builder::new().spawn_scoped(scope, client)
        };
        let started: Vec<_> = lanes.chunks_mut(LANES / clients).map(start).collect::<Result<_, _>>()?;
        let join = |client: thread::ScopedJoinHandle<'_, _>| {
            client.join().unwrap_or_else(|panicked| std::panic::resume_unwind(panicked))
        };
        started.into_iter().map(join).collect::<Result<Vec<Vec<Duration>>, Failure>>()
    })?;
    waits.elapsed += begin.elapsed();
    latencies.into_iter().flatten().for_each(|latency| waits.latencies.record(latency));
    Ok(())
}

/// Commits from one lane after the other, at least once; returns the time of each commit.
fn client(
    until: Instant,
    graph: &Graph,
    lanes: &mut [Lane<'_>],
    cancel: &CancelToken,
) -> Result<Vec<Duration>, Failure> {
    let mut latencies = Vec::new();
    let mut lanes: Vec<_> = lanes.iter_mut().filter(|lane| !lane.entries.is_empty()).collect();
    while !lanes.is_empty() {
        for lane in &mut lanes {
            check(cancel)?;
            let started = Instant::now();
            lane.commit(graph)?;
            let finished = Instant::now();
            latencies.push(finished - started);
            if finished >= until {
                return Ok(latencies);
            }
        }
    }
    Ok(latencies)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow::VertexId;

    #[test]
    fn lanes_put_all_their_edges_then_delete_them() {
        let stream: Vec<Entry> = (0..70).map(|id| (VertexId::new(id), VertexId::new(id + 1))).collect();
        let mut lanes = lanes(&stream);
        assert_eq!(lanes.len(), LANES);
        assert_eq!(lanes.iter().map(|lane| lane.entries.len()).sum::<usize>(), stream.len());
        let graph = load::empty_graph(EngineKind::Rapid, 1, 71).unwrap();
        let lane = lanes.iter_mut().find(|lane| lane.entries.len() == 2).unwrap();
        for edges in [1, 2, 1, 0, 1] {
            lane.commit(&graph).unwrap();
            assert_eq!(lane.edges(), edges);
            load::check_edge_count(&graph, edges).unwrap();
        }
    }

    #[test]
    fn fewer_edges_than_clients_leave_some_idle() {
        let stream = [(VertexId::new(0), VertexId::new(1))];
        let mut lanes = lanes(&stream);
        let graph = load::empty_graph(EngineKind::Rapid, 1, 2).unwrap();
        let mut waits = Waits::none();
        let (time, cancel) = (Duration::from_millis(2), CancelToken::new());
        commit_for(time, &graph, &mut lanes, 64, &mut waits, &cancel).unwrap();
        assert!(waits.latencies.count() > 0);
        load::check_edge_count(&graph, lanes.iter().map(Lane::edges).sum()).unwrap();
    }
}
