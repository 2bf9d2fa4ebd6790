//! Memory that changes need, and memory that snapshots retain.

use super::Pipeline;
use crate::fine_grained::row::VERSION_BYTES;
use crate::fine_grained::{ArtEntries, Entries, SortedEntries};
use hedgerow_model::{CapacityError, Engine, EngineError, Topology};
use hedgerow_testing::contract::put_valued;
use hedgerow_testing::oracle::Request;

#[test]
fn an_entry_needs_an_id_a_version_and_a_value() {
    let mut pipeline = Pipeline::<SortedEntries>::new(Topology::Directed, None);
    pipeline.commit(&[put_valued(0, 0..10, 1)], 0).unwrap();
    let limit = pipeline.engine.memory().total_bytes();
    let mut pipeline = Pipeline::<SortedEntries>::new(Topology::Directed, Some(limit));
    pipeline.commit(&[put_valued(0, 0..10, 1)], 0).unwrap();
    let error = pipeline.commit(&[put_valued(0, 0..1000, 1)], 0).unwrap_err();
    // The value has four bytes.
    assert!(
        matches!(error, EngineError::Capacity(CapacityError::Memory { needed, .. }) if needed == 990 * 24),
        "{error}"
    );
}

#[test]
fn planned_memory_matches_allocated_memory() {
    take_what_is_needed::<SortedEntries>();
    take_what_is_needed::<ArtEntries>();
}

fn take_what_is_needed<E: Entries>() {
    let commits = [
        vec![put_valued(0, 0..3, 1), Request::PutVertex { vertex: 9, property: Some(4) }],
        vec![put_valued(0, 3..5, 1), put_valued(2_000_000, [4, 5], 2)],
        vec![put_valued(0, 0..9, 2), Request::PutVertex { vertex: 9, property: Some(5) }],
    ];
    for (count, last) in commits.iter().enumerate() {
        let mut pipeline = Pipeline::<E>::new(Topology::Directed, None);
        commits[..count].iter().for_each(|requests| pipeline.commit(requests, 0).unwrap());
        pipeline.commit(last, 0).unwrap();
        let enough = pipeline.engine.memory().total_bytes();
        for (limit, fits) in [(enough, true), (enough - 1, false)] {
            let mut pipeline = Pipeline::<E>::new(Topology::Directed, Some(limit));
            let all_fit = commits[..=count]
                .iter()
                .fold(true, |all, requests| all & pipeline.commit(requests, 0).is_ok());
            assert_eq!(all_fit, fits, "commit {count}");
        }
    }
}

#[test]
fn a_snapshot_is_charged_with_what_only_it_keeps() {
    charge_a_snapshot::<SortedEntries>();
    charge_a_snapshot::<ArtEntries>();
}

fn charge_a_snapshot<E: Entries>() {
    let mut pipeline = Pipeline::<E>::new(Topology::Directed, None);
    pipeline.commit(&[put_valued(0, 0..100, 1)], 0).unwrap();
    pipeline.open();
    let at = pipeline.snapshots[0].token.at();
    for value in 2..5 {
        pipeline.commit(&[put_valued(0, 10..20, value)], 0).unwrap();
        // Each edge keeps one version for the snapshot, however often it changes.
        assert_eq!(pipeline.retained(), [(at, 10 * VERSION_BYTES)]);
    }
    assert_eq!(pipeline.engine.memory().retained_bytes, 10 * VERSION_BYTES);
    pipeline.close(0);
    assert_eq!(pipeline.reclaim(usize::MAX, 0).bytes, 10 * VERSION_BYTES);
    assert_eq!(pipeline.engine.memory().retained_bytes, 0);
}

#[test]
fn a_record_that_only_a_snapshot_sees_is_retained() {
    let mut pipeline = Pipeline::<SortedEntries>::new(Topology::Directed, None);
    pipeline.commit(&[Request::PutVertex { vertex: 1, property: Some(7) }], 0).unwrap();
    let record = pipeline.engine.memory().live_bytes;
    assert!(record > 0);
    pipeline.open();
    pipeline.commit(&[Request::DeleteVertex { vertex: 1 }], 0).unwrap();
    let used = pipeline.engine.memory();
    assert!(used.live_bytes == 0 && used.retained_bytes > record);
    pipeline.check(&[1]);
    pipeline.commit(&[Request::PutVertex { vertex: 1, property: Some(8) }], 0).unwrap();
    pipeline.check(&[1]);
    pipeline.close(0);
    assert_eq!(pipeline.reclaim(usize::MAX, 0).versions, 1);
    assert_eq!(pipeline.engine.memory().retained_bytes, 0);
    pipeline.check(&[1]);
}
