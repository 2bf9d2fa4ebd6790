//! A whole graph loaded: from files into the static graph, as one bulk into engines, and into a
//! new store, which is then opened.

use super::batch_insert::{ingest_numbers, number_edges};
use super::durable_ingest::bulk_rate;
use crate::bench::{Bench, Turn, pool};
use crate::expected::seconds;
use crate::stores::TemporaryStore;
use crate::watch::check;
use crate::{Failure, Workload, load};
use hedgerow::kernels::BuildOptions;
use hedgerow::store::{self, FirstState};
use hedgerow::{CheckpointOptions, Durability, EngineKind, KeyKind, LabelId, Topology, VertexId};
use hedgerow_formats::{
    Batch, Edge, GraphReader, GraphWriter, ReadOptions, StaticGraph, StaticGraphBuilder, WriteOptions,
    read_ahead,
};
use rayon::ThreadPool;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub(super) static WORKLOAD: Workload = Workload {
    name: "load",
    description: "a graph loaded from files, as one bulk, and into a new store",
    contract_metric: "throughput",
    is_default: false,
    is_on_store: true,
    scales: true,
    seconds: |_, entries| 3.0 * seconds(entries, 10.0) + 2.0 * seconds(entries, 5.0),
    measure,
};

/// Edges that are written to a file at a time.
const BATCH: usize = 1 << 16;

/// The graph in files, each undirected edge once.
struct Files {
    folder: TemporaryStore,
}

fn measure(bench: &mut Bench<'_>) -> Result<(), Failure> {
    let files = Files { folder: bench.new_store()? };
    for path in [files.text(), files.serialized()] {
        files.write(bench, &path)?;
    }
    let numbers = number_edges(bench);
    for turn in bench.turns() {
        bench.begin(turn, "")?;
        match turn.engine.kind {
            None => into_static_graph(bench, turn, &files)?,
            Some(kind) => {
                into_store(bench, turn, kind, &files)?;
                as_bulk(bench, turn, kind, &numbers)?;
            }
        }
    }
    Ok(())
}

impl Files {
    fn text(&self) -> PathBuf {
        self.folder.path().join("graph.el")
    }

    fn serialized(&self) -> PathBuf {
        self.folder.path().join("graph.sg")
    }

    fn write(&self, bench: &Bench<'_>, path: &Path) -> Result<(), Failure> {
        let options = WriteOptions { undirected: true, ..WriteOptions::default() };
        let mut writer = GraphWriter::<u64>::create(path, &options)?;
        for entries in bench.data.stream().chunks(BATCH) {
            check(&bench.watch.cancel)?;
            let edges = entries.iter().filter(|(source, destination)| source < destination);
            let key = |id: &VertexId| u64::from(id.get());
            let edges = edges.map(|(source, destination)| Edge::new(key(source), key(destination)));
            writer.write(&Batch { edges: edges.collect(), vertices: Vec::new() })?;
        }
        writer.finish()?;
        Ok(())
    }
}

/// The rates of loading text and a serialized graph.
fn into_static_graph(bench: &mut Bench<'_>, turn: Turn, files: &Files) -> Result<(), Failure> {
    let pool = pool(turn.threads)?;
    let started = Instant::now();
    let graph = of_text(&files.text(), Topology::Undirected, false, pool.as_ref())?;
    record_rate(bench, turn, "throughput", started.elapsed());
    check_entries(bench, graph.csr().neighbors().len())?;
    drop(graph);

    let started = Instant::now();
    let options = BuildOptions { pool: pool.as_ref(), ..BuildOptions::default() };
    let path = files.serialized();
    let graph = StaticGraph::of_serialized(&path, (false, false), Topology::Undirected, options)?;
    record_rate(bench, turn, "throughput-serialized", started.elapsed());
    check_entries(bench, graph.map_or(0, |graph| graph.csr().neighbors().len()))?;
    bench.record_build_rate(turn, "throughput-bulk")?;
    bench.record_build_rate(turn, "throughput-bulk-numbers")
}

/// The graph of an edge list between number keys; with `is_once`, each edge from its lesser end.
fn of_text(
    path: &Path,
    topology: Topology,
    is_once: bool,
    pool: Option<&ThreadPool>,
) -> Result<StaticGraph, Failure> {
    let mut reader = GraphReader::<u64>::open_with(path, ReadOptions::default())?;
    let builder = StaticGraphBuilder::new(topology, KeyKind::Number).on(pool);
    let mut builder = if is_once { builder.from_lesser_ends() } else { builder };
    let (end, added) = read_ahead(
        pool,
        |pieces| reader.read_pieces_on(pool, pieces),
        |pieces: &mut Vec<_>| pieces.iter().try_for_each(|piece| builder.add(piece)),
    );
    added?;
    end?;
    Ok(builder.finish(BuildOptions { pool, ..BuildOptions::default() })?)
}

/// The rate of making a store of the text, and that of opening it.
fn into_store(bench: &mut Bench<'_>, turn: Turn, kind: EngineKind, files: &Files) -> Result<(), Failure> {
    let (pool, folder) = (pool(turn.threads)?, bench.new_store()?);
    let store = folder.path().join("store");
    let options = load::options(kind, turn.threads).keys(KeyKind::Number).topology(Topology::Undirected);
    let options = options.durability(Durability::Buffered);

    let started = Instant::now();
    let graph = of_text(&files.text(), Topology::Directed, true, pool.as_ref())?;
    let key = |vertex| graph.key(vertex).expect("only vertices of the graph are written");
    let (records, properties, input) = (None, None, None);
    let state =
        FirstState { graph: graph.csr(), label: LabelId::DEFAULT, key: &key, records, properties, input };
    let checkpoint = CheckpointOptions::new().cancelled_by(&bench.watch.cancel);
    store::create_from(&store, &options, &state, &checkpoint)?;
    record_rate(bench, turn, "throughput", started.elapsed());
    drop(graph);

    let started = Instant::now();
    let graph = options.open(&store)?;
    record_rate(bench, turn, "throughput-open", started.elapsed());
    load::check_edge_count(&graph, bench.data.stream().len() / 2)?;
    graph.close()?;
    Ok(())
}

/// The rates of ingesting the graph in memory in one commit, by dense ids and by number keys.
fn as_bulk(
    bench: &mut Bench<'_>,
    turn: Turn,
    kind: EngineKind,
    numbers: &[(u64, u64)],
) -> Result<(), Failure> {
    let dense = bulk_rate(bench, &load::empty_graph(kind, turn.threads, bench.data.vertices())?)?;
    bench.record(turn, "throughput-bulk", "edges/s", dense);
    let rate = ingest_numbers(bench, turn, kind, numbers, numbers.len())?;
    bench.record(turn, "throughput-bulk-numbers", "edges/s", rate);
    Ok(())
}

fn record_rate(bench: &mut Bench<'_>, turn: Turn, metric: &str, elapsed: Duration) {
    let rate = bench.data.stream().len() as f64 / elapsed.as_secs_f64();
    bench.record(turn, metric, "edges/s", rate);
}

/// Fails if a graph does not have each adjacency entry of the data set.
fn check_entries(bench: &Bench<'_>, found: usize) -> Result<(), Failure> {
    let expected = bench.data.stream().len();
    match found == expected {
        true => Ok(()),
        false => Err(Failure::WrongResult {
            what: "the number of adjacency entries".to_owned(),
            found: found.to_string(),
            expected: expected.to_string(),
        }),
    }
}
