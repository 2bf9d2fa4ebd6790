//! Tests beyond the contract: the existence of files.

use super::{ReferenceEngine, ReferenceOptions};
use crate::Tested;
use crate::contract::put;
use crate::oracle::Oracle;
use crate::pipeline::{Pipeline, catalog};
use crate::simulated::SimulatedFiles;
use hedgerow_log::files::FileSystem;
use hedgerow_model::{Catalog, CommitTimestamp, Counts, Durable, Topology};
use hedgerow_sync::Arc;

struct TestedReference;

impl Tested for TestedReference {
    type Engine = ReferenceEngine;

    const UNIT_SIZE: u32 = 1;
    const DURABLE: fn(&Self::Engine) -> Option<&dyn Durable> = |engine| Some(engine);

    fn engine(topology: Topology, catalog: Catalog) -> ReferenceEngine {
        open(&SimulatedFiles::new(1), topology, catalog)
    }
}

fn open(files: &SimulatedFiles, topology: Topology, catalog: Catalog) -> ReferenceEngine {
    files.create_directory().unwrap();
    let options = ReferenceOptions { topology, catalog, ..ReferenceOptions::default() };
    ReferenceEngine::open(Arc::new(files.clone()), options).unwrap()
}

#[test]
fn merged_files_are_removed_when_no_snapshot_reads_them() {
    let files = SimulatedFiles::new(1);
    let engine = open(&files, Topology::Directed, catalog());
    let oracle = Oracle::new(Topology::Directed);
    let mut pipeline =
        Pipeline::<TestedReference>::around(engine, oracle, Counts::default(), CommitTimestamp::ZERO);
    for number in 0..4 {
        pipeline.commit(&[put(number, [1])], 0).unwrap();
        pipeline.flush().unwrap();
    }
    let sorted = || files.list().unwrap().into_iter().filter(|name| name.ends_with(".sorted")).count();
    assert_eq!(sorted(), 4);
    pipeline.open();
    pipeline.reclaim_all();
    assert_eq!(sorted(), 5, "the snapshot reads four files, later views one");
    pipeline.check(&[0, 1, 3]);
    pipeline.close(0);
    pipeline.reclaim_all();
    assert_eq!(sorted(), 1);
    pipeline.check(&[0, 1, 3]);
}
