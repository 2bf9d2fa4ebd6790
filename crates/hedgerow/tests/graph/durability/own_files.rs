//! Graphs on engines that keep edges in files of their own, with options that cause flushes and
//! merges all the time: `lsm`, and the reference engine.

use super::failures::fail_operations;
use super::power::lose_power_on;
use crate::engines::in_memory;
use crate::oracle::{Oracle, options};
use crate::updates::check_net_changes;
use hedgerow::{
    AsOf, CheckpointOptions, CommitTimestamp, CompactionLimits, EngineKind, ErrorKind, Graph, GraphOptions,
    KeyKind, LabelId, ManualClock, ReadGraph, Topology, WriteGraph,
};
use hedgerow_erased::{ErasedEngine, Make, NamedEngine};
use hedgerow_log::files::{FileSystem, OpenMode};
use hedgerow_lsm::{LsmEngine, LsmOptions};
use hedgerow_model::{Count, EngineOptions};
use hedgerow_testing::reference::{PREFIX, ReferenceEngine, ReferenceOptions};
use hedgerow_testing::sample::Sample;
use hedgerow_testing::simulated::{FaultKind, SimulatedFiles};
use rayon::prelude::*;
use std::sync::Arc;
use std::time::Duration;

static IN_FILES: NamedEngine = NamedEngine {
    name: "reference-files",
    make: Make::InFiles(|files, EngineOptions { topology, catalog }| {
        let options = ReferenceOptions { topology, catalog, recent_bytes: 1500, block_bytes: 200, files: 3 };
        let engine = Arc::new(ReferenceEngine::open(files, options)?);
        Ok(ErasedEngine::shared(&engine).with_durable(&engine))
    }),
};

pub static LSM: NamedEngine = NamedEngine {
    name: "lsm",
    make: Make::InFiles(|files, EngineOptions { topology, catalog }| {
        let options = LsmOptions {
            mem_graph_bytes: 5000,
            level_0_files: 2,
            level_1_bytes: 600,
            fan_out: 2,
            segment_bytes: 300,
            ..LsmOptions::new(topology, catalog)
        };
        let engine = Arc::new(LsmEngine::open(files, options)?);
        Ok(ErasedEngine::shared(&engine).with_durable(&engine))
    }),
};

/// Engines that cannot open each other's stores.
pub static ENGINES: [EngineKind; 2] = [EngineKind::Erased(&IN_FILES), EngineKind::Erased(&LSM)];

pub fn on_files(engine: EngineKind) -> GraphOptions {
    options(Topology::Undirected, KeyKind::Number).engine(engine).threads(1).simulated()
}

#[test]
fn a_graph_comes_back_from_the_engines_files_the_checkpoint_and_the_log() {
    for options in ENGINES.map(on_files) {
        let files = SimulatedFiles::new(7);
        let graph = options.clone().create_on(Arc::new(files.clone())).unwrap();
        let edges: Vec<(u64, u64)> = (0..300).map(|edge| (edge % 20, 100 + edge)).collect();
        graph.ingest(LabelId::DEFAULT, &edges).unwrap();
        let report = graph.checkpoint(&CheckpointOptions::new()).unwrap();
        assert_eq!((report.vertices, report.timestamp), (320, CommitTimestamp(1)));
        assert_eq!((report.edges.at_most(), report.edges.may_be(300)), (300, true), "as far as is known");
        // These keys are in no checkpoint, and only some of them in the engine's files.
        for edge in 0..100 {
            graph.put_edge(LabelId::DEFAULT, 500 + edge, edge % 20).unwrap();
        }
        assert_eq!(graph.delete_vertex(3).unwrap().changed, Some(true));
        let shown = Oracle::of_snapshot(&graph.snapshot().unwrap());
        graph.close().unwrap();
        drop(graph);
        let graph = options.clone().open_on(Arc::new(files.clone())).unwrap();
        assert_eq!(Oracle::of_snapshot(&graph.snapshot().unwrap()), shown);
        assert_eq!(graph.recovery().unwrap().last, CommitTimestamp(102));
        assert!(
            graph.contains_edge(LabelId::DEFAULT, 500, 0).unwrap()
                && !graph.contains_edge(LabelId::DEFAULT, 3, 103).unwrap()
        );
    }
}

