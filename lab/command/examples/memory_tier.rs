//! Compares the MemGraph of `lsm` with the blocks of `rapid` as the structure that holds the newest
//! edges in memory until they are flushed. The counterpart to figure 15 of the paper on LSMGraph.
//!
//! One thread inserts the edges of a part of a Kronecker graph, one by one and each with its own
//! timestamp, then scans, looks up rows and flushes. Both engines are driven through the traits
//! that the commit pipeline uses, without its log, locks and keys, and write the same edge files; a
//! MemGraph is also measured alone. Times are processor times, reported by Linux.
//!
//! `cargo run --release --manifest-path lab/Cargo.toml --example memory_tier`

use hedgerow_formats::Kronecker;
use hedgerow_log::files::{FileSystem, RealFiles};
use hedgerow_lsm::levels::{
    FlushPart, FlushPoint, LevelOptions, LevelTree, Version, VersionBatch, VersionSource,
};
use hedgerow_lsm::{LsmEngine, LsmOptions, MemContent, MemGraph};
use hedgerow_model::token::{HeldLocks, LiveTimestamps, Registered, Stamp};
use hedgerow_model::{
    Adjacency, AdjacencyEffects, Allowance, Catalog, Changes, ColumnType, CommitTimestamp, Counts, Cursor,
    Direction, Durable, EdgeChange, EdgeSchema, EdgeValue, Effects, Engine, EngineError, EngineOptions,
    GraphView, LabelId, LabelSchema, ReadError, RecordSchema, StoredEdge, Topology, VertexId,
};
use hedgerow_rapid::{PARTITION_SIZE, Rapid};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use std::error::Error;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

/// Scale and number of edges of each workload, from a graph with 2^scale vertices.
const GRAPHS: [(u32, u64); 3] = [(20, 1 << 19), (20, 1 << 22), (24, 1 << 22)];

/// Edges per vertex of the whole graph.
const EDGE_FACTOR: u64 = 16;

/// Number of repetitions, of which the median is printed.
const REPETITIONS: usize = 5;

const LOOKUPS: usize = 1 << 16;

/// Number of commits between snapshots, in runs with snapshots.
const SNAPSHOT_INTERVALS: [u64; 2] = [1000, 100_000];

/// Approximate bytes of an entry in a MemGraph, so that its table of rows has the usual size.
const BYTES_PER_ENTRY: usize = 40;

/// Minimum time of a measurement; a shorter pass is repeated, because Linux counts in ticks of some
/// milliseconds.
const LEAST_TIME: Duration = Duration::from_millis(200);

/// The measured structures.
const STRUCTURES: [(&str, Measure); 3] = [
    ("MemGraph", measure_mem_graph),
    ("MemGraph in `lsm`", measure_engine::<LsmEngine>),
    ("blocks in `rapid`", measure_engine::<Rapid>),
];

type Measure = fn(&Workload) -> Result<Figures, Box<dyn Error>>;

const LABEL: LabelId = LabelId(0);
const TOPOLOGY: Topology = Topology::Undirected;

fn main() -> Result<(), Box<dyn Error>> {
    for (scale, count) in GRAPHS {
        let graph = Kronecker::new(scale, EDGE_FACTOR, 1)?;
        let workload = Workload::of(&graph, count);
        let mut runs = [const { Vec::new() }; STRUCTURES.len()];
        for repetition in 0..REPETITIONS {
            for turn in 0..STRUCTURES.len() {
                let structure = (repetition + turn) % STRUCTURES.len();
                let (_, measure) = STRUCTURES[structure];
                runs[structure].push(measure(&workload)?);
            }
        }
        print(scale, &workload, &runs);
    }
    Ok(())
}

/// The edges in the order of their insertion, and the vertices to look up.
struct Workload {
    vertex_bound: u32,
    edges: Vec<StoredEdge>,
    lookups: Vec<VertexId>,
}

