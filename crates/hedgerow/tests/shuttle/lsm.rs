//! Graphs in the files of `lsm`: commits and readers concurrent with flushes and compactions, which
//! lose nothing that was acknowledged.

use crate::{EDGE, catch_up, check_on, graph, has, options, swap};
use hedgerow::{CheckpointOptions, EngineKind, Graph, KeyKind, ReadGraph, Topology, WriteGraph};
use hedgerow_erased::{ErasedEngine, Make, NamedEngine};
use hedgerow_log::files::FileSystem;
use hedgerow_lsm::{LsmEngine, LsmOptions};
use hedgerow_model::{EngineError, EngineOptions};
use hedgerow_sync::Arc;
use hedgerow_testing::simulated::{SimulatedFiles, Survival};
use shuttle::thread;

/// Engine `lsm`: each compaction after a flush merges files, and files are read every time.
pub const LSM: EngineKind = EngineKind::Erased(&IN_FILES);

static IN_FILES: NamedEngine =
    NamedEngine { name: "lsm", make: Make::InFiles(|files, options| open(files, options, 20_000)) };

/// Like [`LSM`], with so little memory for changes that every few commits wait for a flush.
static CROWDED: NamedEngine =
    NamedEngine { name: "lsm", make: Make::InFiles(|files, options| open(files, options, 600)) };

fn open(
    files: Arc<dyn FileSystem>,
    EngineOptions { topology, catalog }: EngineOptions,
    mem_graph_bytes: usize,
) -> Result<ErasedEngine, EngineError> {
    let options = LsmOptions {
        mem_graph_bytes,
        level_0_files: 1,
        level_1_bytes: 300,
        fan_out: 2,
        segment_bytes: 150,
        cache_bytes: 0,
        ..LsmOptions::new(topology, catalog)
    };
    let engine = Arc::new(LsmEngine::open(files, options)?);
    Ok(ErasedEngine::shared(&engine).with_durable(&engine))
}

/// A snapshot shows a commit whole or not at all, and the same at each read, while its edges move
/// from memory to level 0 and further.
#[test]
fn snapshots_stay_beside_flushes_and_compactions() {
    let model = || {
        let graph = graph(Topology::Directed, KeyKind::Dense);
        graph.ingest(EDGE, &[(0u64, 1u64), (66, 1)]).unwrap();
        catch_up(&graph);
        let writers = [(1, 2), (1, 3)].map(|(from, to)| {
            let graph = graph.clone();
            thread::spawn(move || swap(&graph, from, to))
        });
        let keeper = {
            let graph = graph.clone();
            thread::spawn(move || (0..2).for_each(|_| catch_up(&graph)))
        };
        for _ in 0..2 {
            let snapshot = graph.snapshot().unwrap();
            let read = || [1, 2, 3].map(|to| (has(&snapshot, 0, to), has(&snapshot, 66, to)));
            let first = read();
            assert!(first.iter().all(|(one, other)| one == other), "half a commit: {first:?}");
            assert!(first.iter().any(|(one, _)| *one), "neither before nor after: {first:?}");
            thread::yield_now();
            assert_eq!(read(), first, "the snapshot changed");
        }
        let committed = writers.map(|writer| writer.join().unwrap());
        keeper.join().unwrap();
        let last = graph.snapshot().unwrap();
        catch_up(&graph);
        for snapshot in [last, graph.snapshot().unwrap()] {
            let shown = [1, 2, 3].map(|to| [0, 66].map(|from| has(&snapshot, from, to)));
            assert_eq!(shown, [[false; 2], [committed[0]; 2], [committed[1]; 2]]);
        }
    };
    check_on(&[LSM], model);
}

/// Whenever the power is lost, the files and the log together have every acknowledged commit: a
/// flush prunes only what its files have.
#[test]
fn what_is_acknowledged_survives_beside_a_flush() {
    let model = || {
        let files = SimulatedFiles::new(1);
        let options = options(Topology::Directed, KeyKind::Number).segment_bytes(100).simulated();
        let graph = options.create_on(Arc::new(files.clone())).unwrap();
        // Two segments of the log, of which the flush makes the first one obsolete.
        let before = [1, 2].map(|from| [10, 11, 12, 13, 14, 15, 16, 17].map(|to| (from, to)));
        before.iter().for_each(|edges| assert!(graph.ingest(EDGE, edges).is_ok()));
        let keeper = {
            let graph = graph.clone();
            thread::spawn(move || {
                let report = graph.checkpoint(&CheckpointOptions::new()).unwrap();
                assert!(report.pruned > 0, "{report:?}");
            })
        };
        let writer = {
            let (graph, files) = (graph.clone(), files.clone());
            thread::spawn(move || {
                graph.put_edge(EDGE, 0u64, 2u64).unwrap();
                graph.put_edge(EDGE, 0u64, 3u64).unwrap();
                files.after_crash(Survival::Nothing, 1)
            })
        };
        graph.put_each(EDGE, &[(66u64, 2u64), (66, 3)]).unwrap();
        let streamed = files.after_crash(Survival::Nothing, 2);
        let put = writer.join().unwrap();
        keeper.join().unwrap();
        let last = graph.snapshot().unwrap();
        assert!([0, 66].iter().all(|from| has(&last, *from, 2) && has(&last, *from, 3)));
        for (files, edges) in [(put, [(0, 2), (0, 3)]), (streamed, [(66, 2), (66, 3)])] {
            let found = options.clone().open_on(Arc::new(files)).unwrap().snapshot().unwrap();
            let mut all = before.as_flattened().iter().chain(&edges);
            assert!(all.all(|(from, to)| has(&found, *from, *to)), "{edges:?} at {}", found.timestamp());
        }
    };
    check_on(&[LSM], model);
}

/// Commits that wait for a flush, or flush themselves, all end, and none is lost.
#[test]
fn commits_that_wait_for_a_flush_all_end() {
    let model = || {
        let graph = graph(Topology::Undirected, KeyKind::Number);
        let put = |graph: &Graph, source: u64| {
            (10..13u64).for_each(|to| assert!(graph.put_edge(EDGE, source, to).is_ok()));
        };
        let writers = [1, 2].map(|source| {
            let graph = graph.clone();
            thread::spawn(move || put(&graph, source))
        });
        graph.ingest(EDGE, &[(3u64, 10u64), (3, 11), (3, 12)]).unwrap();
        let mut shown = 0;
        for _ in 0..2 {
            let snapshot = graph.snapshot().unwrap();
            let edges = (1..4).flat_map(|from| [10, 11, 12].map(|to| (from, to)));
            let found = edges.filter(|(from, to)| has(&snapshot, *from, *to)).count();
            assert!(found >= shown.max(3), "{found} after {shown}");
            shown = found;
        }
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        let report = graph.engine_report().unwrap().unwrap();
        assert!(report.totals().files.files > 0, "nothing was flushed");
        let last = graph.snapshot().unwrap();
        assert!((10..13u64).all(|to| last.neighbors(EDGE, to).unwrap().len() == 3));
    };
    check_on(&[EngineKind::Erased(&CROWDED)], model);
}