#[test]
fn what_is_counted_later_has_bounds_and_a_deletion_says_what_it_did() {
    for options in ENGINES.map(on_files) {
        let graph = options.clone().create_on(Arc::new(SimulatedFiles::new(1))).unwrap();
        let first = graph.put_edge(LabelId::DEFAULT, 1, 2).unwrap();
        assert_eq!((first.changed, first.vertices_added), (Some(true), 2), "the vertices are new");
        let again = graph.put_edge(LabelId::DEFAULT, 1, 2).unwrap();
        assert_eq!((again.edges_added, again.edges_removed), (Count::between(0, 1), Count::exactly(0)));
        assert_eq!(again.changed, None, "nothing was looked up");
        let stream = graph.put_each(LabelId::DEFAULT, &[(1u64, 2u64), (1, 2)]).unwrap();
        assert_eq!((stream.changed, stream.committed), (Count::between(0, 2), 2));
        let counted = graph.snapshot().unwrap().edge_count_of(LabelId::DEFAULT);
        assert!(counted.may_be(1) && counted.exact().is_none());
        assert_eq!(graph.snapshot().unwrap().exact_edge_count_of(LabelId::DEFAULT).unwrap(), 1);
        assert_eq!(graph.delete_edge(LabelId::DEFAULT, 1, 2).unwrap().changed, Some(true));
        let last = graph.snapshot().unwrap().timestamp();
        assert_eq!(graph.delete_edge(LabelId::DEFAULT, 1, 2).unwrap().changed, Some(false));
        assert_eq!(graph.snapshot().unwrap().timestamp(), last, "nothing was committed");
        for end in [2, 3, 3] {
            graph.put_edge(LabelId::DEFAULT, 3, end).unwrap();
        }
        let deleted = graph.delete_vertex(3).unwrap();
        assert!(deleted.changed == Some(true) && deleted.edges_removed == 2, "{deleted:?}");
        assert!(graph.delete_vertex(1).unwrap().edges_removed == 0);
        assert!(graph.snapshot().unwrap().edge_count_of(LabelId::DEFAULT).may_be(0));
    }
}

#[test]
fn conflicts_are_judged_by_net_changes_also_beside_flushes() {
    for options in ENGINES.map(on_files) {
        let graph = options.topology(Topology::Directed).create_on(Arc::new(SimulatedFiles::new(1))).unwrap();
        check_net_changes(&graph);
    }
}

/// A reader that takes no lock sees the last flush, and still sees it after files are replaced.
#[test]
fn what_was_flushed_is_read_beside_the_writer() {
    for options in ENGINES.map(on_files) {
        let files = SimulatedFiles::new(3);
        let graph = options.clone().create_on(Arc::new(files.clone())).unwrap();
        let read = || options.clone().from_checkpoint().open_on(Arc::new(files.clone()));
        assert_eq!(read().unwrap_err().kind(), ErrorKind::NotFound, "nothing was flushed yet");
        graph.ingest(LabelId::DEFAULT, &(0..50u64).map(|edge| (edge % 7, edge)).collect::<Vec<_>>()).unwrap();
        graph.checkpoint(&CheckpointOptions::new()).unwrap();
        let flushed = Oracle::of_snapshot(&graph.snapshot().unwrap());
        graph.put_edge(LabelId::DEFAULT, 3, 1000).unwrap();
        let beside = read().unwrap();
        assert_eq!(Oracle::of_snapshot(&beside.snapshot().unwrap()), flushed);
        assert_eq!(beside.put_edge(LabelId::DEFAULT, 1, 2).unwrap_err().kind(), ErrorKind::ReadOnly);
        for round in 0..20u64 {
            graph.delete_vertex(round).unwrap();
            graph.put_each(LabelId::DEFAULT, &[(100 + round, 1u64), (101 + round, 2)]).unwrap();
            graph.checkpoint(&CheckpointOptions::new()).unwrap();
        }
        graph.reclaim().unwrap();
        assert_eq!(Oracle::of_snapshot(&beside.snapshot().unwrap()), flushed);
        let newest = Oracle::of_snapshot(&graph.snapshot().unwrap());
        assert_eq!(Oracle::of_snapshot(&read().unwrap().snapshot().unwrap()), newest);
    }
}

/// Returns the files of the engine.
fn in_engine_files(files: &SimulatedFiles) -> Vec<(String, Vec<u8>)> {
    let mut names = files.list().unwrap();
    names.retain(|name| name.starts_with(PREFIX));
    names.sort();
    let bytes = |name: &String| files.open(name, OpenMode::Read).unwrap().read_from(0).unwrap();
    names.iter().map(|name| (name.clone(), bytes(name))).collect()
}

