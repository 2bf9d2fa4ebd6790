//! The checkpoint from which a store is opened.

use crate::model::Graph;
use hedgerow_log::checkpoint::{WriteOptions, name_of, write};
use hedgerow_log::files::FileSystem;
use hedgerow_log::{CheckpointEntry, Log, LogOptions, StoreError, StoreFiles, StoreOptions};
use hedgerow_model::{CommitTimestamp, Topology};
use hedgerow_testing::simulated::SimulatedFiles;
use std::sync::Arc;

/// A store at timestamp 0, whose manifest names checkpoint 1, of a graph that `change` modifies.
fn store_with(change: impl FnOnce(&mut Graph)) -> SimulatedFiles {
    let files = SimulatedFiles::new(1);
    let mut graph = Graph::of_edges(Topology::Directed, [(1, 2), (1, 3)]);
    let options = StoreOptions {
        engine: "rapid".to_owned(),
        keys: graph.description.keys,
        topology: graph.description.topology,
        strict: false,
        catalog: graph.description.catalog.clone(),
    };
    let store = StoreFiles::create(Arc::new(files.clone()), options, graph.description.store).unwrap();
    let recovered = store.replay(CommitTimestamp::ZERO, |_, _| Ok::<(), StoreError>(())).unwrap();
    let log = Log::start(store, &recovered, LogOptions::default()).unwrap();
    graph.description.timestamp = CommitTimestamp::ZERO;
    change(&mut graph);
    let options = WriteOptions::default();
    let written = write(&files, &name_of(1), &graph.description, &graph, &options).unwrap();
    let entry = CheckpointEntry { number: 1, at: CommitTimestamp::ZERO, length: written.bytes };
    assert_eq!(log.install_checkpoint(entry).unwrap(), None);
    files
}

fn open(files: SimulatedFiles) -> Result<CommitTimestamp, StoreError> {
    let store = StoreFiles::open_read_only(Arc::new(files))?;
    Ok(store.open_checkpoint()?.expect("the manifest names one").description().timestamp)
}

#[test]
fn the_checkpoint_of_the_manifest_is_opened_and_no_other() {
    assert_eq!(open(store_with(|_| {})).unwrap(), CommitTimestamp::ZERO);
    let of_another_store = store_with(|graph| graph.description.store[3] ^= 1);
    assert!(matches!(open(of_another_store), Err(StoreError::Foreign { .. })));
    let of_another_time = store_with(|graph| graph.description.timestamp = CommitTimestamp(1));
    assert!(matches!(open(of_another_time), Err(StoreError::Foreign { .. })));
    let gone = store_with(|_| {});
    gone.remove(&name_of(1)).unwrap();
    let error = open(gone).unwrap_err();
    assert!(matches!(&error, StoreError::Missing { path } if path.ends_with(name_of(1))), "{error}");
}
