//! Labels added between flushes and compactions to a graph on `lsm`, whose options here cause them
//! all the time.

use super::own_files::LSM;
use crate::labels::add_beside_writers_and_readers;
use crate::oracle::{Oracle, commit, domain, labels, operation, without_labels};
use hedgerow::prelude::*;
use hedgerow::{CompactOptions, LabelId};
use hedgerow_model::Operation;
use hedgerow_testing::simulated::SimulatedFiles;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::sync::Arc;

/// Returns the label of an operation.
fn label_of(operation: &Operation) -> LabelId {
    match operation {
        Operation::PutEdge { label, .. }
        | Operation::DeleteEdge { label, .. }
        | Operation::ChangeRecord { label, .. } => *label,
        _ => LabelId(0),
    }
}

/// Random operations on the labels that exist so far; snapshots from before each addition stay
/// open.
#[test]
fn labels_come_between_flushes_and_compactions() {
    let topologies = [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected];
    for (seed, topology) in (1..).zip(topologies) {
        let (mut random, kind) = (StdRng::seed_from_u64(seed), KeyKind::Number);
        let (keys, labels) = (domain(kind, 9), labels());
        let options = without_labels(topology, kind).engine(EngineKind::Erased(&LSM)).threads(1).simulated();
        let made_with = options.label_schema(labels[0].clone());
        let files = SimulatedFiles::new(seed);
        let mut graph = made_with.create_on(Arc::new(files.clone())).unwrap();
        let (mut oracle, mut shown) = (Oracle::new(topology), Vec::new());
        for (known, label) in (1..).zip(&labels) {
            assert_eq!(graph.add_labels(std::slice::from_ref(label)).unwrap(), [LabelId(known - 1)]);
            shown.push((graph.snapshot().unwrap(), oracle.clone()));
            let mut operations = std::iter::repeat_with(|| operation(&keys, random.random()));
            for operation in operations.by_ref().filter(|one| label_of(one).0 < known).take(150) {
                oracle.apply(&operation);
                commit(&graph, &operation);
            }
            if known == 2 {
                // Some of the edges come back from the log.
                shown.clear();
                drop(graph);
                graph = made_with.open_on(Arc::new(files.clone())).unwrap();
            }
        }
        oracle.check(&graph.snapshot().unwrap(), &keys);
        // The earlier states have no edges of later labels.
        shown.iter().for_each(|(before, oracle)| oracle.check(before, &keys));
        let report = graph.engine_report().unwrap().unwrap();
        assert!(report.parts.len() > labels.len(), "each label must have been flushed: {report:?}");
        assert!(
            report.parts.iter().all(|part| part.levels.iter().any(|level| level.level > 0)),
            "{report:?}"
        );
        graph.compact(&CompactOptions::new()).unwrap();
        shown.iter().for_each(|(before, oracle)| oracle.check(before, &keys));
        assert_eq!(Oracle::of_snapshot(&graph.snapshot().unwrap()), oracle);
        shown.clear();
        drop(graph);
        let graph = made_with.open_on(Arc::new(files)).unwrap();
        assert_eq!(graph.catalog().labels(), labels);
        oracle.check(&graph.snapshot().unwrap(), &keys);
    }
}

#[test]
fn labels_are_added_beside_writers_readers_flushes_and_compactions() {
    let options = GraphOptions::new().engine(EngineKind::Erased(&LSM)).topology(Topology::Undirected);
    let graph = options.label::<()>("knows").create_on(Arc::new(SimulatedFiles::new(1))).unwrap();
    add_beside_writers_and_readers(&graph);
    let report = graph.engine_report().unwrap().unwrap();
    assert!(report.parts.len() > 1, "labels must have been flushed: {report:?}");
}