#[test]
fn nothing_is_written_to_a_store_that_was_given_up() {
    for options in ENGINES.map(on_files) {
        let files = SimulatedFiles::new(1);
        let on = || Arc::new(files.clone());
        let first = options.clone().create_on(on()).unwrap();
        // Enough edges for a flush by the next commit, and for a merge.
        for edge in 0..200 {
            first.put_edge(LabelId::DEFAULT, edge, edge + 1).unwrap();
        }
        first.close().unwrap();
        let second = options.clone().open_on(on()).unwrap();
        second.put_edge(LabelId::DEFAULT, 900, 901).unwrap();
        second.checkpoint(&CheckpointOptions::new()).unwrap();
        let before = in_engine_files(&files);
        for edge in 0..50 {
            assert_eq!(
                first.put_edge(LabelId::DEFAULT, edge, 5000 + edge).unwrap_err().kind(),
                ErrorKind::Closed
            );
        }
        first.reclaim().unwrap();
        drop(first);
        assert!(in_engine_files(&files) == before);
        second.close().unwrap();
        drop(second);
        let reader = options.clone().read_only().open_on(on()).unwrap();
        let before = in_engine_files(&files);
        for edge in 0..50 {
            assert_eq!(
                reader.put_edge(LabelId::DEFAULT, edge, 5000 + edge).unwrap_err().kind(),
                ErrorKind::ReadOnly
            );
        }
        reader.reclaim().unwrap();
        assert!(
            in_engine_files(&files) == before && reader.contains_edge(LabelId::DEFAULT, 900, 901).unwrap()
        );
    }
}

#[test]
fn a_graph_on_files_goes_on_at_its_memory_limit() {
    static ROOMY: NamedEngine = NamedEngine {
        name: "reference-files",
        make: Make::InFiles(|files, EngineOptions { topology, catalog }| {
            let options = ReferenceOptions { topology, catalog, ..ReferenceOptions::default() };
            let engine = Arc::new(ReferenceEngine::open(files, options)?);
            Ok(ErasedEngine::shared(&engine).with_durable(&engine))
        }),
    };
    for engine in [EngineKind::Erased(&ROOMY), EngineKind::Lsm] {
        let options = on_files(engine).memory_limit(1 << 20);
        let graph = options.create_on(Arc::new(SimulatedFiles::new(1))).unwrap();
        for part in 0..40_u64 {
            let edges: Vec<(u64, u64)> =
                (0..500).map(|edge| (edge % 50, (part * 500 + edge) % 211)).collect();
            graph.ingest(LabelId::DEFAULT, &edges).unwrap();
        }
        assert!(graph.memory().live_bytes < 1 << 20);
    }
}

/// A stream of deletions does not read if the edges exist; a single deletion does, and reports it.
#[test]
fn deletions_of_a_stream_are_counted_later() {
    let graph = on_files(EngineKind::Lsm).create_on(Arc::new(SimulatedFiles::new(1))).unwrap();
    let edges: Vec<(u64, u64)> = (0..100).map(|edge| (edge % 7, edge)).collect();
    graph.ingest(LabelId::DEFAULT, &edges).unwrap();
    graph.flush().unwrap();
    assert_eq!(graph.delete_edge(LabelId::DEFAULT, 0, 0).unwrap().edges_removed, 1);
    let removed = graph.delete_each(LabelId::DEFAULT, &edges[1..]).unwrap().edges_removed;
    assert_eq!((removed.at_least(), removed.at_most()), (0, 99));
    assert!(edges.iter().all(|(from, to)| !graph.contains_edge(LabelId::DEFAULT, *from, *to).unwrap()));
}

#[test]
fn a_graph_goes_on_while_compactions_are_limited() {
    let limits = CompactionLimits { bytes_per_second: Some(4 << 20), time_share: 0.5 };
    let options = on_files(EngineKind::Lsm).memory_budget(200_000).compaction_limits(limits);
    let graph = options.create_on(Arc::new(SimulatedFiles::new(1))).unwrap();
    for part in 0..40_u64 {
        let edges: Vec<(u64, u64)> = (0..500).map(|edge| (edge % 50, part * 500 + edge)).collect();
        graph.ingest(LabelId::DEFAULT, &edges).unwrap();
    }
    let files = graph.engine_report().unwrap().unwrap();
    assert!(files.parts.iter().any(|part| part.levels.len() > 1), "nothing was compacted: {files:?}");
    assert!((0..20_000).all(|edge| graph.contains_edge(LabelId::DEFAULT, edge % 500 % 50, edge).unwrap()));
    for time_share in [0.0, f64::NAN, 1.5] {
        let options = on_files(EngineKind::Lsm).compaction_limits(CompactionLimits { time_share, ..limits });
        let refused = options.create_on(Arc::new(SimulatedFiles::new(1))).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidInput);
    }
    let in_memory = Graph::in_memory(GraphOptions::new().compaction_limits(limits));
    assert_eq!(in_memory.unwrap_err().kind(), ErrorKind::Unsupported);
}

