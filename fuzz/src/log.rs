//! Targets of the log: arbitrary bytes as the body of a record, as a manifest, as a segment.

use hedgerow_encoding::{EdgeList, EdgeListWriter, list_of_record};
use hedgerow_log::files::{FileSystem, OpenMode};
use hedgerow_log::{
    Body, CommitRef, LoggedCommit, Manifest, SegmentEntry, StoreError, StoreFiles, StoreOptions, check,
    recover_to_last_valid,
};
use hedgerow_model::{Catalog, CommitTimestamp, KeyKind, Topology};
use hedgerow_testing::simulated::SimulatedFiles;
use std::path::Path;
use std::sync::Arc;

/// The store id in the seed segments.
pub const STORE: [u8; 16] = *b"the test's store";

/// Reads the body of a record. Returns true if it is a body in a directed graph.
pub fn read_record(bytes: &[u8]) -> bool {
    read_parallel(bytes);
    let topologies = [Topology::Undirected, Topology::DirectedWithReverse, Topology::Directed];
    let read = topologies.map(|topology| {
        let Ok(commit) = LoggedCommit::decode(bytes, topology) else { return false };
        assert!(commit.effects.is_sorted());
        let mut body = Body::default();
        commit.effects.records.iter().for_each(read_parallel);
        body.encode(&commit.to_log(), topology);
        let again = LoggedCommit::decode(body.as_bytes(), topology).expect("what was encoded is a body");
        // Compared as text, because NaN differs from itself.
        assert_eq!(format!("{again:?}"), format!("{commit:?}"));
        read_appended(bytes, topology, &commit);
        true
    });
    read[2]
}

/// Logs appended edges again, if the commit has any, and checks that the commit is unchanged.
fn read_appended(bytes: &[u8], topology: Topology, commit: &LoggedCommit) {
    let canonical = LoggedCommit::decode_canonical(bytes, topology).expect("it was decoded");
    let Some(mut edges) = canonical.appended.clone() else { return };
    let again = CommitRef { appended: Some(edges.to_append(true)), ..canonical.to_log() };
    let mut body = Body::default();
    body.encode(&again, topology);
    let again = LoggedCommit::decode(body.as_bytes(), topology).expect("what was encoded is a body");
    assert_eq!(format!("{again:?}"), format!("{commit:?}"));
}

/// Reads the bytes, and the list in a record, as parallel edges.
fn read_parallel(bytes: &[u8]) {
    for list in [Some(bytes), list_of_record(bytes).ok()].into_iter().flatten() {
        let edges: Vec<_> = EdgeList::new(list).map_while(Result::ok).collect();
        let mut again = EdgeListWriter::default();
        edges.iter().for_each(|(key, record)| again.push(*key, *record));
        let again = again.into_bytes();
        assert!(EdgeList::new(&again).map(|edge| edge.expect("what was written is a list")).eq(edges));
    }
}

/// Reads a manifest as it is, and with a repaired checksum and length. Returns true if one of the
/// two is a manifest.
pub fn read_manifest(bytes: &[u8]) -> bool {
    let mut mended = bytes.to_vec();
    if let Some(content) = mended.len().checked_sub(20) {
        mended[12..16].copy_from_slice(&(content as u32).to_le_bytes());
        let checksum = crc32c::crc32c(&mended[..16 + content]);
        mended[16 + content..].copy_from_slice(&checksum.to_le_bytes());
    }
    let read = [bytes, &mended].map(|bytes| {
        let Ok(manifest) = Manifest::decode(bytes, Path::new("MANIFEST")) else { return false };
        let again = Manifest::decode(&manifest.encode(), Path::new("MANIFEST"));
        assert_eq!(again.expect("what was encoded is a manifest"), manifest);
        true
    });
    read[0] || read[1]
}

/// Reads, checks and repairs a store whose only segment has these bytes. Returns true if the
/// segment was undamaged.
pub fn read_segment(bytes: &[u8]) -> bool {
    let files: Arc<dyn FileSystem> = Arc::new(SimulatedFiles::new(1));
    let manifest = Manifest {
        store: STORE,
        generation: 1,
        options: StoreOptions {
            engine: String::new(),
            keys: KeyKind::Number,
            topology: Topology::Undirected,
            strict: false,
            catalog: Catalog::default(),
        },
        oldest_readable: CommitTimestamp(0),
        oldest_wall_clock: 0,
        checkpoint: None,
        streams: Vec::new(),
        history: None,
        segments: vec![SegmentEntry { number: 1, length: 0, sealed: None }],
        next_segment: 2,
        durable: CommitTimestamp(0),
    };
    let write = |name, bytes: &[u8]| {
        let file = files.open(name, OpenMode::Create)?;
        file.write_all_at(bytes, 0)
    };
    files.create_directory().expect("memory can be written");
    write("MANIFEST", &manifest.encode()).expect("memory can be written");
    write("log-0000000001", bytes).expect("memory can be written");

    let replay = || -> Result<u64, StoreError> {
        let store = StoreFiles::open(Arc::clone(&files))?;
        let mut next = CommitTimestamp(1);
        let recovered = store.replay(CommitTimestamp(0), |record, _| {
            assert_eq!(record.at, next);
            next = next.next();
            Ok::<(), StoreError>(())
        })?;
        Ok(recovered.commits)
    };
    let replayed = replay();
    let report = check(&files, CommitTimestamp::ZERO).expect("memory can be read");
    let repair = recover_to_last_valid(Arc::clone(&files)).expect("a log can be repaired");
    assert_eq!(replay().expect("what was repaired can be read"), repair.last.0);
    match replayed {
        Ok(commits) => {
            assert_eq!(commits, report.commits);
            assert!(repair.cuts.is_empty());
            report.problems.is_empty()
        }
        Err(_) => {
            assert!(!report.problems.is_empty());
            false
        }
    }
}