impl Workload {
    /// Returns the first edges of a graph, without self loops.
    fn of(graph: &Kronecker, count: u64) -> Self {
        let ends =
            (0..count).map(|index| graph.edge(index)).filter(|(source, destination)| source != destination);
        let edge = |(source, destination): (u64, u64)| {
            let [source, destination] = [source, destination].map(|end| VertexId::new(end as u32));
            StoredEdge::new(TOPOLOGY, LABEL, source, destination, Some(EdgeValue::default()))
        };
        let edges: Vec<StoredEdge> = ends.map(edge).collect();
        let mut lookups: Vec<VertexId> = edges.iter().map(|edge| edge.ends().0).collect();
        lookups.sort_unstable();
        lookups.dedup();
        lookups.shuffle(&mut StdRng::seed_from_u64(2));
        lookups.truncate(LOOKUPS);
        Workload { vertex_bound: graph.vertices() as u32, edges, lookups }
    }
}

/// An engine whose structure in memory is measured.
trait MemoryTier: Engine {
    /// Creates an engine without edges, with room for this many entries.
    fn empty(files: &Arc<dyn FileSystem>, entries: usize) -> Result<Self, EngineError>
    where
        Self: Sized;

    /// Writes everything to level 0.
    fn flush(
        &self,
        files: &Arc<dyn FileSystem>,
        at: &Registered,
        live: &LiveTimestamps,
    ) -> Result<(), EngineError>;
}

impl MemoryTier for LsmEngine {
    fn empty(files: &Arc<dyn FileSystem>, entries: usize) -> Result<Self, EngineError> {
        // A MemGraph has half of the bytes.
        let mem_graph_bytes = 2 * BYTES_PER_ENTRY * entries;
        LsmEngine::open(
            Arc::clone(files),
            LsmOptions { mem_graph_bytes, ..LsmOptions::new(TOPOLOGY, catalog()) },
        )
    }

    fn flush(
        &self,
        _: &Arc<dyn FileSystem>,
        at: &Registered,
        live: &LiveTimestamps,
    ) -> Result<(), EngineError> {
        Durable::flush(self, at, live, &[])
    }
}

impl MemoryTier for Rapid {
    fn empty(_: &Arc<dyn FileSystem>, _: usize) -> Result<Self, EngineError> {
        Ok(Rapid::new(EngineOptions { topology: TOPOLOGY, catalog: catalog() }))
    }

    fn flush(
        &self,
        files: &Arc<dyn FileSystem>,
        at: &Registered,
        live: &LiveTimestamps,
    ) -> Result<(), EngineError> {
        let view = self.view(&(), at);
        let adjacency = view.adjacency::<()>(LABEL, Direction::Out).expect("the catalog has the label");
        let source = Scanned { cursor: adjacency.cursor(), next: 0, bound: view.vertex_bound(), at: at.at() };
        write(files, source, at.at(), live)
    }
}

/// The edges of a snapshot, all with its timestamp: blocks have no timestamps of edges.
struct Scanned<C> {
    cursor: C,
    /// The first owner that is not read yet.
    next: u32,
    bound: u32,
    at: CommitTimestamp,
}

impl<C: Cursor<Value = ()>> VersionSource for Scanned<C> {
    fn read(&mut self, batch: &mut VersionBatch) -> Result<(), ReadError> {
        let version = Version { at: self.at, value: Some(EdgeValue::default()) };
        while batch.len() < 4096 && self.next < self.bound {
            let end = self.next + PARTITION_SIZE as u32;
            let scanned = self.cursor.scan(self.next..end, |owner, neighbors, _| {
                neighbors.iter().for_each(|neighbor| batch.push(owner, *neighbor, version));
                ControlFlow::Continue(())
            });
            let _: ControlFlow<()> = scanned?;
            self.next = end;
        }
        Ok(())
    }
}

/// One label without values.
fn catalog() -> Catalog {
    let labels = vec![LabelSchema { name: "edge".to_owned(), edges: EdgeSchema::Topology }];
    Catalog::new(labels, RecordSchema::default()).expect("one label")
}

/// Commits on one thread, which makes the proofs that engines require.
struct Writer<E> {
    engine: E,
    counts: Counts,
    last: CommitTimestamp,
    /// The oldest timestamp that no snapshot can have.
    editable_from: CommitTimestamp,
}