/// Commits edges, so that the log has several segments and the engine flushes on its own.
fn fill_segments(options: &GraphOptions, files: &SimulatedFiles) -> Graph {
    let graph = options.clone().segment_bytes(2 << 10).create_on(Arc::new(files.clone())).unwrap();
    for round in 0..30 {
        for edge in 0..20 {
            graph.put_edge(LabelId::DEFAULT, 1_000_000 * round + edge, edge).unwrap();
        }
        if round % 4 == 3 {
            graph.delete_vertex(1_000_000 * (round - 1) + 5).unwrap();
        }
    }
    graph
}

#[test]
fn flushes_prune_the_log_and_the_files_have_the_keys() {
    for options in ENGINES.map(on_files) {
        let files = SimulatedFiles::new(3);
        let graph = fill_segments(&options, &files);
        let before = graph.store_info().unwrap();
        assert!(before.checkpoint.is_none() && before.segments < 10, "{before:?}");
        let shown = Oracle::of_snapshot(&graph.snapshot().unwrap());
        // The graph is not closed, so the last commits are only in the log.
        drop(graph);
        let graph = options.clone().open_on(Arc::new(files.clone())).unwrap();
        assert_eq!(Oracle::of_snapshot(&graph.snapshot().unwrap()), shown);
        let replayed = graph.recovery().unwrap().commits;
        assert!(replayed > 0 && replayed < 400, "{replayed} commits");
        // A key that is put again gets an id again, and a new vertex no id of another one.
        for key in [2_000_005, 9] {
            graph.put_edge(LabelId::DEFAULT, key, 7_777).unwrap();
        }
        let report = graph.checkpoint(&CheckpointOptions::new()).unwrap();
        assert!(report.written && report.number == 0 && report.bytes == 0, "{report:?}");
        let after = graph.store_info().unwrap();
        assert!(after.segments < 3 && after.oldest_readable == report.timestamp, "{after:?}");
        assert!(!graph.checkpoint(&CheckpointOptions::new()).unwrap().written);
        let shown = Oracle::of_snapshot(&graph.snapshot().unwrap());
        drop(graph);
        let graph = options.clone().read_only().open_on(Arc::new(files)).unwrap();
        assert_eq!(Oracle::of_snapshot(&graph.snapshot().unwrap()), shown);
        assert_eq!(graph.recovery().unwrap().commits, 0);
    }
}

#[test]
fn files_that_end_before_the_log_begins_are_damage() {
    for options in ENGINES.map(on_files) {
        let files = SimulatedFiles::new(1);
        drop(fill_segments(&options, &files));
        let lost = SimulatedFiles::new(1);
        lost.create_directory().unwrap();
        for (name, bytes) in in_engine_files(&files) {
            lost.open(&name, OpenMode::Create).unwrap().write_all_at(&bytes, 0).unwrap();
            files.remove(&name).unwrap();
        }
        let without_manifest = in_engine_files(&lost);
        let refused = options.clone().create_on(Arc::new(lost.clone())).unwrap_err();
        assert!(
            refused.kind() == ErrorKind::Storage && in_engine_files(&lost) == without_manifest,
            "{refused}"
        );
        let damaged = options.clone().open_on(Arc::new(files.clone())).unwrap_err();
        assert_eq!(damaged.kind(), ErrorKind::Storage);
        assert!(damaged.to_string().contains("commits up to 0 only"), "{damaged}");
    }
}

#[test]
fn files_of_another_store_are_refused() {
    for engine in ENGINES {
        let options = options(Topology::Undirected, KeyKind::Number).engine(engine).threads(1);
        let stores = [0, 1].map(|number| {
            let folder = tempfile::tempdir().unwrap();
            let graph = options.clone().create(folder.path()).unwrap();
            graph.put_edge(LabelId::DEFAULT, number, 2).unwrap();
            graph.checkpoint(&CheckpointOptions::new()).unwrap();
            graph.close().unwrap();
            folder
        });
        for file in std::fs::read_dir(stores[0].path()).unwrap() {
            let name = file.unwrap().file_name();
            if name.to_str().unwrap().starts_with(PREFIX) {
                std::fs::copy(stores[0].path().join(&name), stores[1].path().join(&name)).unwrap();
            }
        }
        let refused = options.clone().open(stores[1].path()).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Storage);
        assert!(refused.to_string().contains("belong to another store"), "{refused}");
        options.open(stores[0].path()).unwrap();
    }
}

