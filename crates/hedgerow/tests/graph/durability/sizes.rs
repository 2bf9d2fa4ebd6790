//! A store takes about as much space as its content, however often it is opened.

use super::own_files;
use crate::oracle::{ENGINES, is_count, options};
use hedgerow::{
    AsOf, CommitTimestamp, Durability, EngineKind, Graph, KeyKind, LabelId, ReadGraph, Topology, WriteGraph,
};
use hedgerow_log::files::{FileSystem, OpenMode, RealFiles};
use hedgerow_testing::simulated::SimulatedFiles;
use std::os::unix::fs::MetadataExt as _;
use std::sync::Arc;

const SESSIONS: u64 = 20;

/// The end of a process with an open graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Close,
    Drop,
    Kill,
}

fn leave(files: &SimulatedFiles, graph: Graph, end: End) {
    match end {
        End::Close => graph.close().unwrap(),
        End::Drop => drop(graph),
        End::Kill => files.kill_process(),
    }
}

#[test]
fn a_store_that_is_opened_for_every_commit_stays_small() {
    for engine in ENGINES.into_iter().chain(own_files::ENGINES) {
        for (durability, end) in [
            (Durability::Sync, End::Close),
            (Durability::Buffered, End::Drop),
            (Durability::None, End::Close),
            (Durability::Sync, End::Kill),
        ] {
            let options = options(Topology::Directed, KeyKind::Number).engine(engine).threads(1).simulated();
            let options = options.durability(durability);
            let files = SimulatedFiles::new(1);
            leave(&files, options.create_on(Arc::new(files.clone())).unwrap(), end);
            for session in 0..SESSIONS {
                let graph = options.open_on(Arc::new(files.clone())).unwrap();
                graph.put_edge(LabelId::DEFAULT, session, 500).unwrap();
                leave(&files, graph, end);
            }
            let case = format!("{engine:?}, {durability:?}, {end:?}");
            let graph = options.open_on(Arc::new(files.clone())).unwrap();
            assert_eq!(graph.snapshot().unwrap().neighbors(LabelId::DEFAULT, 3).unwrap().len(), 1, "{case}");
            graph.close().unwrap();
            let names = files.list().unwrap();
            let length = |name: &String| files.open(name, OpenMode::Read).unwrap().length().unwrap();
            let bytes: u64 = names.iter().map(length).sum();
            assert!(names.len() <= 24 && bytes <= 16 << 10, "{case}: {bytes} bytes, {names:?}");
            if own_files::ENGINES.contains(&engine) {
                continue;
            }
            for last in [1, 7, 8, 9, SESSIONS] {
                let then = options.clone().as_of(AsOf::Commit(CommitTimestamp(last)));
                let snapshot = then.open_on(Arc::new(files.clone())).unwrap().snapshot().unwrap();
                assert!(is_count(engine, snapshot.edge_count(), last), "{case}");
            }
        }
    }
}

#[test]
fn a_store_on_disk_has_no_unused_blocks() {
    for engine in [EngineKind::Rapid, own_files::ENGINES[1]] {
        for closes in [true, false] {
            let folder = tempfile::tempdir().unwrap();
            let files = RealFiles::new(folder.path().join("store"));
            let options = options(Topology::Directed, KeyKind::Number).engine(engine).threads(1);
            drop(options.create_on(Arc::new(files.clone())).unwrap());
            for session in 0..9 {
                let graph = options.open_on(Arc::new(files.clone())).unwrap();
                graph.put_edge(LabelId::DEFAULT, session, 500).unwrap();
                if closes {
                    graph.close().unwrap();
                }
            }
            let metadata = |name: &String| std::fs::metadata(files.location().join(name)).unwrap();
            let blocks: u64 = files.list().unwrap().iter().map(|name| metadata(name).blocks()).sum();
            assert!(blocks * 512 <= 128 << 10, "{engine:?}: {blocks} blocks of 512 bytes");
        }
    }
}