impl<E: Engine> Writer<E> {
    fn new(engine: E, vertex_bound: u32) -> Self {
        let counts = Counts { vertex_bound, ..Counts::default() };
        Writer { engine, counts, last: CommitTimestamp::ZERO, editable_from: CommitTimestamp(1) }
    }

    /// Commits one edge, as effects if the engine has no shorter way for it.
    fn insert(&mut self, edge: &StoredEdge) -> Result<(), EngineError> {
        let at = self.last.next();
        // SAFETY: counted up on one thread, under the lock of everything; `editable_from` is above
        // every timestamp that is registered.
        let stamp = unsafe { Stamp::new(at, self.editable_from) };
        let mut locks = self.locks();
        let (effects, mut room, mut second_room);
        room = E::Room::default();
        let edges = Changes::Each(std::slice::from_ref(edge));
        let mut staged = self.engine.stage(&locks, edges, &mut room, Allowance::UNLIMITED, None)?;
        if staged.commits == 0 {
            (effects, second_room) = (effects_of(edge), E::Room::default());
            let effects = (&effects).into();
            staged = self.engine.stage(&locks, effects, &mut second_room, Allowance::UNLIMITED, None)?;
        }
        if staged.changing == 0 {
            return Ok(());
        }
        self.engine.apply(&mut locks, stamp.into(), staged.changes);
        self.last = at;
        Ok(())
    }

    /// Commits edges while one snapshot is open, which is often replaced by one of the newest
    /// state.
    fn insert_beside_snapshots(&mut self, edges: &[StoredEdge], interval: u64) -> Result<(), EngineError> {
        for (number, edge) in (0..).zip(edges) {
            if number % interval == 0 {
                self.register();
                let units = |_, work: &mut dyn FnMut(&HeldLocks<'_>)| {
                    work(&self.locks());
                    true
                };
                self.engine.maintain(&self.live(), &units, usize::MAX)?;
            }
            self.insert(edge)?;
        }
        Ok(())
    }

    fn locks(&self) -> HeldLocks<'static> {
        // SAFETY: there is one thread, and it reads nothing newest across a commit.
        unsafe { HeldLocks::all(Counts::default()) }.with_editable_now(self.editable_from)
    }

    /// Opens a snapshot of the newest state. Closes the previous one, if any.
    fn register(&mut self) -> Registered {
        self.editable_from = self.last.next();
        // SAFETY: every commit is applied; stamps and live timestamps are made from
        // `editable_from`.
        unsafe { Registered::new(self.last, self.counts.clone()) }
    }

    fn live(&self) -> LiveTimestamps {
        // SAFETY: there is one snapshot at most, of the commit before `editable_from`.
        unsafe { LiveTimestamps::as_of(vec![CommitTimestamp(self.editable_from.0 - 1)], self.last) }
    }
}

/// An edge for the slow path.
fn effects_of(edge: &StoredEdge) -> Effects {
    let mut changes: Vec<_> = edge.entries().iter().map(|(_, change)| *change).collect();
    changes.sort_unstable_by_key(EdgeChange::position);
    let adjacency =
        AdjacencyEffects { label: LABEL, direction: Direction::Out, changes: changes.into_iter().collect() };
    Effects { adjacencies: [adjacency].into_iter().collect(), ..Effects::default() }
}

/// Measurements of one run.
struct Figures {
    insert: Duration,
    insert_beside_snapshots: [Duration; SNAPSHOT_INTERVALS.len()],
    scan: Duration,
    rows: Duration,
    flush: Duration,
    bytes: usize,
    /// Distinct neighbors of all vertices.
    neighbors: usize,
}