#[test]
fn a_store_and_an_engine_with_files_belong_together() {
    for engine in ENGINES {
        let options = on_files(engine);
        let files = SimulatedFiles::new(1);
        let on = || Arc::new(files.clone());
        let graph = options.clone().create_on(on()).unwrap();
        graph.put_edge(LabelId::DEFAULT, 1, 2).unwrap();
        graph.checkpoint(&CheckpointOptions::new()).unwrap();
        drop(graph);
        assert_eq!(options.clone().create_on(on()).unwrap_err().kind(), ErrorKind::Exists);
        for other in in_memory() {
            let refused = options.clone().engine(other).open_on(on()).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::InvalidInput);
            assert!(refused.to_string().contains(&format!("is {engine}, not {other}")), "{refused}");
            let others = SimulatedFiles::new(1);
            drop(options.clone().engine(other).create_on(Arc::new(others.clone())).unwrap());
            let refused = options.clone().open_on(Arc::new(others)).unwrap_err();
            assert!(refused.to_string().contains(&format!("is {other}, not {engine}")), "{refused}");
        }
        match GraphOptions::new().open_on(on()) {
            Ok(opened) => assert!(engine == EngineKind::Erased(&LSM) && opened.contains_vertex(1).unwrap()),
            Err(refused) => assert_eq!(refused.kind(), ErrorKind::Unsupported, "engines of others are named"),
        }
        assert_eq!(Graph::in_memory(options.clone()).unwrap_err().kind(), ErrorKind::Unsupported);
    }
}

#[test]
fn past_states_are_there_from_the_last_flush_on() {
    for options in ENGINES.map(on_files) {
        let (files, clock) = (SimulatedFiles::new(1), ManualClock::default());
        clock.set(1_000);
        let on = || Arc::new(files.clone());
        let graph = options.clone().clock(&clock).create_on(on()).unwrap();
        let commit = |edge: u64| {
            clock.advance(Duration::from_micros(10));
            graph.put_edge(LabelId::DEFAULT, edge, edge + 1).unwrap();
        };
        commit(0);
        graph.checkpoint(&CheckpointOptions::new()).unwrap();
        // Some of these commits are flushed.
        (1..100).for_each(commit);
        let kept = graph.store_info().unwrap().oldest_readable;
        assert!(kept > CommitTimestamp(20) && kept < CommitTimestamp(100), "{kept:?}");
        graph.close().unwrap();
        drop(graph);
        let open_at = |state: AsOf| options.clone().clock(&clock).as_of(state).open_on(on());
        for (at, is_there) in [(1, false), (kept.0 - 1, false), (kept.0, true), (99, true)] {
            for state in [AsOf::Commit(CommitTimestamp(at)), AsOf::Time(1_000 + 10 * at)] {
                match open_at(state) {
                    Ok(graph) => {
                        assert!(is_there && graph.snapshot().unwrap().edge_count_of(LabelId(0)).may_be(at));
                    }
                    Err(error) => {
                        assert!(!is_there && error.kind() == ErrorKind::NotFound, "{state:?}: {error}");
                    }
                }
            }
        }
    }
}

#[test]
fn what_is_acknowledged_survives_a_loss_of_power() {
    let sample = Sample::of_run();
    for engine in ENGINES.chunks(1) {
        let lose = |seed| lose_power_on(engine, seed, 200, &sample).unwrap();
        let states: u64 = (0..3).into_par_iter().map(lose).sum();
        eprintln!("{engine:?}: {states} states after a loss of power");
        assert!(states > sample.part_of(6000), "{engine:?}: {states} states only");
    }
}

#[test]
fn failures_are_told_and_lose_nothing() {
    let cases: Vec<_> = FaultKind::ALL.into_iter().flat_map(|kind| [(kind, false), (kind, true)]).collect();
    let sample = Sample::of_run();
    for engine in ENGINES.chunks(1) {
        let fail = |(kind, sticky)| fail_operations(engine, 5, 20, kind, sticky, &sample).unwrap();
        let failures: u64 = cases.par_iter().copied().map(fail).sum();
        eprintln!("{engine:?}: {failures} failures");
        assert!(failures > sample.part_of(300), "{engine:?}: {failures} failures only");
    }
}