fn measure_engine<T: MemoryTier>(workload: &Workload) -> Result<Figures, Box<dyn Error>> {
    let Workload { vertex_bound, edges, lookups } = workload;
    in_temporary_files(|files| {
        let mut insert_beside_snapshots = [Duration::ZERO; SNAPSHOT_INTERVALS.len()];
        for (interval, time) in SNAPSHOT_INTERVALS.into_iter().zip(&mut insert_beside_snapshots) {
            let mut writer = Writer::new(T::empty(&files, 2 * edges.len())?, *vertex_bound);
            let inserted;
            (inserted, *time) = timed(|| writer.insert_beside_snapshots(edges, interval));
            inserted?;
        }

        let mut writer = Writer::new(T::empty(&files, 2 * edges.len())?, *vertex_bound);
        let (inserted, insert) = timed(|| edges.iter().try_for_each(|edge| writer.insert(edge)));
        inserted?;
        let bytes = writer.engine.memory().total_bytes();
        let at = writer.register();
        let snapshot = writer.engine.open_snapshot(&at)?;
        let view = writer.engine.view(&snapshot, &at);
        let (neighbors, scan) = timed_passes(|| count_all(&view));
        let (_, rows) = timed_passes(|| count_of(&view, lookups));
        let live = writer.live();
        let (flushed, flush) = timed(|| writer.engine.flush(&files, &at, &live));
        flushed?;
        Ok(Figures { insert, insert_beside_snapshots, scan, rows, flush, bytes, neighbors: neighbors? })
    })
}

/// Measures a MemGraph without an engine, which merges its rows with those of the levels.
fn measure_mem_graph(workload: &Workload) -> Result<Figures, Box<dyn Error>> {
    let insert_beside_snapshots = SNAPSHOT_INTERVALS.map(|interval| timed(|| filled(workload, interval)).1);
    let (mem_graph, insert) = timed(|| filled(workload, u64::MAX));
    let newest = CommitTimestamp(workload.edges.len() as u64);
    let mut row = Vec::new();
    let mut count = |owner| {
        row.clear();
        mem_graph.read_row(0, owner, newest, &mut row);
        read(row.iter().map(|(neighbor, _)| *neighbor))
    };
    let (neighbors, scan) = timed_passes(|| mem_graph.owners(0, 0..u32::MAX).map(&mut count).sum());
    let (_, rows) = timed_passes(|| workload.lookups.iter().copied().map(&mut count).sum::<usize>());
    // SAFETY: no engine is involved; the value only says which versions are kept.
    let live = unsafe { LiveTimestamps::as_of(Vec::new(), newest) };
    in_temporary_files(|files| {
        let source = mem_graph.versions(0, CommitTimestamp::ZERO, newest);
        let (flushed, flush) = timed(|| write(&files, source, newest, &live));
        flushed?;
        let bytes = mem_graph.bytes();
        Ok(Figures { insert, insert_beside_snapshots, scan, rows, flush, bytes, neighbors })
    })
}

/// Returns a MemGraph with all edges, where a snapshot is opened after each `snapshot_interval`
/// commits.
fn filled(workload: &Workload, snapshot_interval: u64) -> MemGraph {
    let entries = 2 * workload.edges.len();
    let mem_graph =
        MemGraph::new(&[ColumnType::Unit], CommitTimestamp(0), 8192, entries * BYTES_PER_ENTRY / 64);
    let mut editable_from = CommitTimestamp(1);
    for (at, edge) in (1..).map(CommitTimestamp).zip(&workload.edges) {
        if at.0 % snapshot_interval == 0 {
            editable_from = at;
        }
        for (_, change) in edge.entries() {
            let content = change.value.map(MemContent::Value);
            mem_graph.push(0, change.owner(), change.neighbor(), at, editable_from, content);
        }
    }
    mem_graph
}

/// Writes versions to level 0.
fn write(
    files: &Arc<dyn FileSystem>,
    source: impl VersionSource,
    at: CommitTimestamp,
    live: &LiveTimestamps,
) -> Result<(), EngineError> {
    let tree = LevelTree::open(Arc::clone(files), LevelOptions::new(vec![ColumnType::Unit]))?;
    let reached = FlushPoint { durable_through: at, ..FlushPoint::default() };
    tree.flush(vec![FlushPart { adjacency: 0, sources: vec![source] }], live, reached)
}

fn in_temporary_files<R>(
    work: impl FnOnce(Arc<dyn FileSystem>) -> Result<R, Box<dyn Error>>,
) -> Result<R, Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("hedgerow-memory-tier-{}", std::process::id()));
    let files = RealFiles::new(&folder);
    files.create_directory()?;
    let result = work(Arc::new(files));
    std::fs::remove_dir_all(folder)?;
    result
}

/// Reads neighbors. Returns their number.
fn read(neighbors: impl Iterator<Item = VertexId>) -> usize {
    let (count, sum) =
        neighbors.fold((0, 0_u32), |(count, sum), neighbor| (count + 1, sum.wrapping_add(neighbor.get())));
    std::hint::black_box(sum);
    count
}

/// Scans everything in order. Returns the number of neighbors.
fn count_all(view: &impl GraphView) -> Result<usize, Box<dyn Error>> {
    let adjacency = view.adjacency::<()>(LABEL, Direction::Out)?;
    let mut count = 0;
    let scanned = adjacency.cursor().scan(0..view.vertex_bound(), |_, neighbors, _| {
        count += read(neighbors.iter().copied());
        ControlFlow::Continue(())
    });
    let _: ControlFlow<()> = scanned?;
    Ok(count)
}

/// Looks up rows. Returns the number of neighbors.
fn count_of(view: &impl GraphView, vertices: &[VertexId]) -> Result<usize, Box<dyn Error>> {
    let adjacency = view.adjacency::<()>(LABEL, Direction::Out)?;
    let mut cursor = adjacency.cursor();
    let mut count = 0;
    for vertex in vertices {
        let (neighbors, _) = cursor.gather(*vertex)?;
        count += read(neighbors.iter().copied());
    }
    Ok(count)
}

fn timed<R>(work: impl FnOnce() -> R) -> (R, Duration) {
    let begin = processor_time();
    let result = work();
    (result, processor_time() - begin)
}

/// Runs enough passes to measure the time of one. Returns the result of the last pass, and the time
/// per pass.
fn timed_passes<R>(mut pass: impl FnMut() -> R) -> (R, Duration) {
    let begin = processor_time();
    for passes in 1.. {
        let result = pass();
        let time = processor_time() - begin;
        if time >= LEAST_TIME {
            return (result, time / passes);
        }
    }
    unreachable!("time goes by")
}

/// Returns the processor time of this thread.
fn processor_time() -> Duration {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    let nanoseconds = times.split(' ').next().and_then(|time| time.parse().ok());
    Duration::from_nanos(nanoseconds.expect("a time"))
}

/// Prints the medians.
fn print(scale: u32, workload: &Workload, runs: &[Vec<Figures>]) {
    let (edges, neighbors) = (workload.edges.len() as f64, runs[0][0].neighbors);
    assert!(runs.iter().flatten().all(|run| run.neighbors == neighbors), "all have the same edges");
    let neighbors = neighbors as f64;
    println!("{edges} edges of a graph with 2^{scale} vertices: {neighbors} neighbors");
    println!();
    let names = STRUCTURES.map(|(name, _)| name);
    println!("| | {} |", names.join(" | "));
    println!("|{}", "---|".repeat(1 + names.len()));
    let row = |name: &str, figure: &dyn Fn(&Figures) -> f64| {
        let medians = runs.iter().map(|runs| format!("{:.2}", median(runs.iter().map(figure))));
        println!("| {name} | {} |", medians.collect::<Vec<_>>().join(" | "));
    };
    let millions = |count: f64, time: Duration| count / time.as_secs_f64() / 1e6;
    row("insert, M edges/s", &|run| millions(edges, run.insert));
    for (number, interval) in SNAPSHOT_INTERVALS.into_iter().enumerate() {
        let name = format!("insert, a snapshot each {interval} commits");
        row(&name, &|run| millions(edges, run.insert_beside_snapshots[number]));
    }
    row("scan, M neighbors/s", &|run| millions(neighbors, run.scan));
    row("random rows, M rows/s", &|run| millions(workload.lookups.len() as f64, run.rows));
    row("flush, M neighbors/s", &|run| millions(neighbors, run.flush));
    row("bytes per neighbor", &|run| run.bytes as f64 / neighbors);
    println!();
}

fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_unstable_by(f64::total_cmp);
    figures[figures.len() / 2]
}
